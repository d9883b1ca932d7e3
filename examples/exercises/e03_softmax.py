# examples/exercises/e03_softmax.py - exercise 3: sums over devices.


def softmax(x):
    """The softmax over all elements of all devices: exp(x) / sum(exp(x)), safe for large x.

    x: float32[n, k]. Gives float32[n, k], whose sum is 1. Use lax.pmax and lax.psum.
    """
    raise NotImplementedError
