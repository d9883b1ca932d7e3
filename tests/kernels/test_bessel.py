"""tests/kernels/test_bessel.py - the scaled Bessel functions against their series."""

import math

import numpy as np
import pytest
import shardax as jax
from shardax import lax

X = [1e-6, 0.3, 1.0, 4.0, 7.999, 8.0, 8.001, 12.5, 30.0, 200.0]


def series(order, x):
    """e^-x I_order(x): the power series in logarithms, whose terms are all positive."""
    logs = [
        (2 * k + order) * math.log(x / 2) - math.lgamma(k + 1) - math.lgamma(k + order + 1) - x
        for k in range(800)
    ]
    return math.fsum(map(math.exp, logs))


@pytest.mark.parametrize("order, f", [(0, lax.bessel_i0e), (1, lax.bessel_i1e)])
@pytest.mark.parametrize("dtype, ulps", [("float32", 4), ("float64", 600)])  # of the series
def test_values(order, f, dtype, ulps):
    wanted = np.array([series(order, x) for x in np.array(X, dtype).astype(float)])
    with jax.enable_x64(dtype == "float64"):
        x = np.array(X, dtype)
        np.testing.assert_allclose(f(x), wanted, rtol=ulps * np.finfo(dtype).eps)
        np.testing.assert_array_equal(f(-x), (-1) ** order * np.asarray(f(x)))
        ends = np.asarray(f(np.array([0, np.inf, -np.inf, np.nan], dtype)))
    np.testing.assert_array_equal(ends, [1 - order, 0, 0, np.nan])
