# examples/exercises/e07_keys.py - exercise 7: random numbers on devices.


def estimate_pi(key, n, samples):
    """pi, of `samples` random points of the unit square on each of n devices.

    key: one key, the same for all devices. Gives float32[]: 4 times the share of points within the
    quarter of the circle. Each device draws points of its own: use random.fold_in, lax.axis_index.
    """
    raise NotImplementedError
