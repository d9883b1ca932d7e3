"""shardax/_transform/primitives.py - primitives that users make, and what is registered for them.

The core binds, stages, differentiates, batches and compiles such an op like its own
(cpp/callables/program/primitive.cpp). If it needs a rule it calls a function of this module, which
looks it up.
"""

import functools

import shardax._core as _bindings
from shardax._base.array_functions import moveaxis
from shardax._base.wrapped_functions import wrap_init
from shardax._core import api as _core
from shardax._transform.avals import shaped_type
from shardax._transform.callbacks import io_callback, pure_callback
from shardax._transform.jit import jit
from shardax._transform.pmap_vmap import vmap
from shardax._transform.python_traces import bind_with_trace, jit_params
from shardax._transform.tracing import make_jaxpr
from shardax._transform.zeros import (  # noqa: F401
    UndefinedPrimal,
    Zero,
    instantiate_zeros,
    zeros_like_aval,
)


class Registry(dict):
    """Rules by primitive: the user's, and for ops of the package `of_op(primitive)`, which looks at
    their records, or None."""

    def __init__(self, of_op):
        super().__init__()
        self._of_op = of_op

    def get(self, primitive, default=None):
        if super().__contains__(primitive):
            return super().__getitem__(primitive)
        own = None if primitive.is_users else self._of_op(primitive)
        return default if own is None else own

    def __contains__(self, primitive):
        return self.get(primitive) is not None

    def __missing__(self, primitive):
        rule = self.get(primitive)
        if rule is None:
            raise KeyError(primitive)
        return rule


def _jvp_of_op(primitive):
    if not _bindings.op_record(primitive.name)["derivative"]:
        return None

    def rule(primals, tangents, **params):
        moving = [i for i, t in enumerate(tangents) if type(t) is not Zero]

        def fun(*some):
            values = list(primals)
            for i, x in zip(moving, some):
                values[i] = x
            return primitive.bind(*values, **params)

        if not moving:
            out = fun()
            zeros = [Zero.from_primal_value(x) for x in results(primitive, out)]
            return out, zeros if primitive.multiple_results else zeros[0]
        return _core.jvp(fun, [primals[i] for i in moving], [tangents[i] for i in moving], False)

    return rule


def _transpose_of_op(primitive):
    if not _bindings.op_record(primitive.name)["transpose"]:
        return None

    def rule(cotangents, *args, **params):
        linear = [i for i, x in enumerate(args) if type(x) is UndefinedPrimal]

        def fun(*some):
            values = list(args)
            for i, x in zip(linear, some):
                values[i] = x
            return primitive.bind(*values, **params)

        pull = _core.linear_transpose(fun, tuple(args[i].aval for i in linear))
        given = cotangents if primitive.multiple_results else [cotangents]
        given = [instantiate_zeros(ct) for ct in given]
        found = pull(given if primitive.multiple_results else given[0])
        out = [None] * len(args)
        for i, ct in zip(linear, found):
            out[i] = ct
        return out

    return rule


def _batch_of_op(primitive):
    if not _bindings.op_record(primitive.name)["batch"]:
        return None

    def rule(values, dims, **params):
        mapped = vmap(functools.partial(primitive.bind, **params), in_axes=tuple(dims))
        out = mapped(*values)
        return out, [0] * len(out) if primitive.multiple_results else 0

    return rule


# The rules that users register.
jvp_rules, transpose_rules = Registry(_jvp_of_op), Registry(_transpose_of_op)
batching_rules = Registry(_batch_of_op)
axis_batching_rules, lowering_rules = {}, {}
# For ops of values that are no arrays (hijax/slots.py): user_values(**params).
user_values_rules = {}


