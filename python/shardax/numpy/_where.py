# shardax/numpy/_where.py - elements of one array or another, by a condition.
import shardax._core as _core
from shardax._base.array_functions import where as _chosen
from shardax._base.arrays import asarray, check_arraylike
from shardax.numpy._indices import nonzero


def where(condition, x=None, y=None, /, *, size=None, fill_value=None):
    """x where the condition holds, else y; with the condition alone, the indices where it does.

    >>> where(array([True, False]), 1.0, 2.0)
    Array([1., 2.], dtype=float32, weak_type=True)
    """
    if x is None and y is None:
        check_arraylike("where", condition)
        return nonzero(condition, size=size, fill_value=fill_value)
    return _chosen(condition, x, y)


def select(condlist, choicelist, default=0):
    """The first choice whose condition holds, else `default`."""
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})"
        )
    if not condlist:
        raise ValueError("condlist must be non-empty")
    dtype, weak = _core.result_type(default, *choicelist)
    out = _core.convert(asarray(default), dtype, weak)
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        out = where(condition, _core.convert(asarray(choice), dtype, weak), out)
    return out


def piecewise(x, condlist, funclist, *args, **kw):
    """Functions (or values) applied where their conditions hold.

    The last one, if spare, elsewhere.
    """
    x = asarray(x)
    conditions = (
        [asarray(c) for c in condlist]
        if isinstance(condlist, (list, tuple))
        else list(asarray(condlist))
    )
    functions = list(funclist)
    if len(functions) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected; got {len(functions)}"
        )
    if len(functions) == len(conditions):
        functions.append(0)
    out = _core.broadcast_to(_core.convert(asarray(0), x.dtype), x.shape)
    values = [f(x, *args, **kw) if callable(f) else f for f in functions]
    out = where(True, values[-1], out)
    for condition, value in zip(conditions, values[:-1]):  # the last that holds counts
        out = where(condition, value, out)
    return _core.convert(out, x.dtype)
