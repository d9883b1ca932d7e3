# shardax/_base/pickles.py - arrays out of what they are pickled as.
import operator
import pickle
import sys

import shardax._core as _core
from shardax._base.arrays import bind


def rebuild(elements, weak):
    """An array from its pickled elements."""
    x = _core.array(elements)
    return _core.convert(x, x.dtype, True) if weak else x


def rebuild_keys(words, dtype):
    """PRNG keys from their pickled words."""
    return bind("random_wrap", (_core.array(words),), impl=dtype)


def named(function):
    """What a transformed function is pickled as: its module and name.

    Raises:
      pickle.PicklingError: it is not what its module has under its name.
    """
    module, name = function.__module__, function.__qualname__
    try:
        found = operator.attrgetter(name)(sys.modules[module])
    except (AttributeError, KeyError):
        found = None
    if found is not function:
        raise pickle.PicklingError(
            f"{function!r} is not what module {module} has under the name {name!r}; pickle the "
            "function that it is made of, and transform that again."
        )
    return name


def jitted(function, *options):
    """What a jitted function is pickled as: by its name, or the function in it and its options."""
    try:
        return named(function)
    except pickle.PicklingError:
        return _jit, (function.__wrapped__, *options)


def _jit(function, *options):
    return _core.api.jit(function, *options)
