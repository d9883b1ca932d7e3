"""shardax/_transform/refs/__init__.py - mutable references, in a system whose programs have none.

A reference holds a value that is read and written in place. In its home (outside of staging, or in
the trace that made it) it is an attribute. A function that is staged further in takes the values of
its references as further inputs, and gives their last values as further results:

    for i in range(3): ref[...] += x        stays as it is, where ref and the loop live together
    lax.fori_loop(0, 3, add, None)          carries ref's value beside its own carry

A function tells its references by meeting them. The first access to a value that is not at hand
makes a further input of the function that is being staged (`slot_of`). The stager (`jit`, `scan`,
`cond` ...) gives that the value (binding.py). If there can be no further input, it raises `Met`.
"""

from typing import Any

import numpy as np

from shardax import tree_util
from shardax._base.tracebacks import user_line
from shardax._core import api as _core
from shardax._transform.refs.slices import Slice, without_slices
from shardax._transform.refs.slots import Met, slot_of
from shardax.errors import UnexpectedTracerError


class AbstractRef:
    """The type of a reference: that of its value.

    Example:
      >>> shardax.typeof(shardax.new_ref(1.0)).shape
      ()
    """

    def __init__(self, inner_aval) -> None:
        self.inner_aval = inner_aval

    def __getattr__(self, name):
        if name.startswith("_") or name == "inner_aval":  # while it is copied
            raise AttributeError(name)
        return getattr(self.inner_aval, name)

    def __repr__(self):
        return f"Ref{{{self.inner_aval.str_short()}}}"

    def __eq__(self, other):
        return isinstance(other, AbstractRef) and self.inner_aval == other.inner_aval

    def __hash__(self):
        return hash((AbstractRef, self.inner_aval))


class _First:
    made = False


def references_exist():
    """True if a reference has ever been made."""
    return _First.made


def count_as_reference():
    """Says that there is something that staged functions may meet."""
    if not _First.made:
        _core.set_reference_signal(Met, Ref)
        _First.made = True


class Ref:
    """A mutable array reference, made by `new_ref`.

    `ref[...]` reads its value, `ref[i]` a part; `ref[...] = x` and `ref[i] = x` write, with values
    of the very shape and dtype. Functions that are staged may read and write references that they
    close over or are passed; they may not return them.

    Example:
      >>> ref = shardax.new_ref(jnp.zeros(3))
      >>> ref[1] = 5.0
      >>> ref[...]
      Array([0., 5., 0.], dtype=float32)
    """

    __slots__ = ("_value", "_home", "_level", "aval", "_freed", "_kind", "_origin", "_channel",
                 "_written", "_how", "__weakref__")  # fmt: skip
    is_reference = True  # typeof asks for it

    def __init__(self, value, origin=None, kind=None) -> None:
        self._value = value
        self._kind = kind
        self._origin = origin
        self._channel = None
        self._home = _core.staging_generation()
        self._level = _core.trace_depth()
        self.aval = AbstractRef(_core.typeof(value))
        self._freed = self._written = False
        self._how = None  # the operation that wrote last, as errors call it; None: none did

    shape, dtype, ndim, size = (
        property(lambda self, name=name: getattr(self.aval, name))
        for name in ("shape", "dtype", "ndim", "size")
    )
    sharding, format, committed, unsafe_buffer_pointer = (
        property(lambda self, name=name: getattr(self._read(), name))
        for name in ("sharding", "format", "committed", "unsafe_buffer_pointer")
    )

    # The present place of the value: (object, its level).
    def _place(self):
        if self._freed:
            raise ValueError(
                f"the mutable array reference of type {self.aval} was freed or frozen."
            )
        generation = _core.staging_generation()
        if generation == self._home:
            return self
        slot = slot_of(self, generation)
        if slot is not None:
            return slot
        if generation == 0:
            raise UnexpectedTracerError(
                f"the mutable array reference of type {self.aval} was made while a function was "
                "traced, and is used after that. Make it outside of the function, or return its "
                "value."
            )
        raise Met(self, generation)

    def _read(self):
        return self._place()._value

    # Its stand-in among arguments; the holder of its value in a function.
    passed = property(lambda self: self)
    may_repeat = False  # among the arguments of a call
    tells_writes = True  # `_how` says so
    _inside = _outside = staticmethod(lambda value: value)

    # The inputs and outputs of a call that is staged with the reference's value (binding.py).
    def held_types(self):
        leaves, tree = tree_util.tree_flatten(self._read())
        return [_core.typeof(leaf) for leaf in leaves], tree

    def _enter(self, operands):
        return self._read()

    def _leave(self, value, operands, out, how="set/swap"):
        if how is not None:  # a reference that was only read stays as it is
            self._write(value, how)
        return out

    def _write(self, value, what="set/swap"):
        place = self._place()
        if self._kind is not None:
            (value,) = _core.bind("stop_gradient", {}, [value])
        # Slices of a mapped function share a reference made outside of it, whatever they write.
        batched = _core.maps_above(place._level)
        if batched or _core.tracer_trace(value)[0] > place._level:
            how, where, remedy = (
                ("vmapped", "unbatched", "to the vmapped function")
                if batched
                else ("differentiated", "non-differentiated", "of the differentiated function")
            )
            raise Exception(
                f"performing {'an' if what == 'addupdate' else 'a'} {what} operation with "
                f"{'' if batched else 'a '}{how} value on "
                f"{'an' if batched else 'a'} {where} array reference of type {self.aval}. Move the "
                f"array reference to be an argument {remedy}?"
            )
        place._value, place._how = value, what
        self._written = True

    def __getitem__(self, index):
        return get(self, index)

    def __setitem__(self, index, value):
        swap(self, index, value)

    @property
    def at(self):
        """`ref.at[i]` is a reference to a part: `ref.at[i][j] = x` writes to `ref[i][j]`."""
        return _At(self)

    def addupdate(self, x, idx=...):
        """Adds to the value, or to a part."""
        addupdate(self, idx, x)

    def returned(self, what, path):
        """ValueError: `what` returned the reference, at this path of its result."""
        where = f" at output tree path result{tree_util.keystr(path)}" if path else ""
        origin = f"\n\nThe returned mutable array was {self._origin}." if self._origin else ""
        raise ValueError(
            f"function {what} returned a mutable array reference of type {self.aval}{where}, but "
            f"mutable array references cannot be returned.{origin}"
        )

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        return True

    def __repr__(self):
        generation = _core.staging_generation()
        if self._freed or generation != self._home or _core.is_tracer(self._value):
            return repr(self.aval)
        text = "Ref" + repr(self._value).removeprefix("Array")
        # Reading it is weakly typed as at first; a written value is shown as an array of its own.
        return text.replace(", weak_type=True", "") if self._written else text

    def __array__(self, *args, **kwargs):
        raise ValueError(
            f"a mutable array reference of type {self.aval} is no array: read it with ref[...]."
        )


