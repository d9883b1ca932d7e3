"""shardax/_transform/hijax/types.py - types of values that are no arrays, in programs too.

Programs hold arrays only. There, a value of a `HiType` is its lowered arrays. Calls open it (the
pytree registry, in the core), and a function that is traced gets a `HiTracer` of them. The type of
its tangents may differ from that of its arrays' tangents (a quantized array whose tangents are real
numbers). Further arrays then go beside them, its *carriers*: they are zero, and their tangents are
those of the value.
"""

import types

import numpy as np

import shardax._core as _bindings
from shardax._core import api as _core
from shardax._core import pytree as _pytree
from shardax._transform.avals import AbstractValue, ShapedArray, mapped_aval, unmapped_aval
from shardax._transform.jit import registered_types
from shardax._transform.primitives import (
    Lowered,
    Primitive,
    batching_rules,
    jvp_rules,
    lowering_rules,
    transpose_rules,
)
from shardax._transform.refs import Ref, count_as_reference
from shardax._transform.refs.slots import Met
from shardax._transform.zeros import Zero, zeros_like_aval


class aval_method:
    """A method that a type gives to its values.

    Example:
      >>> class Pair(HiType):
      ...     first = aval_method(lambda pair: pair_first_p.bind(pair))
    """

    def __init__(self, fun):
        self.fun = fun


class aval_property:
    """A property that a type gives to its values."""

    def __init__(self, fget):
        self.fget = fget


def _flatten(value):
    if isinstance(value, _Type):
        return [*lo_types(value), *carrier_types(value)], value
    aval = value._aval if isinstance(value, HiTracer) else typeof_hi(value)
    if not is_hi(aval):
        count_as_reference()
        raise Met(None, _core.staging_generation())
    return lowered(aval, value), aval


def _unflatten(aval, arrays):
    """The value; a type where types stand for the arrays."""
    lows = arrays[: len(lo_types(aval))]
    if not all(hasattr(x, "shape") and hasattr(x, "dtype") for x in lows):
        return aval.raise_val(*lows)
    given = [_core.typeof(x) for x in lows]
    if any(a.shape != b.shape for a, b in zip(given, lo_types(aval))):
        aval = _retyped(aval, given)
    there = all(isinstance(x, (_bindings.Array, np.ndarray)) for x in lows)
    return raised(aval, list(arrays)) if there else aval


class _Type(AbstractValue):
    is_high = True

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        _pytree.register_node(cls, _flatten, _unflatten, calls_only=True)

    def str_short(self, short_dtypes=False, **_):
        """The type as programs print it.

        `short_dtypes` has no effect: the package does without what it steers in JAX.
        """
        return repr(self)

    def normalize(self):
        """The type as it is compared: itself."""
        return self

    def _refuse(self, method):
        raise NotImplementedError(f"{type(self).__name__} must define {method}.")

    def to_tangent_aval(self):
        """The type of tangents."""
        self._refuse("to_tangent_aval")

    def to_ct_aval(self):
        """The type of cotangents."""
        return self.to_tangent_aval()


class HiType(_Type):
    """A type of values that are no arrays.

    A subclass has __eq__ and __hash__. It defines `lo_ty()`, the list of the types of the arrays
    that a value consists of, `lower_val(value)`, these arrays, and `raise_val(*arrays)`, the value.
    Derivatives need `to_tangent_aval()`. `register_hitype(cls, type_of)` says of which class the
    values are.
    """

    has_qdd = False

    def lo_ty(self):
        """The types of the arrays that a value consists of."""
        self._refuse("lo_ty")

    def lower_val(self, hi_val):
        """The arrays that a value consists of."""
        self._refuse("lower_val")

    def raise_val(self, *lo_vals):
        """The value that consists of these arrays."""
        self._refuse("raise_val")

    def vspace_zero(self):
        """The zero, for types of tangents: by default that of zero arrays."""
        return self.raise_val(*map(zeros_like_aval, self.lo_ty()))

    def vspace_add(self, x, y):
        """The sum, for types of tangents: by default that of the arrays."""
        both = zip(lowered(self, x), lowered(self, y))
        return raised(self, [_core.bind("add", {}, [a, b])[0] for a, b in both])

    def dec_rank(self, size, spec):
        """The type of the values along a mapped axis."""
        self._refuse("dec_rank")

    def inc_rank(self, size, spec):
        """The type of `size` such values, stacked."""
        self._refuse("inc_rank")

    def leading_axis_spec(self):
        """The MappingSpec of the values that lax.scan maps over."""
        self._refuse("leading_axis_spec")

    def shard(self, mesh, manual_axes, check_vma, spec):
        """The type of a device's part in shard_map."""
        self._refuse("shard")

    def unshard(self, mesh, check_vma, spec):
        """The reverse of `shard`."""
        self._refuse("unshard")