class Primitive(_core.PrimitiveBase):
    """An op with rules of its own.

    `Primitive("name")` makes one, for the life of the process. Its implementation is given by
    `def_impl`, or by the function of `mlir.lower_fun`; types by `def_abstract_eval`; derivatives
    and batching by the registries of `shardax.interpreters`. It nests in jit, grad, vmap, pmap,
    scan, cond and checkpoint like any other op.

    Example:
      >>> double_p = shardax.extend.core.Primitive("double")
      >>> _ = double_p.def_impl(lambda x: 2 * x)
      >>> _ = double_p.def_abstract_eval(lambda x: x)
      >>> shardax.jit(double_p.bind)(3.0)
      Array(6., dtype=float32, weak_type=True)
    """

    call_primitive = False
    map_primitive = False
    ref_primitive = False
    ref_allocating = False
    skip_canonicalization = False
    _abstract = None
    _effectful = False

    def __init__(self, name, *, existing=False):
        super().__init__(name, existing)
        self._keep()
        several = type(self).multiple_results
        if isinstance(several, bool):  # an attribute of a subclass, which hides the core's
            _core.PrimitiveBase.multiple_results.__set__(self, several)

    def bind(self, *args, **params):
        """The op on values; `params` are any Python objects."""
        return self._bind(*args, **params)

    def bind_with_trace(self, trace, args, avals, params=None):
        """The op on values, handled by that trace. `avals` may be left out: they are the values'
        types."""
        return bind_with_trace(self, trace, args, avals if params is None else params)

    def impl(self, *args, **params):
        """The op on arrays, where `def_impl` has given nothing else."""
        if self in lowering_rules:
            return apply_primitive(self, *args, **params)
        raise NotImplementedError(f"Evaluation rule for '{self}' not implemented")

    def abstract_eval(self, *avals, **params):
        """The types of the results, and the effects."""
        if self._abstract is None:
            raise NotImplementedError(f"Abstract evaluation for '{self}' not implemented")
        out = self._abstract(*avals, **params)
        return out if self._effectful else (out, frozenset())

    def def_impl(self, impl):
        """`impl(*arrays, **params)` computes the op on arrays."""
        self.impl = impl
        return impl

    def def_abstract_eval(self, abstract_eval):
        """`abstract_eval(*avals, **params)` gives the type of the result, or the list of them."""
        self._abstract, self._effectful = abstract_eval, False
        return abstract_eval

    def def_effectful_abstract_eval(self, effectful_abstract_eval):
        """The same, with a set of effects: (types, effects). With any, the op always runs."""
        self._abstract, self._effectful = effectful_abstract_eval, True
        return effectful_abstract_eval

    def_effectful_abstract_eval2 = def_effectful_abstract_eval

    def def_custom_bind(self, bind):
        """`bind(*args, **params)` defines the effect of binding."""
        self.bind = bind
        return bind

    def get_bind_params(self, params):
        """The parameters of an equation as those of `bind`."""
        return dict(params)


class CallPrimitive(Primitive):
    """A primitive that calls a function of flat values.

    `bind(*args, subfuns=(fun,))` or `bind(fun, *args)` calls a WrappedFun, and
    `bind(*args, call_jaxpr=program)` a program. Programs hold the call as one of a jitted function.

    Example:
      >>> from shardax.extend import linear_util
      >>> call_p = shardax.core.CallPrimitive("my_call")
      >>> double = linear_util.wrap_init(lambda x: [2 * x])
      >>> call_p.bind(double, 3.0)
      [Array(6., dtype=float32, weak_type=True)]
    """

    multiple_results = True
    call_primitive = True

    def bind(self, *args, subfuns=(), call_jaxpr=None, **params):
        if call_jaxpr is not None:
            subfuns = (_function_of({"call_jaxpr": call_jaxpr}),)
        elif not subfuns:
            subfuns, args = args[:1], args[1:]

        def called(*args):
            return list(subfuns[0].call_wrapped(*args))

        called.__name__ = params.get("name", self.name)
        return jit(called)(*args)


@functools.cache
def of_op(name):
    """The primitive of an op of the package."""
    primitive = Primitive(name, existing=True)
    if name == "jit":
        primitive.bind = lambda *args, **params: primitive._bind(*args, **jit_params(params))
    elif name in ("custom_jvp_call", "custom_vjp_call"):
        # Interpreters are told the function by itself; the params have it in any case.
        primitive.bind = lambda *args, subfuns=(), **params: primitive._bind(*args, **params)
        primitive.get_bind_params = lambda params: {**params, "subfuns": (_function_of(params),)}
    return primitive


def _function_of(params):
    program = params["call_jaxpr"]
    return wrap_init(lambda *args: _core.evaluate(program, list(map(_core.asarray, args)), []))


# Attributes whose op goes by another name.
_OTHER_NAMES = {
    "add_jaxvals_p": "add",
    "linear_solve_p": "custom_linear_solve",
    "pjit_p": "jit",
    "remat_p": "remat2",
}


def by_attribute(module, attribute):
    """The primitive that a module of JAX has under this name (`exp_p`), or AttributeError."""
    name = _OTHER_NAMES.get(attribute, attribute.removesuffix("_p"))
    if attribute.startswith("scatter_"):
        name = name.replace("_", "-")
    if attribute.endswith("_p") and name in _op_names():
        return of_op(name)
    raise AttributeError(f"module {module!r} has no attribute {attribute!r}")


@functools.cache
def _op_names():
    return frozenset(_bindings.op_names())


def apply_primitive(primitive, *args, **params):
    """The primitive on arrays, compiled: the `def_impl` of primitives that have only a lowering."""
    return jit(functools.partial(primitive.bind, **params))(*args)


def _has_own_impl(primitive):
    impl = vars(primitive).get("impl")
    if impl is None and type(primitive).impl is not Primitive.impl:
        return True
    return impl is not None and getattr(impl, "func", impl) is not apply_primitive


