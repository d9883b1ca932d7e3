"""python/shardax/_stages.py - a jitted function in steps: traced, lowered, compiled; and abstract
shapes.

Also what C++ asks of Python on rare paths: zeros of dtype float0.
"""

import contextlib
import dataclasses

import numpy as np

from shardax import tree_util
from shardax._core import api as _core

float0 = np.dtype([("float0", np.void, 0)])


def float0_zeros(shape):
    """The cotangent of integers: an array without data."""
    return np.zeros(shape, float0)


def dtype_name(x):
    """'float0' for arrays of that dtype, else the name of x's dtype, or ''."""
    dtype = getattr(x, "dtype", None)
    return "float0" if dtype == float0 else str(dtype or "")


class ShapeDtypeStruct:
    """The shape and dtype of an array, without its elements: for eval_shape and lower."""

    __slots__ = ("shape", "dtype", "sharding", "weak_type", "vma")

    def __init__(self, shape, dtype, *, sharding=None, weak_type=False, vma=None):
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be specified.")
        self.shape = tuple(shape)
        self.dtype = _core.ShapedArray(self.shape, dtype).dtype
        self.sharding = sharding
        self.weak_type = weak_type
        self.vma = vma

    ndim = property(lambda self: len(self.shape))

    @classmethod
    def like(cls, array):
        """The shape and dtype of an array."""
        aval = _core.typeof(array)
        return cls(aval.shape, aval.dtype, weak_type=aval.weak_type)

    @property
    def size(self):
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    def update(self, **changes):
        """The same with some of shape, dtype, sharding and weak_type changed."""
        fields = {name: getattr(self, name) for name in self.__slots__} | changes
        return ShapeDtypeStruct(fields.pop("shape"), fields.pop("dtype"), **fields)

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def _key(self):
        return self.shape, str(self.dtype), self.sharding, self.weak_type

    def __eq__(self, other):
        return isinstance(other, ShapeDtypeStruct) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key()[:2])

    def __repr__(self):
        sharding = f", sharding={self.sharding}" if self.sharding is not None else ""
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype}{sharding}{weak})"


def struct_of(aval):
    """The ShapeDtypeStruct of a ShapedArray."""
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def shape_of(staged):
    """The results of a staged function, as ShapeDtypeStructs."""
    return tree_util.tree_unflatten(staged.out_tree, [struct_of(a) for a in staged.out_avals])


@contextlib.contextmanager
def ensure_compile_time_eval():
    """A context in which ops on arrays that are known compute at once, also inside a function that
    is being traced; ops on tracers are recorded as ever.

    Example:
      >>> @jit
      ... def f(x):
      ...     with ensure_compile_time_eval():
      ...         count = int(jnp.arange(3).sum())
      ...     return x + count
      >>> f(1)
      Array(4, dtype=int32, weak_type=True)
    """
    with _core.EagerContext():
        yield


class Traced:
    """A function staged for some arguments: `.jaxpr` shows its program, `.lower()` goes on."""

    def __init__(self, fun, args, kwargs):
        self.fun = fun
        self.args = args
        self.kwargs = kwargs
        self.staged = _core.stage_function(fun, args, kwargs)

    @property
    def jaxpr(self):
        return self.staged.program

    @property
    def fun_name(self):
        return self.staged.program.name

    @property
    def out_info(self):
        return shape_of(self.staged)

    def lower(self, **_):
        return Lowered(self)


class Lowered:
    """A staged function, ready to be compiled."""

    def __init__(self, traced):
        self._traced = traced

    @property
    def out_info(self):
        return self._traced.out_info

    @property
    def in_tree(self):
        return tree_util.tree_structure((self._traced.args, self._traced.kwargs))

    @property
    def out_tree(self):
        return self._traced.staged.out_tree

    @property
    def in_avals(self):
        return self._traced.staged.in_avals

    def as_text(self, *_, **__):
        """The program as text."""
        return str(self._traced.jaxpr)

    def compiler_ir(self, *_, **__):
        return self._traced.jaxpr

    def cost_analysis(self):
        return {"equations": len(self._traced.jaxpr.eqns)}

    def compile(self, *_, **__):
        return Compiled(self)


@dataclasses.dataclass(frozen=True)
class MemoryAnalysis:
    """Sizes in bytes of what one run of a compiled function needs."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    temp_size_in_bytes: int


class Compiled:
    """A function compiled for the types of some arguments; calls with others raise TypeError."""

    def __init__(self, lowered):
        self._lowered = lowered
        self._traced = lowered._traced

    in_tree = property(lambda self: self._lowered.in_tree)
    out_tree = property(lambda self: self._lowered.out_tree)
    out_info = property(lambda self: self._lowered.out_info)
    in_avals = property(lambda self: self._lowered.in_avals)

    def as_text(self, *_, **__):
        return self._lowered.as_text()

    def cost_analysis(self):
        return self._lowered.cost_analysis()

    def memory_analysis(self):
        """Sizes in bytes of the arguments, the results and the temporary values."""
        return MemoryAnalysis(*_core.memory(self._traced.jaxpr))

    def __call__(self, *args, **kwargs):
        fun = self._traced.fun
        staged = _core.stage_function(fun, args, kwargs)
        mismatches = [
            (i, want, got)
            for i, (want, got) in enumerate(
                zip(self._traced.staged.in_avals, staged.in_avals, strict=False)
            )
            if (want.shape, str(want.dtype)) != (got.shape, str(got.dtype))
        ]
        if mismatches:
            from shardax._api_errors import argument_paths

            paths = argument_paths(fun, args, kwargs, [])
            lines = [
                f"Argument '{paths[i]}' compiled with {want.str_short()} and called with "
                f"{got.str_short()}"
                for i, want, got in mismatches
            ]
            raise TypeError(
                "Argument types differ from the types for which this computation was compiled. "
                "Perhaps you are calling "
                "the compiled executable with a different enable_x64 mode than when it was AOT "
                "compiled? "
                "The mismatches are:\n" + "\n".join(lines)
            )
        return fun(*args, **kwargs)


def trace(fun, args, kwargs):
    """fun.trace(*args, **kwargs)."""
    return Traced(fun, args, kwargs or {})


def lower(fun, args, kwargs):
    """fun.lower(*args, **kwargs)."""
    return Traced(fun, args, kwargs or {}).lower()


def eval_shape(fun, args, kwargs):
    """fun.eval_shape(*args, **kwargs)."""
    return Traced(fun, args, kwargs or {}).out_info
