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
    """The name of a transformed function, by which it is pickled.

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


def reduced(function, recipe):
    """The pickled form of a transformed function: its name, or the function in it and the recipe.
    The latter serves if it has no name or another process may lack it. None: its name alone.

    Raises:
      pickle.PicklingError: it is not what its module has under its name, and has no recipe.
    """
    if recipe is not None and function.__module__ == "__main__" and _pickles_by_value():
        return _made, (function.__wrapped__, recipe)
    try:
        return named(function)
    except pickle.PicklingError:
        if recipe is None:
            raise
        return _made, (function.__wrapped__, recipe)


def _made(function, recipe):
    name, *options = recipe
    return getattr(_core.api, name)(function, *options)


def _pickles_by_value():
    """True if the pickler takes functions of the main module along: cloudpickle and its copies, and
    dill, whose frames are among the callers."""
    frame = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if any(part.strip("_") in ("cloudpickle", "dill") for part in module.split(".")):
            return True
        if module.split(".")[0] not in ("shardax", "pickle"):
            return False
        frame = frame.f_back
    return False
