"""shardax/lax/_composite.py - named compositions."""

import functools

from shardax._transform.jit import jit

__all__ = ["composite"]


def composite(decomposition, name, version=0):
    """`decomposition` as one call of that name: a function of arrays, with attributes as keyword
    arguments that are not arrays.

    Example:
      >>> scaled = lax.composite(lambda x, *, by: x * by, "my.scaled")
      >>> scaled(2.0, by=3)
      Array(6., dtype=float32, weak_type=True)
    """

    @functools.wraps(decomposition)
    def call(*args, **attributes):
        body = functools.partial(decomposition, **attributes)
        body.__name__ = name
        return jit(body)(*args)

    return call
