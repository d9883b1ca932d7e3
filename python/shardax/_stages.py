"""python/shardax/_stages.py - a jitted function in steps: traced, lowered, compiled; and abstract
shapes.

Also what C++ asks of Python on rare paths: zeros of dtype float0.
"""

import dataclasses

import numpy as np

from shardax import tree_util
from shardax._core import Tracer
from shardax._core import api as _core
from shardax._dtypes import float0


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


@dataclasses.dataclass(frozen=True)
class ArgInfo:
    """What a staged function knows of an argument."""

    aval: ShapeDtypeStruct
    donated: bool

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)


class Traced:
    """A function staged for some arguments: `.jaxpr` shows its program, `.lower()` goes on."""

    def __init__(self, fun, args, kwargs):
        self.fun = fun
        self.args = args
        self.kwargs = kwargs
        self.staged = _core.stage_function(fun, args, kwargs)
        positions, names, donated, donated_names = _core.argument_options(fun)
        count = len(args)
        self._static = {p % count for p in positions if -count <= p < count}
        self._static_names = set(names)
        self._donated = {p % count for p in donated if -count <= p < count}
        self._donated_names = set(donated_names)

    @property
    def jaxpr(self):
        return self.staged.program

    @property
    def in_tree(self):
        """The structure of (args, kwargs) without static arguments."""
        return tree_util.tree_structure(self._dynamic())

    @property
    def in_avals(self):
        return tree_util.tree_unflatten(self.in_tree, self.staged.in_avals)

    @property
    def donate_argnums(self):
        flags = []
        for i, arg in enumerate(self.args):
            if i not in self._static:
                flags += [i in self._donated] * len(tree_util.tree_leaves(arg))
        for name in sorted(self.kwargs):
            if name not in self._static_names:
                leaves = tree_util.tree_leaves(self.kwargs[name])
                flags += [name in self._donated_names] * len(leaves)
        return tuple(i for i, donated in enumerate(flags) if donated)

    @property
    def args_info(self):
        infos = [
            ArgInfo(struct_of(aval), i in self.donate_argnums)
            for i, aval in enumerate(self.staged.in_avals)
        ]
        return tree_util.tree_unflatten(self.in_tree, infos)

    def _dynamic(self):
        args = tuple(a for i, a in enumerate(self.args) if i not in self._static)
        return args, {k: v for k, v in self.kwargs.items() if k not in self._static_names}

    def paths(self):
        """What the user calls each leaf of the arguments that are not static."""
        from shardax._api_errors import argument_paths

        static = {*self._static, *self._static_names}
        return argument_paths(self.fun, self.args, self.kwargs, static)

    def call(self, args, kwargs):
        """The function, with the static arguments that it was staged for."""
        rest = iter(args)
        args = [a if i in self._static else next(rest) for i, a in enumerate(self.args)]
        static = {k: v for k, v in self.kwargs.items() if k in self._static_names}
        return self.fun(*args, **static, **kwargs)

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
        return self._traced.in_tree

    @property
    def out_tree(self):
        return self._traced.staged.out_tree

    @property
    def in_avals(self):
        """The arguments' shapes and dtypes, as (args, kwargs)."""
        return self._traced.in_avals

    donate_argnums = property(lambda self: self._traced.donate_argnums)
    args_info = property(lambda self: self._traced.args_info)

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
    args_info = property(lambda self: self._lowered.args_info)
    donate_argnums = property(lambda self: self._lowered.donate_argnums)

    def as_text(self, *_, **__):
        return self._lowered.as_text()

    def cost_analysis(self):
        return self._lowered.cost_analysis()

    def memory_analysis(self):
        """Sizes in bytes of the arguments, the results and the temporary values."""
        return MemoryAnalysis(*_core.memory(self._traced.jaxpr))

    def __call__(self, *args, **kwargs):
        """Runs it. Static arguments, which it was staged for, are left out."""
        from shardax import _api_errors

        leaves, tree = tree_util.tree_flatten((args, kwargs))
        if tree != self.in_tree:
            _api_errors.compiled_for_other_tree(self.in_avals, (args, kwargs))
        for leaf in leaves:
            if isinstance(leaf, Tracer):
                raise TypeError(
                    "Cannot apply JAX transformations to a function lowered and compiled for a "
                    f"particular signature. Detected argument of Tracer type {type(leaf)}; "
                    "transform the function before it is lowered."
                )
        wanted, types = self._traced.staged.in_avals, [_core.typeof(leaf) for leaf in leaves]
        if any((w.shape, w.dtype) != (t.shape, t.dtype) for w, t in zip(wanted, types)):
            _api_errors.compiled_for_other_types(self._traced.paths(), wanted, types)
        return self._traced.call(args, kwargs)


def trace(fun, args, kwargs):
    """fun.trace(*args, **kwargs)."""
    return Traced(fun, args, kwargs or {})


def lower(fun, args, kwargs):
    """fun.lower(*args, **kwargs)."""
    return Traced(fun, args, kwargs or {}).lower()


def eval_shape(fun, args, kwargs):
    """fun.eval_shape(*args, **kwargs)."""
    return Traced(fun, args, kwargs or {}).out_info
