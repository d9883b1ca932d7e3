# shardax/_base/forks.py - locks that a fork does not catch.
import os


def held_over_forks(lock):
    """The lock itself. The thread that forks holds it meanwhile: a child does not find it held by a
    thread that it does not have. No holder may wait for another thread.
    """
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
    )
    return lock
