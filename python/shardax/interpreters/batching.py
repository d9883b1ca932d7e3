"""shardax.interpreters.batching - batching of primitives: the registries, and parts of rules.

A rule is `rule(operands, dims, **params) -> (results, result dims)`: the dimension of each operand
that lists the batch, or `not_mapped`.
"""

from shardax._base.array_functions import moveaxis as _moveaxis
from shardax._core import BatchTracer
from shardax._core import bind as _bind
from shardax._transform.primitives import axis_batching_rules as fancy_primitive_batchers
from shardax._transform.primitives import batching_rules as primitive_batchers
from shardax._transform.vmappable import is_vmappable, register_vmappable, unregister_vmappable

__all__ = [
    "BatchTracer",
    "axis_primitive_batchers",
    "bdim_at_front",
    "broadcast",
    "broadcast_batcher",
    "defbroadcasting",
    "defreducer",
    "defvectorized",
    "fancy_primitive_batchers",
    "moveaxis",
    "not_mapped",
    "primitive_batchers",
    "is_vmappable",
    "register_vmappable",
    "unregister_vmappable",
    "vectorized_batcher",
]

not_mapped = None


def moveaxis(x, src, dst):
    """`x` with its batch dimension moved; unmapped operands stay as they are."""
    if src is not_mapped or src == dst:
        return x
    return _moveaxis(x, src, dst)


def broadcast(x, sz, axis, mesh_axis=None):
    """`x` repeated `sz` times along a new dimension `axis`.

    `mesh_axis` has no effect: the package does without what it steers in JAX.
    """
    shape = list(x.shape)
    shape.insert(axis, sz)
    kept = tuple(d for d in range(len(shape)) if d != axis)
    return _bind("broadcast_in_dim", (x,), shape=tuple(shape), broadcast_dimensions=kept)


def bdim_at_front(x, bdim, size, mesh_axis=None):
    """`x` with the batch as its first dimension, repeated where it has none.

    `mesh_axis` has no effect: the package does without what it steers in JAX.
    """
    return broadcast(x, size, 0) if bdim is not_mapped else moveaxis(x, bdim, 0)


def vectorized_batcher(prim, batched_args, batch_dims, **params):
    """The rule of ops that act on each element: all operands have the batch in the same place."""
    return prim.bind(*batched_args, **params), batch_dims[0]


def defvectorized(prim):
    """Says that `prim` acts on each element of its operands, which are of one shape."""

    def rule(operands, dims, **params):
        if len(set(dims)) == 1:
            return vectorized_batcher(prim, operands, dims, **params)
        return broadcast_batcher(prim, operands, dims, **params)

    primitive_batchers[prim] = rule


def broadcast_batcher(prim, args, dims, **params):
    """The rule of ops on operands that broadcast: each gets the batch in front."""
    pairs = [(x, d) for x, d in zip(args, dims)]
    size = next(x.shape[d] for x, d in pairs if d is not not_mapped)
    front = [bdim_at_front(x, d, size) if x.ndim or d is not not_mapped else x for x, d in pairs]
    rank = max(x.ndim for x in front)
    expanded = []
    for x in front:
        if 0 < x.ndim < rank:
            shape = (x.shape[0],) + (1,) * (rank - x.ndim) + x.shape[1:]
            x = _bind("reshape", (x,), new_sizes=shape)
        expanded.append(x)
    out = prim.bind(*expanded, **params)
    return out, [0] * len(out) if prim.multiple_results else 0


def defbroadcasting(prim):
    """Says that `prim` acts on elements of operands that broadcast."""
    primitive_batchers[prim] = lambda args, dims, **params: broadcast_batcher(
        prim, args, dims, **params
    )


def defreducer(prim, ident=None):
    """Says that `prim` reduces its operand over the dimensions `axes` in its parameters.

    `ident` has no effect: the package does without what it steers in JAX.
    """

    def rule(operands, dims, axes, **params):
        (x,), (d,) = operands, dims
        behind = tuple(axis + (axis >= d) for axis in axes)
        out = prim.bind(x, axes=behind, **params)
        at = d - sum(axis < d for axis in behind)
        return out, [at] * len(out) if prim.multiple_results else at

    primitive_batchers[prim] = rule


class _AxisBatchers:
    """Rules that take the size and the name of the axis, and a class that is None here, before the
    operands. They are fancy_primitive_batchers in an older form."""

    def __setitem__(self, primitive, rule):
        def with_axis_data(axis_data, values, dims, **params):
            return rule(axis_data.size, axis_data.name, None, values, dims, **params)

        fancy_primitive_batchers[primitive] = with_axis_data


axis_primitive_batchers = _AxisBatchers()
