"""shardax/lax/_associative_scan.py - all partial results of an associative function."""

from shardax import tree_util
from shardax._base.array_functions import concatenate, stack
from shardax._base.arrays import asarray
from shardax.lax._control_cache import cached_control_flow
from shardax.lax._layout import pad, rev
from shardax.lax._loops import flatten

__all__ = ["associative_scan"]


@cached_control_flow("associative_scan", ["fn"], ["reverse", "axis"])
def associative_scan(fn, elems, reverse=False, axis=0):
    """All partial results of an associative function, in a logarithmic number of steps.

    Args:
      fn: a function of two trees like elems that combines them elementwise along `axis`.
      elems: a tree of arrays with equal sizes along `axis`.
      reverse: start at the end.

    Example:
      >>> lax.associative_scan(jnp.add, jnp.arange(4))
      Array([0, 1, 3, 6], dtype=int32)
    """
    if not callable(fn):
        raise TypeError("lax.associative_scan: fn argument should be callable.")
    leaves, treedef = flatten(elems)
    sizes = {x.shape[axis] for x in leaves}
    if len(sizes) != 1:
        raise ValueError(
            "Array inputs to associative_scan must have the same first dimension. (saw: "
            f"{[x.shape for x in leaves]})"
        )
    if reverse:
        leaves = [rev(x, (axis,)) for x in leaves]

    def part(x, start, stop=None, step=1):
        index = [slice(None)] * x.ndim
        index[axis] = slice(start, stop, step)
        return x[tuple(index)]

    def combine(a, b):
        out = fn(tree_util.tree_unflatten(treedef, a), tree_util.tree_unflatten(treedef, b))
        return tree_util.tree_leaves(out)

    def interleave(even, odd):
        size = even.shape[axis] + odd.shape[axis]
        if even.shape[axis] > odd.shape[axis]:
            padding = [(0, 0, 0)] * odd.ndim
            padding[axis] = (0, 1, 0)
            odd = pad(odd, asarray(0, odd.dtype), padding)
        both = stack([even, odd], axis + 1 if axis >= 0 else axis)
        at = axis % even.ndim
        twice = 2 * even.shape[at]
        return part(both.reshape((*even.shape[:at], twice, *even.shape[at + 1 :])), 0, size)

    def run(xs):
        size = xs[0].shape[axis]
        if size < 2:
            return xs
        pairs = combine([part(x, 0, size - 1, 2) for x in xs], [part(x, 1, None, 2) for x in xs])
        odd = run(pairs)
        rest = [part(x, 2, None, 2) for x in xs]
        before = odd if size % 2 else [part(x, 0, -1) for x in odd]
        even = combine(before, rest)
        even = [concatenate([part(x, 0, 1), e], axis) for x, e in zip(xs, even, strict=True)]
        return [interleave(e, o) for e, o in zip(even, odd, strict=True)]

    out = run(leaves)
    if reverse:
        out = [rev(x, (axis,)) for x in out]
    return tree_util.tree_unflatten(treedef, out)
