# shardax/numpy/_indexing/where.py - elements of one array or another, by a condition.
import shardax._core as _core
from shardax._base.array_functions import where as _chosen
from shardax._base.arrays import asarray, check_arraylike
from shardax.numpy._indexing.indices import nonzero


def where(condition, x=None, y=None, /, *, size=None, fill_value=None):
    """Elements of `x` where the condition holds, of `y` elsewhere.

    With the condition alone: the indices where it holds, as `jnp.nonzero` gives them.

    Args:
      condition: an array of booleans or numbers, true where they are not 0.
      x, y: arrays or numbers; the three broadcast.
      size, fill_value: for the indices only, as in `jnp.nonzero`.

    Returns:
      An array of the broadcast shape and the dtype to which `x` and `y` promote; or a tuple of
      int32 arrays.

    Raises:
      TypeError: only one of `x` and `y` is given.
      ValueError: shapes do not broadcast.

    Example:
      >>> x = jnp.array([-1.0, 2.0, -3.0])
      >>> jnp.where(x > 0, x, 0.0)
      Array([0., 2., 0.], dtype=float32)
      >>> jnp.where(x > 0)
      (Array([1], dtype=int32),)
    """
    if x is None and y is None:
        check_arraylike("where", condition)
        return nonzero(condition, size=size, fill_value=fill_value)
    return _chosen(condition, x, y)


def select(condlist, choicelist, default=0):
    """For each element the choice whose condition holds first, else `default`.

    Args:
      condlist: a list of arrays, whose elements are true where they are not 0.
      choicelist: a list of as many arrays or numbers; all broadcast.
      default: a number or array.

    Returns:
      An array of the broadcast shape and the dtype to which choices and default promote.

    Raises:
      ValueError: the lists are empty or differ in length.

    Example:
      >>> x = jnp.arange(5)
      >>> jnp.select([x < 2, x > 3], [x, 10 * x], default=-1)
      Array([ 0,  1, -1, -1, 40], dtype=int32)
    """
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
    """Functions (or values) applied to the elements where their conditions hold.

    Args:
      x: an array.
      condlist: a list of boolean arrays of the shape of `x`.
      funclist: a list of functions of an array, or numbers; one more than there are conditions
        applies elsewhere, where 0 stands otherwise.
      *args, **kw: passed on to the functions.

    Returns:
      An array of the shape and dtype of `x`. Later conditions win.

    Raises:
      ValueError: the numbers of conditions and functions do not fit.

    Example:
      >>> x = jnp.array([-2.0, 0.0, 3.0])
      >>> jnp.piecewise(x, [x < 0, x > 0], [lambda x: -x, lambda x: 10 * x])
      Array([ 2.,  0., 30.], dtype=float32)
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
