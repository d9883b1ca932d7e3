"""shardax.experimental.pallas.triton - functions of GPU kernels, on references."""

import dataclasses

from shardax import lax
from shardax import numpy as jnp

__all__ = ["CompilerParams", "atomic_add", "debug_barrier", "dot", "load", "store"]


@dataclasses.dataclass(frozen=True)
class CompilerParams:
    """Options for Triton's compiler; accepted."""

    num_warps: int | None = None
    num_stages: int | None = None


def load(ref, *, mask=None, other=None, cache_modifier=None, eviction_policy=None, volatile=False):
    """The value of a reference; `other`, or 0, where `mask` is False.

    `cache_modifier`, `eviction_policy` and `volatile` have no effect: kernels run as programs on
    the CPU, as with interpret=True in JAX.
    """
    value = ref[...]
    if mask is None:
        return value
    return jnp.where(mask, value, jnp.asarray(0 if other is None else other, value.dtype))


def store(ref, val, *, mask=None, eviction_policy=None):
    """Writes the value of a reference, where `mask` is True.

    `eviction_policy` has no effect: kernels run as programs on the CPU, as with interpret=True in
    JAX.
    """
    ref[...] = jnp.asarray(val) if mask is None else jnp.where(mask, val, ref[...])


def atomic_add(ref, idx, val, *, mask=None):
    """Adds to a part of a reference, and gives its former value."""
    part = ref.at[idx]
    old = part[...]
    store(part, old + val, mask=mask)
    return old


def dot(a, b, *, trans_a=False, trans_b=False, allow_tf32=None, precision=None):
    """The product of two matrices, summed in float32 where they are of shorter floats.

    `allow_tf32` has no effect: one algorithm computes the result, as exactly as the dtype allows.
    """
    a, b = (x.T if turned else x for x, turned in ((a, trans_a), (b, trans_b)))
    wide = jnp.float32 if jnp.issubdtype(a.dtype, jnp.floating) else jnp.int32
    return lax.dot(a, b, precision=precision, preferred_element_type=wide)


def debug_barrier():
    """Nothing: the steps of a grid run one after the other."""
