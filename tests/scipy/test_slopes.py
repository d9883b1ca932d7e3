"""tests/scipy/test_slopes.py - derivatives of scipy's functions at points where a plain rule loses
them: joints of pieces, cancellation, overflow. Exact values are from sums in 50 digits."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax.scipy import linalg, signal, special, stats


@pytest.fixture(autouse=True)
def x64():
    with shardax.enable_x64(True):
        yield


# Function, how often it is derived by each operand, operands, the result.
EXACT = [
    ("log_ndtr", (1,), (8.0,), 5.0522710835368954e-15),
    ("log_ndtr", (1,), (-20.0,), 20.049753068527851),
    ("log_ndtr", (2,), (-20.0,), -0.99753673838494784),
    ("log_ndtr", (0,), (-20.0,), -203.91715537109726),
    ("log_ndtr", (1,), (-1e10,), 1e10),
    ("log_ndtr", (2,), (-1e10,), -1.0),
    ("erfcx", (1,), (500.0,), -2.2567447937764236e-6),
    ("erfcx", (2,), (10000000.0,), 1.1283791670954787e-21),
    ("dawsn", (1,), (-10000.0,), -5.0000000750000019e-9),
    ("dawsn", (2,), (150.5,), 2.9339183793072786e-7),
    ("i0", (1,), (1e-08,), 5.0000000000000002e-9),
    ("i0", (2,), (1e-08,), 0.50000000000000002),
    ("i0", (1,), (1e4,), np.inf),
    ("i1", (1,), (1e4,), np.inf),
    ("i1", (2,), (1e-08,), 3.7500000000000001e-9),
    ("i1", (1,), (0.09,), 0.50151960449872891),
    ("i1", (1,), (-3.0,), 3.5630025133974876),
    ("i1e", (2,), (-1e-20,), 1.0),
    ("i1e", (2,), (0.0,), 0.0),
    ("betaln", (1, 0), (10.0, 1e-08), -1.0516633562643657e-9),
    ("betaln", (1, 0), (100000.0, 1e-20), -1.0000050000166666e-25),
    ("beta", (1, 0), (10.0, 0.1), -0.079419256577579749),
    ("boxcox", (0, 1), (2.0, 1e-20), 0.24022650695910071),
    ("boxcox", (0, 2), (3.0, 0.0), 0.44198965338130244),
    ("boxcox", (0, 1), (100.0, -0.7), 1.6976626405273009),
    ("boxcox", (0, 1), (0.5, 30.0), 0.0011111110885581877),
    ("boxcox", (1, 0), (2.0, 0.0), 0.5),
    ("boxcox", (1, 0), (0.0, -1.5), np.inf),
    ("boxcox", (1, 0), (1.5, 1e5), np.inf),
    ("boxcox1p", (0, 1), (0.5, 1e-08), 0.082200977168780235),
    ("boxcox1p", (1, 0), (1e-08, 1000000000.0), 22026.464473218822),
    ("boxcox1p", (1, 1), (3.0, 0.0), 0.34657359027997265),
    ("comb", (0, 0), (1000.0, 2.0), 499500.0),
    ("comb", (0, 0), (100000.0, 10.0), 2.754492082756147e43),
    ("zeta", (0, 0), (31.0, 10.0), 1.0559364330346616e-31),
    ("zeta", (0, 0), (102.0, 30.0), 2.2350874343773683e-151),
    ("zeta", (0, 0), (61.0, 75.0), 7.5966044204480354e-115),
    ("entr", (1,), (-2.0,), 0.0),
    ("ndtri", (0,), (-1e-30,), np.nan),
]


@pytest.mark.parametrize("name, orders, operands, want", EXACT)
def test_exact(name, orders, operands, want):
    f = getattr(special, name)
    for place, order in enumerate(orders):
        for _ in range(order):
            f = shardax.grad(f, place)
    np.testing.assert_allclose(f(*operands), want, rtol=1e-9)


def test_slopes_at_complex_numbers():
    derive = lambda f, place: shardax.grad(f, place, holomorphic=True)
    x, power = -0.5 + 0.3j, 0.2 - 0.4j
    by_x, by_power = (derive(special.boxcox, k)(x, power) for k in (0, 1))
    np.testing.assert_allclose(by_x, -1.2644344528060015 - 4.1704442977393165j, rtol=1e-12)
    np.testing.assert_allclose(by_power, -3.9370985837228558 - 5.3433888137411568j, rtol=1e-12)
    for density, want in ((stats.cauchy.logpdf, -2), (stats.logistic.logpdf, -0.5)):
        assert derive(derive(density, 0), 0)(0j) == shardax.grad(shardax.grad(density))(0.0) == want


def test_entropy_of_few_events():
    entropy = stats.poisson.entropy
    np.testing.assert_allclose(shardax.grad(entropy)(0.3), 1.3996981371505326, rtol=1e-12)
    second = shardax.grad(shardax.grad(entropy))(0.3)
    np.testing.assert_allclose(second, -2.7193421935585933, rtol=1e-12)
    assert entropy(0.0) == 0 and np.isnan(entropy(-1.0))


def test_slopes_of_fresnel_integrals_far_out():
    """sin and cos of pi x^2 / 2, whose angle is turned back exactly."""
    x = jnp.array([2.0, 3.0, -3.0, 1000.3, 1e15, 1.7e308])
    slopes = shardax.jvp(special.fresnel, (x,), (jnp.ones_like(x),))[1]
    np.testing.assert_allclose(slopes[0], [0, 1, 1, 0.14090123179610239, 0, 0], atol=1e-15)
    np.testing.assert_allclose(slopes[1], [1, 0, 0, 0.99002365773669319, 1, 1], atol=1e-15)


def test_slopes_of_harmonics_in_reverse():
    def f(theta):
        return special.sph_harm_y(jnp.array([1]), jnp.array([1]), theta, jnp.array([0.7])).real[0]

    theta = jnp.array([0.3])
    slope = -np.sqrt(3 / (8 * np.pi)) * np.cos(0.3) * np.cos(0.7)
    np.testing.assert_allclose(shardax.grad(f)(theta), [slope], rtol=1e-12)


def test_distributions_at_ends_of_their_support():
    """All of the slope at an end, none beyond, where it would be infinite."""
    slope = lambda f, *at: float(shardax.grad(f)(*at))
    assert slope(stats.expon.cdf, 0.0) == 1
    assert slope(stats.pareto.cdf, 1.0, 3.0) == 3
    assert slope(stats.laplace.cdf, 0.0) == 0.5
    for f in (stats.beta.cdf, stats.beta.sf):
        assert slope(f, 2.0, 0.5, 0.5) == slope(f, -1.0, 0.5, 0.5) == 0
    assert slope(stats.gamma.cdf, -1.0, 0.5) == slope(stats.chi2.sf, -1.0, 0.5) == 0
    for k, p in ((3.0, 1.0), (0.0, 0.0)):
        by_p = shardax.grad(stats.binom.logpmf, 2)(k, 3.0, p)
        np.testing.assert_allclose(by_p, 3.0 * (1 if p else -1))


def test_no_slope_below_the_support():
    slopes = shardax.vmap(shardax.grad(stats.pareto.logcdf, (0, 1)), (0, None))
    np.testing.assert_array_equal(slopes(np.float32([0, 0.5]), 2.5), np.zeros((2, 2)))


def test_logarithms_of_tails():
    np.testing.assert_allclose(stats.gumbel_r.logsf(-5.0), -3.5073891964646352e-65, rtol=1e-10)
    np.testing.assert_allclose(stats.gumbel_l.logcdf(5.0), -3.5073891964646352e-65, rtol=1e-10)
    np.testing.assert_allclose(stats.norm.logcdf(-10.0), -53.231285150512471, rtol=1e-14)


def test_quantiles_are_of_the_default_dtype():
    third = np.float32(1 / 3)
    assert stats.norm.ppf(third).dtype == stats.norm.isf(third).dtype == np.float64
    with shardax.enable_x64(False):
        assert stats.norm.ppf(third).dtype == np.float32


def test_shares_of_large_equal_operands():
    x = jnp.float64(1e10)
    assert shardax.grad(jnp.logaddexp2)(x, x) == 0.5
    np.testing.assert_allclose(jnp.logaddexp2(1.0, 1.0 + 2.0j), np.log2(2 + 2 ** (1 + 2j)))


@pytest.mark.parametrize("vectors", [False, True])
def test_slopes_of_tridiagonal_matrices(vectors):
    """The off-diagonal counts in both triangles: Hellmann and Feynman."""
    d, e = jnp.array([1.0, 2.0, 0.5]), jnp.array([0.5, -0.3])
    w, v = linalg.eigh_tridiagonal(d, e)
    values = lambda d, e: linalg.eigh_tridiagonal(d, e, eigvals_only=not vectors)
    by_d, by_e = shardax.jacobian(
        lambda d, e: values(d, e)[0] if vectors else values(d, e), (0, 1)
    )(d, e)
    np.testing.assert_allclose(by_d, v.T**2, atol=1e-12)
    np.testing.assert_allclose(by_e, 2 * v[:-1].T * v[1:].T, atol=1e-12)


def test_cotangents_of_hermitian_systems():
    """The transpose of a Hermitian matrix is its conjugate, not itself."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
    a = a @ a.conj().T + np.eye(3)
    b, ct, t = (rng.standard_normal(3) + 1j * rng.standard_normal(3) for _ in range(3))
    solve = lambda b: linalg.solve(a, b, assume_a="pos")
    (back,) = shardax.vjp(solve, jnp.asarray(b))[1](jnp.asarray(ct))
    np.testing.assert_allclose(back, np.linalg.solve(a.T, ct), rtol=1e-12)


