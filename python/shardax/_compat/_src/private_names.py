# shardax/_compat/_src/private_names.py - names of JAX's private modules that lack a public one.
from typing import TypeVar

import numpy as np
import shardax._core as _core
from shardax import lax, random, tree_util  # noqa: F401
from shardax._base.coordination import global_state  # noqa: F401
from shardax._base.options import Parameters, indices, names
from shardax._devices.devices import Device, default_device  # noqa: F401
from shardax._transform.jit import jit
from shardax.dtypes import finfo, issubdtype, prng_key

DType = np.dtype
ArrayImpl = _core.ArrayImpl
PjitFunction = type(jit(abs))
jaxlib_version = ".".join(map(str, (0, 10, 2)))


class _Backends:
    """The backends whose devices have been counted, by name."""

    def get(self, name, default=None):
        counted = name == "cpu" and _core.devices_counted()
        return default_device().client if counted else default

    def __contains__(self, name):
        return self.get(name) is not None

    def __bool__(self):
        return "cpu" in self


backends_by_name = _Backends()


def backends_are_initialized():
    """True if the devices have been counted: from then on their number is fixed."""
    return _core.devices_counted()


def is_cuda_compute_capability_at_least(capability):
    """True if there is a GPU of such a kind: there is none."""
    return False


def _on_words(draw):
    """A function of keys, as one of threefry's words for and instead of them."""

    def drawn(words, *args):
        out = draw(random.wrap_key_data(words, impl="threefry2x32"), *args)
        return random.key_data(out) if issubdtype(out.dtype, prng_key) else out

    return drawn


def threefry_seed(seed):
    """The two words of the key of a seed."""
    return random.key_data(random.key(seed, impl="threefry2x32"))


threefry_split = _on_words(random.split)
threefry_fold_in = _on_words(random.fold_in)
threefry_random_bits = _on_words(
    lambda key, width, shape: random.bits(key, shape, np.dtype(f"uint{width}"))
)

Out = TypeVar("Out")


def full_lower(x):
    """A value itself: tracers that know their values stay tracers."""
    return x


class ExtendedDType:
    """The base of dtypes that are no numbers, where libraries define some."""


def supports_inf(dtype):
    """True if a dtype has infinities."""
    return bool(issubdtype(dtype, np.inexact)) and bool(np.isinf(np.array(np.inf, dtype)))


def to_complex_dtype(dtype):
    """complex128 for dtypes of 64 bits, else complex64."""
    return np.dtype(np.complex128 if finfo(dtype).bits == 64 else np.complex64)


def infer_argnums_and_argnames(sig, argnums, argnames):
    """Positions and names of arguments, each from the other where only one is given."""
    if argnums is None and argnames is None:
        return (), ()

    def fun(): ...

    fun.__signature__ = sig
    given = indices(argnums, "argnums"), names(argnames, "argnames")
    if argnums is not None and argnames is not None:
        return given
    return Parameters(fun).complete(*given)


class _Typed:
    """A Python scalar with a dtype."""

    def __new__(cls, value, dtype):
        self = super().__new__(cls, value)
        self.dtype = np.dtype(dtype)
        return self


class TypedInt(_Typed, int):
    """An int with a dtype. Operands of ops are arrays here, never such numbers."""


class TypedFloat(_Typed, float):
    """A float with a dtype."""


class TypedComplex(_Typed, complex):
    """A complex number with a dtype."""


class TypedNdArray(np.ndarray):
    """A NumPy array with a flag `weak_type`."""


class _NodeType:
    """The way in which values of a type that is a node of a tree are taken apart and made again."""

    def __init__(self, node_type):
        self._type = node_type

    def to_iter(self, node):
        """(its children, its other parts)."""
        return tree_util.tree_flatten(node, is_leaf=lambda part: part is not node)

    def from_iter(self, rest, children):
        """A node of those children."""
        return tree_util.tree_unflatten(rest, children)


class _NodeTypes:
    """The types that are nodes of trees, as a mapping."""

    def __contains__(self, node_type):
        return tree_util.is_tree_node(node_type)

    def __getitem__(self, node_type):
        if node_type not in self:
            raise KeyError(node_type)
        return _NodeType(node_type)

    def get(self, node_type, default=None):
        return self[node_type] if node_type in self else default


node_types = _NodeTypes()


def backend_compile_and_load(*args, **kwargs):
    """Libraries replace this function to forbid compilation; it compiles nothing here."""
    raise NotImplementedError(
        "backend_compile_and_load: calling a jitted function compiles it; call one."
    )
