"""shardax.experimental.scheduling_groups - functions that carry notes for XLA's scheduler.

There is no XLA here: the functions run as they are.
"""

import functools

from shardax._transform.jit import jit
from shardax.experimental.xla_metadata import set_xla_metadata

__all__ = ["scheduling_group", "xla_metadata_call"]


def scheduling_group(name):
    """A decorator for functions whose operations XLA would schedule together."""
    return xla_metadata_call(scheduling_group=name)


def xla_metadata_call(f=None, **meta):
    """`f` as a jitted function with these notes; without it, a decorator.

    Example:
      >>> xla_metadata_call(lambda x: 2 * x, kind="mine")(3)
      Array(6, dtype=int32, weak_type=True)
    """
    if f is None:
        return functools.partial(xla_metadata_call, **meta)
    set_xla_metadata(**meta)
    return jit(f)
