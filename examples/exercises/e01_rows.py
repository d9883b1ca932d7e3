# examples/exercises/e01_rows.py - exercise 1: a function on every device.


def lengths(rows):
    """The length (root of the sum of squares) of each row, each computed on a device of its own.

    rows: float32[n, k], n the number of devices. Gives float32[n]. Use shardax.pmap.
    """
    raise NotImplementedError
