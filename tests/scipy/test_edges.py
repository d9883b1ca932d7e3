"""tests/scipy/test_edges.py - NaN, infinities and empty arrays in distributions and transforms."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import nn
from shardax.scipy import fft, ndimage, special, stats
from shardax.test_util import check_grads

NAN = [
    (stats.expon, ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf"), ()),
    (stats.pareto, ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf"), (2.0,)),
    (stats.geom, ("logpmf", "pmf"), (0.3,)),
    (stats.bernoulli, ("logpmf", "pmf", "cdf", "ppf"), (0.3,)),
    (stats.chi2, ("logpdf", "pdf"), (3.0,)),
    (stats.truncnorm, ("logpdf", "cdf", "logcdf", "sf", "logsf"), (-1.0, 2.0)),
    (stats.poisson, ("cdf",), (2.0,)),
    (stats.nbinom, ("logpmf", "pmf"), (5, 0.3)),
]


@pytest.mark.parametrize("distribution, names, parameters", NAN, ids=lambda x: str(x)[-30:])
def test_nan_stays_nan(distribution, names, parameters):
    for name in names:
        assert np.isnan(getattr(distribution, name)(np.float32(np.nan), *parameters)), name


REAL = {
    stats.bernoulli: ("logpmf", "pmf", "cdf", "ppf"),
    stats.expon: ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf"),
    stats.geom: ("logpmf", "pmf"),
    stats.gumbel_l: ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf"),
    stats.gumbel_r: ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf"),
    stats.laplace: ("logpdf", "pdf", "cdf"),
    stats.pareto: ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf"),
    stats.uniform: ("logpdf", "pdf", "cdf"),
    stats.wrapcauchy: ("logpdf", "pdf"),
}


@pytest.mark.parametrize("distribution", REAL, ids=lambda x: x.__name__.split(".")[-1])
def test_what_is_compared_is_real(distribution):
    for name in REAL[distribution]:
        with pytest.raises(TypeError, match="compares its arguments, which complex64 numbers"):
            getattr(distribution, name)(0.5 + 0.5j, 0.5)


def test_quantiles_of_mixed_dtypes():
    q, location = jnp.float16(0.25), jnp.zeros(2, np.float16)
    assert stats.logistic.ppf(q, location).dtype == np.float16
    assert stats.logistic.isf(True, location).dtype == np.float16
    assert not stats.uniform.cdf(0.5).weak_type


def test_densities_at_infinity():
    ends = np.float32([-np.inf, -200, 200, np.inf])
    np.testing.assert_array_equal(stats.logistic.pdf(ends), np.zeros(4))
    np.testing.assert_allclose(stats.logistic.logpdf(ends), [-np.inf, -200, -200, -np.inf])
    np.testing.assert_array_equal(stats.pareto.ppf(np.float32([0, 1, -1, 2]), 2.0)[:2], [1, np.inf])


# scipy.special.ndtri of these.
PROBABILITIES = np.float32([1e-37, 1e-20, 1e-4, 0.01, 0.05, 0.5, 0.99])
QUANTILES = [-12.784556, -9.2623401, -3.7190165, -2.3263479, -1.6448536, 0, 2.3263479]


def test_quantiles_of_small_probabilities():
    np.testing.assert_allclose(special.ndtri(PROBABILITIES), QUANTILES, rtol=2e-6)
    slopes = jax.vmap(jax.grad(special.ndtri))(PROBABILITIES[1:])
    density = np.exp(-np.square(QUANTILES[1:]) / 2) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(slopes, 1 / density, rtol=2e-5)
    np.testing.assert_array_equal(special.ndtri(np.float32([0, 1])), [-np.inf, np.inf])
    assert np.isnan(special.ndtri(np.float32([-1, 2, np.nan]))).all()


def test_quantiles_are_the_inverse():
    with jax.enable_x64(True):
        p = np.concatenate([np.logspace(-250, -1, 300), np.linspace(0.04, 0.97, 300)])
        x = special.ndtri(p)
        np.testing.assert_allclose(special.log_ndtr(x, 10), np.log(p), rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(special.ndtri(1 - p[-300:]), -x[-300:], rtol=1e-12, atol=1e-14)
        curvature = jax.vmap(jax.grad(jax.grad(special.ndtri)))(p[-300:])
        expected = 2 * np.pi * x[-300:] * np.exp(np.square(x[-300:]))
        np.testing.assert_allclose(curvature, expected, rtol=1e-11, atol=1e-11)


def test_modes_of_many():
    x = np.random.default_rng(0).integers(0, 50, (3, 5000))
    values, counts = stats.mode(x, axis=1)
    for row, value, count in zip(x, values, counts):
        often = np.bincount(row)
        assert value == often.argmax() and count == often.max()
    x = np.float32([np.nan, 1, np.nan, 2, np.nan])
    value, count = stats.mode(x)
    assert np.isnan(value) and count == 3


def test_slopes_of_modes_are_those_of_the_first():
    slope = jax.grad(lambda x: stats.mode(x).mode)(jnp.array([3.0, 1.0, 1.0, 2.0]))
    np.testing.assert_array_equal(slope, [0, 1, 0, 0])


def test_sem_without_nan_keeps_the_dtype():
    with jax.enable_x64(True):
        x = np.array([3, 1, np.nan, 2], np.float32)
        error = stats.sem(x, nan_policy="omit")
    assert error.dtype == np.float32
    np.testing.assert_allclose(error, 1 / np.sqrt(3), rtol=1e-6)


def test_modes_of_few():
    mode, count = stats.mode(jnp.zeros((0, 3)))
    assert np.isnan(mode).all() and mode.shape == count.shape == (3,)
    assert stats.mode(3) == (3, 1)
    assert stats.mode(jnp.zeros((2, 0)), axis=1, keepdims=True).mode.shape == (2, 1)


def test_transforms_of_none():
    """Nothing to transform along an axis that has places; an axis without any is refused."""
    for f in (fft.dct, fft.idct):
        assert f(jnp.zeros((0, 4))).shape == (0, 4)
        assert f(jnp.zeros((4, 0)), n=6).shape == (4, 6)
        assert f(jnp.zeros((0, 4)), n=6).shape == (0, 6)


def test_transforms_of_few():
    assert jnp.fft.irfft(jnp.ones(1)).shape == (0,)
    assert jnp.fft.irfft2(jnp.ones((3, 1))).shape == (3, 0)
    assert jnp.fft.rfftn(jnp.zeros((0, 3))).shape == (0, 2)
    assert jnp.fft.irfftn(jnp.zeros((0, 3))).shape == (0, 4)
    with pytest.raises(ValueError, match="positive sizes"):
        jnp.fft.fft(jnp.ones(3), n=0)
    x = np.arange(8.0, dtype=np.float16)
    assert fft.dct(x).dtype == fft.idct(x).dtype == np.float32
    assert fft.dct(jnp.zeros((0, 4))).shape == fft.idct(jnp.zeros((0, 4))).shape == (0, 4)
    for f in (fft.dctn, fft.idctn):
        with pytest.raises(
            ValueError, match=r"fft.i?dctn needs elements .* axis 0 of shape \(0, 4\)"
        ):
            f(jnp.zeros((0, 4)))


def test_coordinates_in_lists():
    image = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(
        ndimage.map_coordinates(image, [[0.5, 1.0], [1.0, 2.0]], order=1), [2.5, 5]
    )


@pytest.mark.parametrize("x64, dtype", [(False, "float32"), (True, "float64")])
def test_parameters_of_the_default_type(x64, dtype):
    with jax.enable_x64(x64):
        key = jax.random.key(0)
        initializers = [nn.initializers.ones, nn.initializers.zeros, nn.initializers.constant(2)]
        for make in ("normal", "uniform", "he_normal", "lecun_uniform", "orthogonal"):
            initializers.append(getattr(nn.initializers, make)())
        for initializer in initializers:
            assert initializer(key, (3, 4)).dtype == dtype
            assert initializer(key, (3, 4), "bfloat16").dtype == "bfloat16"
        number = "int64" if x64 else "int32"
        for options in ({}, {"p": jnp.full(5, 0.2)}):
            assert jax.random.choice(key, 5, (2,), **options).dtype == number
        assert stats.mode(jnp.ones(3)).count.dtype == number


def test_closeness_of_the_least_integer():
    least = np.int8([-128, 127])
    assert jnp.allclose(least, least)
    assert not jnp.isclose(least, least[::-1]).any()


def test_products_of_vectors_only():
    with pytest.raises(ValueError, match="must be one-dimensional"):
        jnp.linalg.outer(jnp.ones((2, 2)), jnp.ones(2))
    with pytest.raises(ValueError, match="at least two elements"):
        jnp.gradient(jnp.ones((3, 1)))


def test_activations_keep_nan():
    x = np.float32([np.nan, -1, 2])
    for name in ("celu", "elu", "gelu", "relu", "relu6", "selu", "silu", "softplus", "hard_tanh"):
        out = getattr(nn, name)(x)
        assert np.isnan(out[0]) and not np.isnan(out[1:]).any(), name
    assert nn.relu(np.array([True])).dtype == "int32"


def test_one_hot_of_floats_warns():
    with pytest.warns(DeprecationWarning, match="integer-typed; got dtype=float32"):
        nn.one_hot(jnp.ones(2), 3)


def test_relative_entropy_of_infinity():
    for function in (special.rel_entr, special.kl_div):
        slope = jax.grad(function)
        assert function(np.inf, 2.0) == np.inf or function is special.kl_div
        assert slope(np.inf, 2.0) == np.inf and jax.grad(slope)(np.inf, 2.0) == 0


def test_constants_keep_float32_where_float64_exists():
    x = np.float32([0.3, 0.5, 0.7])
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        density = stats.gaussian_kde(x)
        for y in (
            special.log_ndtr(x),
            stats.truncnorm.sf(x, np.float32(-1), np.float32(2)),
            density(x),
            density.logpdf(x),
        ):
            assert y.dtype == np.float32
        # The root of the count has the digits of float64.
        exact = stats.sem(np.arange(7.0))
        np.testing.assert_allclose(exact, np.arange(7.0).std(ddof=1) / np.sqrt(7), 1e-15)


@pytest.mark.parametrize("name", ["relu", "relu6", "hard_sigmoid"])
def test_activations_are_flat_at_nan(name):
    f = getattr(nn, name)
    x = np.float32([np.nan, -np.inf, 0, 1, np.inf])
    value, slope = jax.jvp(f, (x,), (np.ones(5, np.float32),))
    assert np.isnan(value[0]) and slope[0] == 0 and jax.grad(f)(np.float32(np.nan)) == 0
    np.testing.assert_array_equal(value[1:3], f(np.float32([-9, 0])))


def test_slopes_of_log1mexp_at_ends():
    slope = jax.vmap(jax.grad(nn.log1mexp))(np.float32([0, -0.0, np.inf, -np.inf, 1e-5, 80]))
    np.testing.assert_allclose(slope, [np.inf, -np.inf, 0, -1, 99999.5, np.exp(-80)], rtol=1e-6)


NARROW = """float4_e2m1fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz
    float8_e5m2 float8_e5m2fnuz bfloat16 float16""".split()


@pytest.mark.parametrize("name", NARROW)
def test_next_numbers_of_small_floats(name):
    dtype = getattr(jnp, name)
    count = 2 ** min(8, jnp.finfo(dtype).bits) // 2  # codes without a sign grow with the numbers
    bits = jnp.finfo(dtype).bits
    whole = np.arange(count, dtype=np.uint8) if bits <= 8 else np.arange(0, 2**15, dtype=np.uint16)
    numbers = whole.view(dtype) if bits >= 8 else np.arange(count, dtype=np.uint8).view(dtype)
    numbers = numbers[np.isfinite(numbers.astype(np.float32))]
    low, high = numbers[:-1], numbers[1:]
    top, zero = np.broadcast_to(numbers[-1], low.shape), np.zeros(low.shape, dtype)
    for signed in (lambda x: x, lambda x: -x):
        got = jnp.nextafter(signed(low), signed(top))
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.astype(np.float32), signed(high).astype(np.float32))
        back = jnp.nextafter(signed(high), zero)
        np.testing.assert_array_equal(back.astype(np.float32), signed(low).astype(np.float32))


def test_complex_decompositions_of_nan():
    a = np.array([[1, np.nan], [3, 4]], np.complex64)
    both = lambda x: np.isnan(x.real).all() and np.isnan(x.imag).all()  # noqa: E731
    assert both(jnp.linalg.eig(a)[0]) and both(jnp.linalg.svd(a)[0])
    assert both(jnp.linalg.eigh(a + a.T)[1])
    for size in (np.inf, np.nan):
        sign, log = jnp.linalg.slogdet(np.complex64([[size, 2], [3, 4]]))
        assert np.isnan(sign) and np.isnan(log), size


def test_zeta_of_large_exponents_is_quick():
    np.testing.assert_array_equal(special.zeta(np.float32([1e9, 1e30]), np.float32([3, 1e20])), 0)
    assert special.zeta(np.float32(1e9), np.float32(0.5)) == np.inf


def test_tails_of_cauchy():
    with jax.enable_x64(True):
        x = np.array([-1e300, -1e20, -1e8, -2.0, 0.0, 3.0, 1e17])
        # scipy.stats.cauchy of these.
        below = [3.183098861837907e-301, 3.183098861837907e-21, 3.183098861837907e-09]
        below = np.array([*below, 0.14758361765043326, 0.5, 0.8975836176504333, 1.0])
        np.testing.assert_allclose(stats.cauchy.cdf(x), below, rtol=1e-14)
        np.testing.assert_allclose(stats.cauchy.sf(-x), below, rtol=1e-14)
        np.testing.assert_allclose(stats.cauchy.logcdf(x), np.log(below), atol=1e-15)
        np.testing.assert_allclose(stats.cauchy.ppf(below)[:-1], x[:-1], rtol=1e-14)
        np.testing.assert_allclose(stats.cauchy.isf(below)[:-1], -x[:-1], rtol=1e-14)
        np.testing.assert_array_equal(stats.cauchy.ppf(np.array([0.0, 1.0])), [-np.inf, np.inf])
        np.testing.assert_allclose(stats.cauchy.logpdf(-1e300), -1382.6957856822767, rtol=1e-14)
        ends = np.array([-np.inf, np.inf, -1e300])
        np.testing.assert_array_equal(jax.vmap(jax.grad(stats.cauchy.cdf))(ends), [0, 0, 0])
        for f in (stats.cauchy.cdf, stats.cauchy.logpdf, stats.cauchy.sf):
            check_grads(f, (np.array([-3.0, 0.5, 4.0]), 0.3, 1.5), order=2, eps=1e-5)
        check_grads(stats.cauchy.ppf, (np.array([0.1, 0.5, 0.9]), 0.3, 1.5), order=2, eps=1e-5)


def test_ways_to_choose_few_of_many():
    np.testing.assert_allclose(
        special.comb(np.float32(1e10), np.float32(3)), 1.6666667e29, rtol=1e-4
    )
    with jax.enable_x64(True):
        np.testing.assert_allclose(special.comb(1e100, 3.0), 1e300 / 6, rtol=1e-11)


# Integrals in 50 digits.
SHARES = [
    (1e-10, 1e6, 1e-10, 0.9999999991366775),
    (0.1, 1e6, 1e-10, 0.4184613564110029),
    (3.5, 1e6, 1e-10, 8.596543575086667e-16),
    (3.5, 1e6, 3e-6, 0.46025257623204996),
    (20.0, 1e5, 0.0001, 0.0034597573543206483),
    (12.0, 9.0, 0.3, 0.005138161535121406),
    (12.0, 9.0, 0.9, 0.9999401414682596),
    (1e5, 0.3, 0.9999, 2.8434368999113895e-06),
    (1e6, 1e6, 0.5, 0.5),
    (1e6, 1e6, 0.5005, 0.9213504224190753),
    (1e6, 2e6, 0.333, 0.11032283951664962),
    (3e4, 200.0, 0.993, 0.2068977637466181),
]


@pytest.mark.parametrize("a, b, x, share", SHARES)
def test_incomplete_beta_of_large_parameters(a, b, x, share):
    with jax.enable_x64(True):
        np.testing.assert_allclose(special.betainc(a, b, x), share, rtol=1e-12)
        np.testing.assert_allclose(special.betainc(b, a, 1 - x), 1 - share, rtol=1e-10, atol=1e-8)


def test_slopes_of_the_generalised_normal_distribution():
    with jax.enable_x64(True):
        x = np.array([0.0, -0.0, 1e-300, np.inf, -np.inf, 1e-20])
        beta = np.array([2.0, 0.5, 1.5, 2.0, 1.0, 30.0])
        by_x, by_beta = (jax.vmap(jax.grad(stats.gennorm.cdf, i))(x, beta) for i in (0, 1))
        np.testing.assert_allclose(by_x, stats.gennorm.pdf(x, beta), rtol=1e-14)
        np.testing.assert_allclose(by_beta, np.zeros(6), atol=1e-19)
        for point in ((0.7, 1.3), (-2.0, 0.7), (3.0, 2.0)):
            check_grads(stats.gennorm.cdf, point, order=1, eps=1e-5)
            check_grads(lambda x: stats.gennorm.cdf(x, 1.3), point[:1], order=2, eps=1e-5)


def test_parameters_outside_of_their_range():
    bad = np.float32([-1, 2, 2, np.nan]), np.float32([1, -1, 0, 1]), np.float32([1, 1, 1, 1])
    assert np.isnan(stats.betabinom.pmf(np.float32(1), *bad)).all()
    x = np.float32([1.0, -1.0])
    np.testing.assert_array_equal(stats.expon.pdf(x, 0, -2.0), [np.nan, 0])  # as JAX has it
    np.testing.assert_allclose(stats.expon.cdf(x, 0, -2.0), [1 - np.exp(0.5), 0], rtol=1e-6)


def test_logarithms_of_shares_near_1():
    with jax.enable_x64(True):
        x = 1e-5
        np.testing.assert_allclose(
            stats.gamma.logsf(x, 30.0), -special.gammainc(30.0, x), rtol=1e-12
        )
        np.testing.assert_allclose(
            stats.gamma.logcdf(1e-300, 1e-300), -6.9019831223e-298, rtol=1e-10
        )
        np.testing.assert_allclose(
            stats.chi2.logcdf(300.0, 4.0), -stats.chi2.sf(300.0, 4.0), rtol=1e-12
        )
        np.testing.assert_allclose(stats.cauchy.logsf(-1e20), -3.183098861837907e-21, rtol=1e-12)
        np.testing.assert_allclose(stats.beta.logsf(1e-9, 3.0, 2.0), -4e-27, rtol=1e-7)
        for f in (stats.gamma.logcdf, stats.gamma.logsf):
            check_grads(lambda v, f=f: f(v, 2.5), (np.array([0.3, 2.0, 7.0]),), order=2, eps=1e-5)


def test_t_of_many_degrees_of_freedom_is_normal():
    with jax.enable_x64(True):
        x = np.array([0.0, 0.7, -2.0])
        for df in (1e10, 1e100, 1e300):
            np.testing.assert_allclose(stats.t.logpdf(x, df), stats.norm.logpdf(x), rtol=1e-9)
        check_grads(stats.t.logpdf, (x + 0.1, 3.3), order=2, eps=1e-5)
        check_grads(stats.t.logpdf, (x + 0.1, 33.0), order=2, eps=1e-5)


def test_parameters_at_and_beyond_ends():
    one = np.float32(1)
    assert np.isnan(stats.vonmises.pdf(one, -one)) and np.isnan(stats.wrapcauchy.pdf(one, 0 * one))
    assert np.isnan(stats.uniform.pdf(one, 0, np.nan)) and stats.uniform.cdf(0.0, 0.0, -1.0) == 1
    x = np.float32([0, 0.5, 1, 2])
    np.testing.assert_array_equal(stats.pareto.sf(x, np.inf), [1, 1, 1, 0])
    np.testing.assert_array_equal(stats.pareto.cdf(x, np.inf), [0, 0, 0, 1])
    np.testing.assert_allclose(stats.uniform.cdf(x * 4, 1, 4), [0, 0.25, 0.75, 1])
    slopes = jax.vmap(jax.grad(lambda v: stats.uniform.cdf(v, 1, 4)))(x * 4)
    np.testing.assert_allclose(slopes, [0, 0.25, 0.25, 0])


def test_rising_powers_of_large_numbers():
    with jax.enable_x64(True):
        z = np.array([1e5, 1e10, 1e100, 12.5, 40.0, 1e5, 9.0])
        m = np.array([1e-8, 10.0, 3.0, 2.5, -30.25, -2.0, -3.0])
        # Sums in 60 digits.
        want = [1.0000001151292113, 1.0000000045e100, 1e300, 637.0662611475807]
        want += [1.0165692647149367e-41, 1.0000300007000151e-10, 1 / (8 * 7 * 6)]
        np.testing.assert_allclose(special.poch(z, m), want, rtol=1e-11)
    np.testing.assert_allclose(special.poch(np.float32(1e10), np.float32(0.9)), 1e9, rtol=1e-4)


def test_quantiles_of_cauchy_at_zero_and_nan():
    q = np.float64([np.nan, 0.0, -0.0, 1.0])
    np.testing.assert_array_equal(stats.cauchy.ppf(q), [np.nan, -np.inf, -np.inf, np.inf])
    np.testing.assert_array_equal(stats.cauchy.isf(q), [np.nan, np.inf, np.inf, -np.inf])


@pytest.mark.parametrize("name", ["gumbel_l", "gumbel_r", "gamma", "chi2", "pareto"])
def test_negative_scales_are_none(name):
    parameters = () if "gumbel" in name else (2.0,)
    for function in (
        ("pdf", "logpdf", "sf", "cdf") if name == "pareto" or not parameters else ("pdf",)
    ):
        value = getattr(getattr(stats, name), function)(
            jnp.array([-2.0, 2.0]), *parameters, 0.0, -1.0
        )
        assert np.isnan(value).all(), function
