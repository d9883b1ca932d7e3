"""tests/scipy/test_signals.py - windows, entropies, minimization where JAX is no measure."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax.scipy import signal, stats
from shardax.scipy._windows import get_window
from shardax.scipy.optimize import minimize

# Of 8 points each, as scipy.signal.get_window(name, 8) of SciPy 1.17 gives them, points 0, 1, 3.
WINDOWS = {
    "hann": (0.0, 0.14644660940672624, 0.8535533905932737),
    "hamming": (0.08, 0.21473088065418822, 0.8652691193458119),
    "blackman": (0.0, 0.06644660940672622, 0.7735533905932737),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    with shardax.enable_x64(True):
        got = np.asarray(get_window(name, 8))[[0, 1, 3]]
    np.testing.assert_allclose(got, WINDOWS[name], atol=1e-12)


@pytest.mark.parametrize(
    "window",
    ["triang", "parzen", "bohman", "nuttall", "flattop", "cosine", "barthann"]
    + [("kaiser", 4.0), ("gaussian", 2.0), ("tukey", 0.5), ("exponential", None, 3.0), 5.0],
)
def test_windows_are_periodic_and_peak_in_the_middle(window):
    w = np.asarray(get_window(window, 16))
    assert w.shape == (16,) and np.argmax(w) in range(4, 13) and w[8] == pytest.approx(1, abs=2e-2)
    np.testing.assert_allclose(w[1:], w[:0:-1], atol=1e-6)


def test_an_unknown_window():
    with pytest.raises(ValueError, match="unknown window type 'most'; expected one of barthann"):
        signal.stft(jnp.arange(9.0), window="most", nperseg=4)


def test_poisson_entropy_is_the_sum():
    mu = np.array([99.0, 101.0, 400.0])
    k = np.arange(1500)[:, None]
    with shardax.enable_x64(True):
        p = np.asarray(stats.poisson.pmf(k, mu))
        exact = -(p * np.log(np.where(p > 0, p, 1))).sum(0)
        np.testing.assert_allclose(stats.poisson.entropy(mu), exact, rtol=1e-8)


def test_minimize_from_a_steep_start():
    f = lambda x: ((1e4 * x) ** 2).mean()
    result = minimize(f, jnp.ones(2), method="BFGS")
    np.testing.assert_allclose(result.x, 0, atol=1e-6)
    assert result.success and result.status == 0


def test_minimize_stops():
    result = minimize(lambda x: (x**4).sum(), jnp.ones(2), method="BFGS", options={"maxiter": 2})
    assert (result.success, result.status, result.nit) == (False, 1, 2)


@pytest.mark.parametrize("method", ["BFGS", "l-bfgs-experimental-do-not-rely-on-this"])
def test_minimum_of_a_valley(method):
    """Rosenbrock's function, under jit and vmap too."""
    f = lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    solve = lambda x: minimize(f, x, method=method, options={"gtol": 1e-8})
    with shardax.enable_x64(True):
        result = solve(jnp.zeros(3))
        assert result.success and result.nit < 60 and result.nfev < 120
        starts = jnp.array([[0.3, 0.3, 0.1], [-1.0, 2.0, 0.5]])
        many = shardax.jit(shardax.vmap(lambda x: solve(x).x))(starts)
    np.testing.assert_allclose(result.x, 1, atol=1e-5)
    np.testing.assert_allclose(many, 1, atol=1e-5)


def test_an_interpolator_of_another_shape():
    from shardax.scipy.interpolate import RegularGridInterpolator

    with pytest.raises(ValueError, match="3 points and 2 values in dimension 0"):
        RegularGridInterpolator((jnp.arange(3.0),), jnp.arange(2.0))
