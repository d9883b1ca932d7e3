# examples/exercises/solutions/e10_transpose.py - a solution of exercise 10.
import shardax
from shardax import lax


def transpose(x):
    """The transpose of a matrix whose rows lie on devices: device j ends up with column j.

    x: float32[n, n], row i on device i. Gives float32[n, n], row j of the transpose on device j.
    Each device sends one element to each other one: use lax.all_to_all.
    """

    def on_device(row):
        return lax.all_to_all(row, "i", split_axis=0, concat_axis=0, tiled=True)

    return shardax.pmap(on_device, axis_name="i")(x)
