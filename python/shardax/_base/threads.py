# shardax/_base/threads.py - the number of threads that compute.
import contextlib
import os

import shardax._core as _core

# A count in the environment that is none is refused by the import, not in the middle of a loop.
if "SHARDAX_NUM_THREADS" in os.environ:
    _core.thread_count()


def thread_count():
    """The number of threads that compute: the cores that this process may use, unless set.

    The environment's SHARDAX_NUM_THREADS sets it at the start. Results do not depend on it.

    >>> import shardax
    >>> shardax.thread_count() >= 1
    True
    """
    return _core.thread_count()


def set_thread_count(count):
    """Sets how many threads compute, from the next operation on and for all Python threads.

    Raises:
      ValueError: for a count below 1 or above 1024.

    >>> import shardax
    >>> shardax.set_thread_count(shardax.thread_count())
    """
    _core.set_thread_count(count)


@contextlib.contextmanager
def threads(count):
    """Sets how many threads compute while the block runs.

    >>> import shardax
    >>> with shardax.threads(1):
    ...     shardax.thread_count()
    1
    """
    before = _core.thread_count()
    _core.set_thread_count(count)
    try:
        yield
    finally:
        _core.set_thread_count(before)