def test_correlation_with_a_larger_window():
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(s) + 1j * rng.standard_normal(s) for s in ((2, 2), (3, 2)))
    want = [[np.sum(x * y[i : i + 2].conj())] for i in (0, 1)]
    # As scipy.signal's: the operands exchanged, the second one conjugated.
    np.testing.assert_allclose(signal.correlate2d(x, y, "valid"), np.conj(want)[::-1], rtol=1e-12)


def test_no_slope_above_the_diagonal_of_a_factor():
    a = -jnp.eye(3)
    slope = shardax.jvp(jnp.linalg.cholesky, (a,), (jnp.ones((3, 3)),))[1]
    assert np.isnan(slope[2, 0]) and not np.triu(slope, 1).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_slopes_of_sinc_near_0(dtype):
    x = np.array([1e-9, 1e-6, 1e-4, 1e-2, 0.09, 0.11])
    pix = np.pi * x
    first = -np.pi * (pix / 3 - pix**3 / 30 + pix**5 / 840 - pix**7 / 45360 + pix**9 / 3991680)
    second = -(np.pi**2) * (1 / 3 - pix**2 / 10 + pix**4 / 168 - pix**6 / 6480 + pix**8 / 443520)
    slope = shardax.grad(jnp.sinc)
    rtol = 1e-5 if dtype == "float32" else 1e-11
    given = jnp.asarray(x, dtype)
    np.testing.assert_allclose(shardax.vmap(slope)(given), first, rtol=rtol)
    np.testing.assert_allclose(shardax.vmap(shardax.grad(slope))(given), second, rtol=100 * rtol)
