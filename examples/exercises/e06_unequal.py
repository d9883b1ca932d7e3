# examples/exercises/e06_unequal.py - exercise 6: devices with unequal work.


def mean(x, count):
    """The mean of all valid elements: the first count[i] of x[i] on device i.

    x: float32[n, k], count: int32[n], not all 0. Gives float32[], one value. An average of the
    devices' averages is not it. Elements behind the valid ones may be anything, NaN too.
    """
    raise NotImplementedError