class MutableHiType(_Type):
    """A type of values that change. Part of the type may change with them (`qdd`).

    A subclass defines `lo_ty_qdd(qdd)`, `read_loval(qdd, value)`, `new_from_loval(qdd, *arrays)`
    and `update_from_loval(qdd, value, *arrays)`; values have a method `cur_qdd()`.
    """

    has_qdd = True

    def lo_ty_qdd(self, state, /):
        """The types of the arrays that a value consists of."""
        self._refuse("lo_ty_qdd")

    def read_loval(self, state, val, /):
        """The arrays that a value consists of."""
        self._refuse("read_loval")

    def new_from_loval(self, state, /, *vals):
        """A value that consists of these arrays."""
        self._refuse("new_from_loval")

    def update_from_loval(self, state, val, /, *lo_vals):
        """Makes the value consist of these arrays."""
        self._refuse("update_from_loval")


# ---- between values and arrays --------------------------------------------------------------


def is_hi(aval):
    """True if a type is a HiType."""
    return isinstance(aval, HiType)


def lo_types(aval):
    """The types of the arrays that a value consists of."""
    return list(aval.lo_ty()) if is_hi(aval) else [aval]


def tangent_aval(aval):
    """The type of tangents, or None where there is none."""
    try:
        return aval.to_tangent_aval()
    except (NotImplementedError, AttributeError, AssertionError):
        return None


def _real(aval):
    real = np.issubdtype(aval.dtype, np.inexact) or aval.dtype.kind == "V"
    return aval if real else ShapedArray(aval.shape, np.float32)


def carrier_types(aval):
    """The types of the carriers, which go beside the arrays to carry tangents."""
    if not is_hi(aval):
        return []
    tangent = tangent_aval(aval)
    if tangent is None:
        return []
    have = [lo.to_tangent_aval() for lo in lo_types(aval)]
    want = lo_types(tangent)
    same = len(have) == len(want) and all(
        a.shape == b.shape and a.dtype == b.dtype for a, b in zip(have, want)
    )
    return [] if same else [_real(lo) for lo in want]


def lowered(aval, value):
    """The arrays of a value, and its carriers."""
    if not is_hi(aval):
        return [_core.asarray(value)]
    if isinstance(value, HiTracer):
        return [*value._lows, *value._carriers]
    lows = [x if isinstance(x, Ref) else _core.asarray(x) for x in aval.lower_val(value)]
    return lows + [zeros_like_aval(t) for t in carrier_types(aval)]


def raised(aval, arrays):
    """The reverse: the value, or a tracer of it."""
    if not is_hi(aval):
        return arrays[0]
    count = len(lo_types(aval))
    lows, carriers = arrays[:count], arrays[count:]
    if any(_core.is_tracer(x) for x in arrays):
        return HiTracer(aval, lows, carriers)
    return aval.raise_val(*lows)


def in_arrays(aval, arrays):
    """The value itself, also of tracers."""
    return aval.raise_val(*arrays[: len(lo_types(aval))]) if is_hi(aval) else arrays[0]


class HiTracer(_bindings.Tracer):
    """A value of a HiType in a function that is traced."""

    def __init__(self, aval, lows, carriers=()):
        self._aval, self._lows, self._carriers = aval, tuple(lows), tuple(carriers)

    is_reference = True  # typeof asks for it
    aval = property(lambda self: self._aval)

    def __getattribute__(self, name):
        if name.startswith("_") or name in ("aval", "is_reference"):
            return object.__getattribute__(self, name)
        try:
            found = getattr(self._aval, name)
        except AttributeError:
            kind = type(next(filter(_core.is_tracer, self._lows + self._carriers), self)).__name__
            raise AttributeError(f"{kind} has no attribute {name}") from None
        if isinstance(found, aval_property):
            return found.fget(self)
        if isinstance(found, aval_method):
            return types.MethodType(found.fun, self)
        return found

    def __repr__(self):
        return f"Traced<{self._aval.str_short()}>"

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)


