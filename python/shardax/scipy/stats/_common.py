# shardax/scipy/stats/_common.py - functions that the distributions share.
import shardax._core as _core
from shardax import numpy as jnp
from shardax._base.arrays import asarray, result_type
from shardax._transform.custom.jvp import custom_jvp


def inexact(*args):
    """Arguments as floats of one dtype."""
    return _core.promote("inexact", *args)


def reals(*args):
    """Arguments as floats of one dtype; TypeError where one is complex, which has no order."""
    args = inexact(*args)
    if args[0].dtype.kind == "c":
        raise TypeError(
            f"This distribution compares its arguments, which {args[0].dtype} numbers cannot be; "
            "take their real parts."
        )
    return args


def floats(*args):
    """Arguments as floats of one dtype, each in its own shape."""
    dtype = result_type(*args)
    if not jnp.issubdtype(dtype, jnp.inexact):
        dtype = _core.canonical_dtype(float)
    return [asarray(x).astype(dtype) for x in args]


def within(inside, value, outside=-jnp.inf):
    """`value` where x is inside the support, else `outside`."""
    return jnp.where(inside, value, outside)


def held(x, low=None, high=None):
    """x within bounds: all of its slope at them, none beyond, not even an infinite one."""
    if low is not None:
        x = jnp.where(x < low, low, x)
    return x if high is None else jnp.where(x > high, high, x)


def on_the_right(z):
    """z or -z, whose real part is not negative. Even functions take it instead of |z|, by which
    complex numbers have no derivative.
    """
    return jnp.where(z.real < 0, -z, z)


@custom_jvp
def one_less_exp(x):
    """1 - exp(-x), exact for small x; its slope is exp(-x), which is no difference from 1."""
    return -jnp.expm1(-x)


one_less_exp.defjvps(lambda t, out, x: t * jnp.exp(-x))


def log1mexp(x):
    """log(1 - exp(-x)) of positive x, exact near 0 and far from it."""
    near = x < 0.7
    below, above = jnp.where(near, x, 1), jnp.where(near, 1, x)
    return jnp.where(near, jnp.log(-jnp.expm1(-below)), jnp.log1p(-jnp.exp(-above)))


def log_one_less_exp(x):
    """log(1 - exp(-exp(x))), which is x where exp(x) is no more than a rounding error."""
    small = x < -40
    return jnp.where(small, x, log1mexp(jnp.exp(jnp.where(small, 0, x))))


def log_share(share, rest):
    """log(share) of probabilities share + rest = 1, with all digits where the rest is small."""
    most = share > 0.5
    small, large = jnp.where(most, 1, share), jnp.where(most, rest, 0)
    return jnp.where(most, jnp.log1p(-large), jnp.log(small))