def results(primitive, out):
    """The outputs of a rule for the results, as a list."""
    return list(out) if primitive.multiple_results else [out]


def _zero_or(value, aval):
    return Zero(aval) if value is None else value


def _none_or(value):
    return None if value is None or type(value) is Zero else value


# ---- what the core asks ---------------------------------------------------------------------


def abstract(primitive, params, avals):
    """The types of the results, and the name of an effect or None."""
    out, effects = primitive.abstract_eval(*avals, **params)
    if isinstance(out, (list, tuple)) != primitive.multiple_results:
        raise ValueError(
            f"{primitive}.abstract_eval() method should return a tuple or a list of types if "
            f"multiple_results, else one; it is {primitive.multiple_results}, and gave {out}."
        )
    types = [shaped_type(aval) for aval in results(primitive, out)]
    return types, ", ".join(sorted(map(str, effects))) or None


def run(primitive, params, values):
    """The op on arrays."""
    return results(primitive, primitive.impl(*values, **params))


def jvp(primitive, params, primals, tangents):
    """Results and their tangents, None where zero."""
    rule = jvp_rules.get(primitive)
    if rule is None:
        raise NotImplementedError(f"Differentiation rule for '{primitive}' not implemented")
    given = [Zero.from_primal_value(x) if t is None else t for x, t in zip(primals, tangents)]
    out, moved = rule(tuple(primals), tuple(given), **params)
    return results(primitive, out), [_none_or(t) for t in results(primitive, moved)]


def transpose(primitive, params, cotangents, operands, types, result_types):
    """A cotangent for each operand, None where zero or not linear."""
    rule = transpose_rules.get(primitive)
    if rule is None:
        raise NotImplementedError(
            f"Transpose rule (for reverse-mode differentiation) for '{primitive}' not implemented"
        )
    given = [_zero_or(ct, aval) for ct, aval in zip(cotangents, result_types)]
    args = [UndefinedPrimal(aval) if x is None else x for x, aval in zip(operands, types)]
    out = rule(given if primitive.multiple_results else given[0], *args, **params)
    if type(out) is Zero or out is None:
        out = [None] * len(operands)
    out = [_none_or(ct) for ct in out]
    return [ct if x is None else None for ct, x in zip(out, operands)]


class AxisData:
    """The axis of a batch, as rules of `fancy_primitive_batchers` take it."""

    def __init__(self, name, size):
        self.name, self.size = name, size
        self.spmd_name = self.explicit_mesh_axis = None


def batch(primitive, params, values, batched, size, axis_name):
    """Results with the batch as their leading dimension, and which of them have it."""
    dims = tuple(0 if flag else None for flag in batched)
    if primitive in axis_batching_rules:
        rule = functools.partial(axis_batching_rules[primitive], AxisData(axis_name, size))
    else:
        rule = batching_rules.get(primitive)
    if rule is None:
        raise NotImplementedError(f"Batching rule for '{primitive}' not implemented")
    out, dims = rule(tuple(values), dims, **params)
    out, dims = results(primitive, out), results(primitive, dims)
    moved = [x if d is None or d == 0 else moveaxis(x, d, 0) for x, d in zip(out, dims)]
    return moved, [d is not None for d in dims]


class Lowered:
    """The form that `mlir.lower_fun` gives a function: it stands for the op in compiled
    programs."""

    def __init__(self, fun, multiple_results):
        self.fun, self.multiple_results = fun, multiple_results


def lower(primitive, params, avals):
    """The program that the op stands for: its lowering, else a call of its impl."""
    rule = lowering_rules.get(primitive)
    if isinstance(rule, Lowered):
        fun = functools.partial(rule.fun, **params)
    elif _has_own_impl(primitive):
        types, effects = abstract(primitive, params, avals)
        impl = functools.partial(run, primitive, params)
        call = functools.partial(io_callback, ordered=True) if effects else pure_callback

        def fun(*values):
            return call(lambda *arrays: impl(arrays), types, *values)
    else:
        raise NotImplementedError(
            f"MLIR translation rule for primitive '{primitive}' not found for platform cpu. "
            "Register one with mlir.register_lowering(primitive, mlir.lower_fun(function)), or "
            "give the primitive an implementation with def_impl."
        )
    return make_jaxpr(fun)(*avals)


def show(params):
    """The parameters as programs print them."""
    return [f"{name}={value}" for name, value in sorted(params.items())]


def user_values(primitive, params):
    """The operands and results that are values other than arrays: two lists of (number of arrays,
    the type as programs print it, "" for an array); None where all are arrays."""
    rule = user_values_rules.get(primitive)
    return None if rule is None else rule(**params)
