"""shardax/_compat/experimental/pallas/_call.py - kernels over blocks, as loops over their grid."""

import contextlib
import math

from shardax import lax, tree_util
from shardax import numpy as jnp
from shardax._transform.refs import new_ref
from shardax.experimental.pallas._blocks import Blocks, BlockSpec

_grids = []  # of the kernels that are being staged: (place, sizes)


@contextlib.contextmanager
def _in_grid(ids, sizes):
    _grids.append((ids, sizes))
    try:
        yield
    finally:
        _grids.pop()


def _innermost(what, axis):
    if not _grids:
        raise ValueError(f"{what}: no kernel of pallas_call is running.")
    ids, sizes = _grids[-1]
    if not 0 <= axis < len(sizes):
        raise ValueError(f"{what}: axis {axis} is not in a grid of {len(sizes)} dimensions.")
    return ids[axis], sizes[axis]


def program_id(axis):
    """The position of the running kernel in its grid, along an axis."""
    return _innermost("program_id", axis)[0]


def num_programs(axis):
    """The size of the kernel's grid along an axis."""
    return _innermost("num_programs", axis)[1]


def _unwritten(shape, dtype):
    """The value of places that a kernel has not written: NaN, or the lowest integer."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return jnp.full(shape, jnp.nan, dtype)
    lowest = jnp.iinfo(dtype).min if jnp.issubdtype(dtype, jnp.integer) else False
    return jnp.full(shape, lowest, dtype)


def _specs(given, tree, count):
    if given is None:
        return [BlockSpec()] * count
    is_leaf = lambda x: x is None or isinstance(x, BlockSpec)  # noqa: E731
    leaves = tree_util.tree_leaves(given, is_leaf=is_leaf)
    if len(leaves) != count:
        raise ValueError(f"pallas_call: {len(leaves)} block specs for {count} arrays of {tree}.")
    return [leaf or BlockSpec() for leaf in leaves]


def _place(step, sizes):
    """The place of a step in the grid, of which the last dimension is the fastest."""
    ids = []
    for n in reversed(sizes):
        ids.append(step % n)
        step = step // n
    return tuple(reversed(ids))


def pallas_call(
    kernel,
    out_shape,
    *,
    grid_spec=None,
    grid=(),
    in_specs=None,
    out_specs=None,
    scratch_shapes=(),
    input_output_aliases=None,
    debug=False,
    interpret=False,
    name=None,
    compiler_params=None,
    cost_estimate=None,
    metadata=None,
):
    """A function that runs `kernel(*input_refs, *output_refs, *scratch_refs)` for each place of a
    grid, one after the other. It is a program like any other, as JAX's with `interpret=True`.

    Args:
      kernel: reads and writes references to blocks; its result is ignored.
      out_shape: the shapes and dtypes of the results, a tree of ShapeDtypeStruct.
      grid: an integer, or one per dimension.
      in_specs, out_specs: a BlockSpec per array; the whole array by default.
      scratch_shapes: shapes and dtypes of further references, which last from step to step.
      input_output_aliases: from positions of inputs to those of results that begin as they are.
      grid_spec: grid, in_specs, out_specs and scratch_shapes together.
      debug, interpret, name, compiler_params, cost_estimate, metadata: accepted.

    Returns:
      A function of arrays, or of trees of them.

    Raises:
      ValueError: block specs that do not fit the arrays.

    Example:
      >>> def double(x_ref, o_ref):
      ...     o_ref[...] = 2 * x_ref[...]
      >>> block = BlockSpec((2,), lambda i: i)
      >>> pallas_call(double, shardax.ShapeDtypeStruct((4,), "float32"), grid=2,
      ...             in_specs=[block], out_specs=block)(jnp.arange(4.0))
      Array([0., 2., 4., 6.], dtype=float32)
    """
    if grid_spec is not None:
        grid, in_specs, out_specs = grid_spec.grid, grid_spec.in_specs, grid_spec.out_specs
        scratch_shapes = grid_spec.scratch_shapes
    sizes = (grid,) if isinstance(grid, int) else tuple(grid)
    results, out_tree = tree_util.tree_flatten(out_shape)
    scratch, scratch_tree = tree_util.tree_flatten(scratch_shapes)

    def called(*args):
        inputs, in_tree = tree_util.tree_flatten(args)
        inputs = [jnp.asarray(x) for x in inputs]
        outputs = [_unwritten(r.shape, jnp.dtype(r.dtype)) for r in results]
        for i, o in (input_output_aliases or {}).items():
            outputs[o] = inputs[i]
        ins = [Blocks(s, x.shape) for s, x in
               zip(_specs(in_specs, in_tree, len(inputs)), inputs)]  # fmt: skip
        outs = [Blocks(s, x.shape) for s, x in
                zip(_specs(out_specs, out_tree, len(outputs)), outputs)]  # fmt: skip
        inputs = [b.padded(x) for b, x in zip(ins, inputs)]

        def step(i, carried):
            written, kept = carried
            ids = _place(i, sizes)
            places = [b.start(ids) for b in outs]
            in_refs = [new_ref(b.read(x, b.start(ids))) for b, x in zip(ins, inputs)]
            out_refs = [new_ref(b.read(x, p)) for b, x, p in zip(outs, written, places)]
            scratch_refs = [new_ref(x) for x in kept]
            refs = out_tree.unflatten(out_refs)
            with _in_grid(ids, sizes):
                kernel(
                    *in_tree.unflatten(in_refs),
                    *(refs if isinstance(refs, (tuple, list)) else (refs,)),
                    *scratch_tree.unflatten(scratch_refs),
                )
            written = [
                b.written(x, p, ref[...]) for b, x, p, ref in zip(outs, written, places, out_refs)
            ]
            return written, [ref[...] for ref in scratch_refs]

        carried = (
            [b.padded(x) for b, x in zip(outs, outputs)],
            [_unwritten(s.shape, jnp.dtype(s.dtype)) for s in scratch],
        )
        written, _ = lax.fori_loop(0, math.prod(sizes), step, carried)
        return out_tree.unflatten([b.cut(x) for b, x in zip(outs, written)])

    return called
