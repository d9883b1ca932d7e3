# shardax/numpy/_integers.py - divisors and multiples of integers.
from shardax import _core
from shardax._base.arrays import check_arraylike, result_type
from shardax.numpy import (
    _reductions,
    _where,
)

_functions = _core.functions


def _integers(name, *args):
    check_arraylike(name, *args)
    if result_type(*args).kind not in "iu":
        raise ValueError(f"Arguments to jax.numpy.{name} must be integers.")
    return _core.promote("any", *args)


def gcd(x1, x2):
    """The greatest common divisor."""
    from shardax import lax

    a, b = _integers("gcd", x1, x2)
    shape = _core.broadcast_shapes(a.shape, b.shape)
    a, b = (_core.broadcast_to(_functions.absolute(x), shape) for x in (a, b))

    def step(state):
        x, y = state
        z = _where.where(y != 0, _functions.remainder(x, _where.where(y != 0, y, 1)), y)
        return _where.where(y != 0, y, x), z

    return lax.while_loop(lambda s: _reductions.any(s[1] != 0), step, (a, b))[0]


def lcm(x1, x2):
    """The least common multiple."""
    a, b = _integers("lcm", x1, x2)
    d = gcd(a, b)
    return _where.where(
        d == 0, 0, _functions.absolute(a) // _where.where(d == 0, 1, d) * _functions.absolute(b)
    )
