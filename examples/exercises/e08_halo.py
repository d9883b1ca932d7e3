# examples/exercises/e08_halo.py - exercise 8: cells at the border.


def smooth(x):
    """Each element as the mean of itself and its two neighbours, on a ring of all elements.

    x: float32[n, k], the n * k elements in order. Gives float32[n, k]. A device needs one element
    of each neighbour: use lax.ppermute, not lax.all_gather.
    """
    raise NotImplementedError
