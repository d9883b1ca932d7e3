"""shardax/lax/_control_python.py - control flow under disable_jit: Python's own, on concrete
values, so that printing and debuggers see every step.

A predicate whose value Python cannot know (one that differs between devices, say) is left to the
staged form.
"""

from shardax import tree_util
from shardax._base.array_functions import stack
from shardax._core import api as _core


def active():
    return _core.jit_disabled() and not _core.staging_in_progress()


def decides(predicate):
    """Can Python go one way by this value?"""
    return active() and _core.is_concrete(predicate)


def scan(f, carry, xs, length, reverse):
    """scan by a loop; `xs` is a tree."""
    if length == 0:
        raise ValueError(
            "zero-length scan is not supported in disable_jit() mode because the output type is "
            "unknown."
        )
    ys = []
    for i in reversed(range(length)) if reverse else range(length):
        pair = f(carry, tree_util.tree_map(lambda x, i=i: x[i], xs))
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"scan body output must be a pair, got {pair}.")
        carry, y = pair
        ys.append(y)
    if reverse:
        ys.reverse()
    return carry, tree_util.tree_map(lambda *parts: stack(parts), *ys)


def while_loop(condition, body, carry):
    """(carry, True) when the condition fails; (carry so far, False) when it cannot be decided."""
    carry = tree_util.tree_map(_core.asarray, carry)
    while True:
        going = condition(carry)
        if not decides(going):
            return carry, False
        if not going:
            return carry, True
        carry = body(carry)


def fori_loop(first, last, body, carry):
    for i in range(first, last):
        carry = body(_core.asarray(i), carry)
    return carry
