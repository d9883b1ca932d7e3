"""shardax/_incomplete.py - the incomplete gamma and beta functions, by series and continued
fractions.
"""

import numpy as np

from shardax import _core
from shardax.numpy._common import asarray, static_jit

__all__ = ["betainc", "igamma", "igammac"]

_TERMS = 200


def _same(name, *args):
    arrays = [asarray(a) for a in args]
    if len({(a.dtype, a.shape) for a in arrays}) > 1 or arrays[0].dtype.kind not in "fV":
        given = ", ".join(f"{a.dtype}{list(a.shape)}" for a in arrays)
        raise TypeError(f"{name} requires floats of one dtype and shape, got {given}.")
    return arrays


def _where(condition, x, y):
    from shardax.numpy import where

    return where(condition, x, y)


def _away_from_zero(x):
    tiny = float(np.finfo(np.float32).tiny) * 1e4
    return _where(_core.functions.abs(x) < tiny, tiny, x)


def _fraction(first, terms, like):
    """first + a1 / (b1 + a2 / (b2 + ...)) by Lentz's method, where terms(i) is (a_i, b_i) for i =
    1, 2, ...
    """
    from shardax import lax

    def step(i, state):
        value, c, d = state
        a, b = terms(_core.convert(asarray(i + 1), like.dtype))
        d = 1 / _away_from_zero(b + a * d)
        c = _away_from_zero(b + a / c)
        return value * (c * d), c, d

    start = _away_from_zero(first)
    return lax.fori_loop(0, _TERMS, step, (start, start, start * 0))[0]


@static_jit("upper")
def _gamma_share(a, x, upper):
    from shardax import lax

    functions = _core.functions
    bad = functions.logical_or(x < 0, functions.logical_not(a > 0))
    some = functions.logical_and(x > 0, functions.isfinite(x))
    a, point = (
        _where(bad, 1, a),
        _where(functions.logical_and(some, functions.logical_not(bad)), x, 1),
    )
    scale = functions.exp(a * functions.log(point) - point - lax.lgamma(a))
    near = point < a + 1

    def step(i, state):
        total, term = state
        term = term * low / (a + (i + 1))
        return total + term, term

    low = _where(near, point, 1)
    series = scale * lax.fori_loop(0, _TERMS, step, (1 / a, 1 / a))[0]
    high = _where(near, a + 2, point)
    rest = scale / _fraction(high + 1 - a, lambda i: (-i * (i - a), high + 1 - a + 2 * i), a)
    share = _where(near, 1 - series if upper else series, rest if upper else 1 - rest)
    share = _where(some, share, _where(x > 0, 0.0 if upper else 1.0, 1.0 if upper else 0.0))
    return _where(functions.logical_or(bad, functions.isnan(x)), float("nan"), share)


def igamma(a, x):
    """The regularized lower incomplete gamma function: the share of gamma(a) below x."""
    return _gamma_share(*_same("igamma", a, x), upper=False)


def igammac(a, x):
    """1 - igamma(a, x), without cancellation."""
    return _gamma_share(*_same("igammac", a, x), upper=True)


@static_jit()
def _beta_share(a, b, x):
    from shardax import lax

    functions = _core.functions
    inside = functions.logical_and(x > 0, x < 1)
    point = _where(inside, x, 0.5)
    # The fraction converges fast below the mean; beyond, the other end is counted.
    turned = point > (a + 1) / (a + b + 2)
    a, b, y = _where(turned, b, a), _where(turned, a, b), _where(turned, 1 - point, point)
    logs = (
        lax.lgamma(a + b)
        - lax.lgamma(a)
        - lax.lgamma(b)
        + a * functions.log(y)
        + b * functions.log1p(-y)
    )

    def terms(i):
        m = functions.floor(i / 2)
        even = m * (b - m) * y / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * y / ((a + 2 * m) * (a + 2 * m + 1))
        return _where(functions.remainder(i, 2) == 0, even, odd), functions.multiply(y, 0) + 1

    share = functions.exp(logs) / (a * _fraction(functions.multiply(y, 0) + 1, terms, y))
    share = _where(turned, 1 - share, share)
    bad = functions.logical_or(
        functions.logical_not(functions.logical_and(a > 0, b > 0)), functions.isnan(x)
    )
    bad = functions.logical_or(bad, functions.logical_or(x < 0, x > 1))
    return _where(bad, float("nan"), _where(inside, share, _where(x > 0.5, 1.0, 0.0)))


def betainc(a, b, x):
    """The regularized incomplete beta function: the share of beta(a, b) that lies in [0, x]."""
    return _beta_share(*_same("betainc", a, b, x))
