# shardax/numpy/_elementwise/gcd_lcm.py - divisors and multiples of integers.
import shardax._core as _core
from shardax import lax
from shardax._base.array_functions import where
from shardax._base.arrays import check_arraylike, in_one_program, result_type
from shardax.numpy._reductions import reductions as _reductions

_functions = _core.functions


def _integers(name, *args):
    check_arraylike(name, *args)
    if result_type(*args).kind not in "iu":
        raise ValueError(f"Arguments to jax.numpy.{name} must be integers.")
    return _core.promote("any", *args)


@in_one_program()
def gcd(x1, x2):
    """The greatest common divisor of integers, elementwise; 0 where both are 0.

    Args:
      x1, x2: arrays of integers that broadcast.

    Raises:
      ValueError: for other numbers than integers.

    Example:
      >>> jnp.gcd(jnp.array([12, 18]), 8)
      Array([4, 2], dtype=int32)
    """
    a, b = _integers("gcd", x1, x2)
    shape = _core.broadcast_shapes(a.shape, b.shape)
    a, b = (_core.broadcast_to(_functions.absolute(x), shape) for x in (a, b))

    def step(state):
        x, y = state
        more = y != 0  # of 0 the remainder by 1 is 0 again
        return where(more, y, x), lax.rem(x, where(more, y, 1))

    return lax.while_loop(lambda s: _reductions.any(s[1] != 0), step, (a, b))[0]


@in_one_program()
def lcm(x1, x2):
    """The least common multiple of integers, elementwise; 0 where one is 0.

    Args:
      x1, x2: arrays of integers that broadcast.

    Raises:
      ValueError: for other numbers than integers.

    Example:
      >>> jnp.lcm(jnp.array([4, 6]), 6)
      Array([12,  6], dtype=int32)
    """
    a, b = _integers("lcm", x1, x2)
    d = gcd(a, b)
    return where(d == 0, 0, _functions.absolute(a) // where(d == 0, 1, d) * _functions.absolute(b))