class _At:
    def __init__(self, ref) -> None:
        self._ref = ref

    def __getitem__(self, index):
        return TransformedRef(self._ref, index)


class TransformedRef(Ref):
    """A reference to a part of another one's value: `ref.at[index]`."""

    __slots__ = ("ref", "_index")

    def __init__(self, ref, index) -> None:
        self.ref, self._index = ref, _checked_index(ref, index)
        self._kind, self._origin, self._freed, self._channel = None, ref._origin, False, None

    aval = property(lambda self: AbstractRef(_core.typeof(self._read())))

    _written = property(
        lambda self: self.ref._written, lambda self, to: setattr(self.ref, "_written", to)
    )

    def _read(self):
        return self.ref._read()[self._index]

    def _write(self, value, what="set/swap"):
        self.ref._write(self.ref._read().at[self._index].set(value), what)

    def get(self) -> Any:
        """The value."""
        return self[...]

    def set(self, value):
        """Writes the value."""
        self[...] = value

    def swap(self, value) -> Any:
        """Writes the value, and gives the one before."""
        return swap(self, ..., value)

    def __repr__(self):
        return f"TransformedRef({self.ref!r}, {self._index})"


def is_ref(x):
    """True if x is a reference."""
    return isinstance(x, Ref)


# ---- reading and writing ---------------------------------------------------------------------


def _checked_index(ref, index):
    items = index if isinstance(index, tuple) else (index,)
    if sum(item is not None and item is not Ellipsis for item in items) > ref.ndim:
        raise ValueError(
            f"`indices` must not be longer than `shape`: indices={items}, shape={ref.shape}"
        )
    for item, extent in zip(items, ref.shape):
        if item is Ellipsis:
            break
        plain = isinstance(item, (int, np.integer)) and not isinstance(item, bool)
        if plain and not -extent <= item < extent:
            raise ValueError(f"Out of bound indexer: idx={item}, dim={extent}.")
    if any(isinstance(item, Slice) for item in items):
        return without_slices(ref.shape, items)
    return index


def get(ref, idx=...):
    """The value of a reference, or the part that `idx` selects.

    Example:
      >>> shardax.ref.get(shardax.ref.new_ref(jnp.arange(3)), 1)
      Array(1, dtype=int32)
    """
    value = ref._read()
    return value if idx is Ellipsis else value[_checked_index(ref, idx)]


