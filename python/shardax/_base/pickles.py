# shardax/_base/pickles.py - arrays out of what they are pickled as.
import shardax._core as _core
from shardax._base.arrays import bind


def rebuild(elements, weak):
    """An array from its pickled elements."""
    x = _core.array(elements)
    return _core.convert(x, x.dtype, True) if weak else x


def rebuild_keys(words, dtype):
    """PRNG keys from their pickled words."""
    return bind("random_wrap", (_core.array(words),), impl=dtype)
