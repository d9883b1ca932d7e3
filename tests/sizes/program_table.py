"""tests/sizes/program_table.py - the table of programs of three sizes, and their arguments.

`PROGRAMS` maps a name to a function of the package and the sizes n, k, m, which gives the program
and its arguments. Each is well typed for every size from 0 on, unless it says `least`.
"""

import numpy as np

PROGRAMS, LEAST = {}, {}


def program(make=None, least=0):
    """Lists the program; none of its sizes may be below `least`."""
    if make is None:
        return lambda make: program(make, least)
    PROGRAMS[make.__name__] = make
    LEAST[make.__name__] = least
    return make


def floats(jax, *shape, dtype="float32"):
    rng = np.random.default_rng(len(shape) + sum(shape))
    x = rng.uniform(-1, 1, shape)
    if dtype == "complex64":
        x = x + 1j * rng.uniform(-1, 1, shape)
    return jax.numpy.asarray(x, dtype)


def whole(jax, below, *shape):
    return jax.numpy.asarray(np.random.default_rng(0).integers(0, below, shape), "int32")