def swap(ref, idx, value, *, _name="set/swap"):
    """Writes the part that `idx` selects, and gives its former value.

    Args:
      value: an array of that part's shape, of the reference's dtype.

    Raises:
      ValueError: for another shape or dtype, or an index out of bounds.

    Example:
      >>> ref = shardax.ref.new_ref(jnp.arange(3))
      >>> shardax.ref.swap(ref, 1, 9), ref[...]
      (Array(1, dtype=int32), Array([0, 9, 2], dtype=int32))
    """
    old = get(ref, idx)
    value = _core.asarray(value)
    aval = _core.typeof(value)
    if aval.shape != old.shape:
        raise ValueError(
            f"Invalid shape for `swap`. Ref shape: {ref.shape}. Expected shape: {old.shape}. Value "
            f"shape: {aval.shape}."
        )
    if aval.dtype != ref.dtype:
        if not aval.weak_type:
            raise ValueError(
                f"Invalid dtype for `swap`. Ref dtype: {ref.dtype}. Value dtype: {aval.dtype}."
            )
        if np.dtype(aval.dtype).kind != np.dtype(ref.dtype).kind:
            raise ValueError(
                f"Invalid dtype for `swap`. Ref dtype: {ref.dtype}. Value dtype: {aval.dtype}."
            )
    value = _core.convert(value, ref.aval.inner_aval.update(shape=aval.shape))
    if idx is not Ellipsis:
        value = ref._read().at[_checked_index(ref, idx)].set(value)
    ref._write(value, _name)
    return old


def set(ref, idx, value):
    """Writes the part of a reference that `idx` selects.

    Example:
      >>> ref = shardax.new_ref(jnp.zeros(2))
      >>> shardax.ref.set(ref, 0, 3.0)
      >>> ref[...]
      Array([3., 0.], dtype=float32)
    """
    swap(ref, idx, value)


def addupdate(ref, idx, x):
    """Adds `x` to the part that `idx` selects.

    Example:
      >>> ref = shardax.ref.new_ref(jnp.zeros(2))
      >>> shardax.ref.addupdate(ref, 0, 3.0); ref[...]
      Array([3., 0.], dtype=float32)
    """
    written = ref._written
    swap(ref, idx, get(ref, idx) + x, _name="addupdate")
    ref._written = written or not _core.typeof(_core.asarray(x)).weak_type


def new_ref(init_val, *, memory_space=None, kind=None):
    """A mutable reference to an array.

    Args:
      init_val: its first value, an array, NumPy array or number; it is copied.
      memory_space: None; there is one memory.
      kind: "no_grad" or "no_grad_no_remat": writes are not differentiated.

    Raises:
      TypeError: where `init_val` is a reference.
      ValueError, NotImplementedError: for another kind or memory space.

    Example:
      >>> ref = shardax.new_ref(jnp.zeros(2))
      >>> ref[0] = 5.0
      >>> ref
      Ref([5., 0.], dtype=float32)
    """
    if memory_space is not None:
        raise NotImplementedError(f"new_ref: there is one memory; got {memory_space=}.")
    if is_ref(init_val):
        raise TypeError("new_ref: a mutable array reference cannot hold another one.")
    if kind not in (None, "no_grad", "no_grad_no_remat"):
        raise ValueError(
            f"new_ref: got kind={kind!r}; expected None, 'no_grad' or 'no_grad_no_remat'."
        )
    count_as_reference()
    origin = f"created on line {user_line()}" if _core.staging_generation() else None
    return Ref(_core.asarray(init_val), origin, kind)


def empty_ref(ty, memory_space=None):
    """A reference to zeros of the shape and dtype of `ty`; for `memory_space` see `new_ref`.

    Example:
      >>> ref = shardax.empty_ref(shardax.ShapeDtypeStruct((2,), "float32"))
      >>> ref[0] = 1.0
      >>> ref[...]
      Array([1., 0.], dtype=float32)
    """
    if not hasattr(ty, "dtype"):
        raise TypeError(
            f"Cannot interpret value of type {type(ty)} as an abstract array; it does not have a "
            "dtype attribute"
        )
    return new_ref(_core.zeros_of(_core.ShapedArray(ty.shape, ty.dtype)), memory_space=memory_space)


def freeze(ref):
    """The value of a reference, which may not be used any more.

    Example:
      >>> shardax.freeze(shardax.new_ref(1.0))
      Array(1., dtype=float32, weak_type=True)
    """
    value = ref._read()
    ref._freed = True
    return value


def free_ref(ref):
    """Marks a reference as not used any more.

    Example:
      >>> shardax.free_ref(shardax.new_ref(1.0))
    """
    freeze(ref)
