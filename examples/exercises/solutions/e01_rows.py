# examples/exercises/solutions/e01_rows.py - a solution of exercise 1.
import shardax
import shardax.numpy as jnp


def lengths(rows):
    """The length (root of the sum of squares) of each row, each computed on a device of its own.

    rows: float32[n, k], n the number of devices. Gives float32[n]. Use shardax.pmap.
    """
    return shardax.pmap(lambda row: jnp.sqrt(jnp.sum(row**2)))(rows)
