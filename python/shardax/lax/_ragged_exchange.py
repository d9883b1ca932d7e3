"""shardax/lax/_ragged_exchange.py - all_to_all of slices of different sizes.

All devices see one memory: who gets which row is worked out from the offsets, and the rows are
gathered at once.
"""

import shardax._core as _core
from shardax._base.array_functions import where
from shardax._base.arrays import asarray
from shardax.lax._collectives import all_gather, all_to_all
from shardax.lax._layout import iota
from shardax.lax._reductions import argmax, reduce_or

__all__ = ["ragged_all_to_all"]


def ragged_all_to_all(
    operand,
    output,
    input_offsets,
    send_sizes,
    output_offsets,
    recv_sizes,
    *,
    axis_name,
    axis_index_groups=None,
):
    """`output`, with slices of all devices' operands written over parts of it.

    Slice i of a device, `operand[input_offsets[i] : input_offsets[i] + send_sizes[i]]`, goes to
    device i // (slices / devices) and lies there from row `output_offsets[i]` on.

    Args:
      operand, output: arrays of any rank from 1 on that differ in their leading size only.
      input_offsets, send_sizes, output_offsets, recv_sizes: integer vectors of one length, a
        multiple of the axis's size. recv_sizes says of this device what send_sizes of others say.
      axis_name, axis_index_groups: as in all_to_all.

    Raises:
      ValueError: where offsets and sizes are no integer vectors, or operand and output do not fit.

    Example:
      >>> def swap(x, sizes, places):
      ...     starts = jnp.cumsum(sizes) - sizes
      ...     zeros = jnp.zeros_like(x)
      ...     return lax.ragged_all_to_all(x, zeros, starts, sizes, places, sizes, axis_name="i")
      >>> x, sizes = jnp.arange(6).reshape(2, 3), jnp.array([[1, 2], [1, 2]])
      >>> shardax.vmap(swap, axis_name="i")(x, sizes, jnp.array([[0, 0], [1, 2]]))
      Array([[0, 3, 0],
             [1, 2, 4]], dtype=int32)
    """
    operand, output = asarray(operand), asarray(output)
    vectors = {
        "input_offsets": asarray(input_offsets),
        "send_sizes": asarray(send_sizes),
        "output_offsets": asarray(output_offsets),
        "recv_sizes": asarray(recv_sizes),
    }
    _check(operand, output, vectors)

    def received(vector):
        return all_to_all(vector, axis_name, 0, 0, axis_index_groups=axis_index_groups, tiled=True)

    starts = received(vectors["input_offsets"])
    sizes = received(vectors["send_sizes"])
    places = received(vectors["output_offsets"])
    everything = all_gather(operand, axis_name, axis_index_groups=axis_index_groups)
    rows = iota(places.dtype, output.shape[0])
    inside = (places[:, None] <= rows) & (rows < (places + sizes)[:, None])
    which = argmax(inside, 0, _core.canonical_dtype(int))
    source = which // (starts.shape[0] // everything.shape[0])
    rows = everything[source, starts[which] + rows - places[which]]
    written = reduce_or(inside, (0,)).reshape(-1, *(1,) * (output.ndim - 1))
    return where(written, rows, output)


def _check(operand, output, vectors):
    name = "ragged_all_to_all"
    for key, vector in vectors.items():
        if vector.dtype.kind not in "iu":
            raise ValueError(f"{name} {key} must be integer type, got {vector.dtype}.")
        if vector.ndim != 1 or not vector.shape[0]:
            raise ValueError(
                f"{name} {key} must be rank 1 with positive dimension size, but got shape "
                f"{vector.shape}"
            )
    lengths = {key: vector.shape[0] for key, vector in vectors.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{name}: offsets and sizes must have one length, got {lengths}.")
    if operand.dtype != output.dtype or operand.shape[1:] != output.shape[1:] or not operand.ndim:
        raise ValueError(
            f"{name}: operand and output must differ in their leading size only, got "
            f"{operand.dtype}{list(operand.shape)} and {output.dtype}{list(output.shape)}."
        )