def _retyped(aval, lows):
    """The type of a value with arrays of other shapes, as the type of an instance of such a
    value."""
    value = aval.raise_val(*map(zeros_like_aval, lows))
    return typeof_hi(value)


def typeof_hi(value):
    """The type of a value of a registered class."""
    for cls in type(value).__mro__:
        if cls in registered_types:
            return registered_types[cls](value)
    raise TypeError(f"{value!r} of type {type(value)} is not a value of a registered HiType.")


def register_hitype(val_cls, typeof_fn):
    """Says that instances of `val_cls` are values of the type `typeof_fn(value)`.

    Example:
      >>> register_hitype(QArray, lambda q: QArrayTy(q.arr.shape))
    """
    known = val_cls in registered_types
    registered_types[val_cls] = typeof_fn
    if not known:
        _pytree.register_node(val_cls, _flatten, _unflatten, calls_only=True)


_pytree.register_node(HiTracer, _flatten, _unflatten, calls_only=True)

# ---- tangents -------------------------------------------------------------------------------


# Zero; but its cotangent goes to its operand.
carried_p = Primitive("hi_carrier")
carried_p.def_impl(lambda x: zeros_like_aval(_core.typeof(x)))
carried_p.def_abstract_eval(lambda x: x)
lowering_rules[carried_p] = Lowered(carried_p.impl, False)
jvp_rules[carried_p] = lambda primals, tangents: (carried_p.bind(*primals), tangents[0])
transpose_rules[carried_p] = lambda ct, x: [ct]
batching_rules[carried_p] = lambda values, dims: (carried_p.bind(*values), dims[0])


def tangent_value(aval, tangents):
    """The tangent of a value, given those of its arrays and carriers."""
    tangent = tangent_aval(aval)
    count = len(lo_types(aval))
    if is_hi(aval) and len(tangents) > count:
        tangents = tangents[count:]
        if all(type(t) is Zero for t in tangents):
            return Zero(tangent)
        given = [zeros_like_aval(t.aval) if type(t) is Zero else t for t in tangents]
        lows = [
            t if t.dtype == lo.dtype else _core.convert(t, lo)
            for t, lo in zip(given, lo_types(tangent))
        ]
        if not is_hi(tangent):
            return lows[0]
        carriers = [carried_p.bind(t) for t in given] if carrier_types(tangent) else []
        return raised(tangent, [*lows, *carriers])
    if all(type(t) is Zero for t in tangents):
        return Zero(tangent)
    given = [zeros_like_aval(t.aval) if type(t) is Zero else t for t in tangents]
    return raised(tangent, given) if is_hi(tangent) else given[0]


def tangent_arrays(aval, value):
    """The reverse: the tangents of a value's arrays and carriers, None where zero."""
    lows, carriers = lo_types(aval), carrier_types(aval)
    if value is None or type(value) is Zero:
        return [None] * (len(lows) + len(carriers))
    tangent = tangent_aval(aval)
    given = lowered(tangent, value)
    if not carriers:
        return given
    count, out = len(carriers), [None] * len(lows)
    for i, want in enumerate(carriers):
        t = given[i]
        if t.dtype != want.dtype:
            t = _core.convert(t, want)
        if len(given) > count:  # their gradients go to the carriers of the tangent
            t = _core.bind("add", {}, [t, given[count + i]])[0]
        out.append(t)
    return out


# ---- what types of arrays have of a HiType's methods ------------------------------------------


def _add(self, x, y):
    return _core.bind("add", {}, [x, y])[0]


ShapedArray.lo_ty = lambda self: [self]
ShapedArray.lower_val = lambda self, value: [value]
ShapedArray.raise_val = lambda self, value: value
ShapedArray.vspace_zero = zeros_like_aval
ShapedArray.vspace_add = _add
ShapedArray.dec_rank = lambda self, size, spec: mapped_aval(size, spec, self)
ShapedArray.inc_rank = lambda self, size, spec: unmapped_aval(size, spec, self)
ShapedArray.leading_axis_spec = lambda self: 0
