"""tests/scipy/test_exact_values.py - elementwise functions beside exact values.

A plain formula cancels or overflows there. The values are those of 50 digits.
"""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import nn
from shardax.scipy import special, stats

# Function, arguments (floats of 32 bits), values.
CASES = [
    (
        nn.gelu,
        [-2.5, -5, -6.040561676025391, -8],
        [-0.015084266089998582, -2.291796196629506e-7, -5.8139008516620413e-11]
        + [-3.1077829375011112e-21],
    ),
    (
        jnp.sinc,
        [79005008, 3.0000000054977558e38, 1.5, 3.000000238418579, -1234567.5, -0.75]
        + [0.46000000834465027],
        [0, 0, -0.21220659078919378, -7.9472853384578475e-8, -2.5783109160397522e-7]
        + [0.30010543871903536, 0.68652154994294907],
    ),
    (
        special.log_ndtr,
        [0.25, 1, 4.96999979019165, 5.099999904632568, 12, -0.5, -30],
        [-0.51298407540943043, -0.17275377902344989, -3.347649265510341e-7]
        + [-1.6982684070316743e-7, -1.776482112077679e-33, -1.1759117615936186, -454.3212439563432],
    ),
    (
        jnp.i0,
        [-91.25, 90, 1],
        [1.7814076975744479e38, 5.1392383455086638e37, 1.2660658777520083],
    ),
    (
        special.i1,
        [-91.25, 90, 1],
        [-1.7716195184531606e38, 5.1106068152565982e37, 0.56515910399248503],
    ),
    (stats.norm.logpdf, [-1.8446744073709552e19], [-1.7014118346046923e38]),
    (stats.gumbel_r.logsf, [106, 40, 1], [-106, -40, -1.1783070964207178]),
    (
        stats.expon.logcdf,
        [1e-30, 2**-25, 1, 90],
        [-69.07755278982137, -17.328679528899794, -0.45867514538708189, -8.194012623990515e-40],
    ),
    (stats.gumbel_l.logcdf, [-300, -40, -1], [-300, -40, -1.1783070964207178]),
]


@pytest.mark.parametrize("function, x, values", CASES, ids=lambda f: getattr(f, "__name__", ""))
def test_values(function, x, values):
    got = np.asarray(function(np.float32(x)))
    np.testing.assert_allclose(got.astype(np.float64), values, rtol=1e-5, atol=1e-45)
    with shardax.enable_x64(True):
        np.testing.assert_allclose(function(np.float64(x)), values, rtol=3e-13, atol=1e-300)


def test_slopes_of_sinc():
    x = np.float32([0, 1, 2, 2.5, 1e8, 3e38, -0.5])
    slopes = jnp.stack([shardax.grad(jnp.sinc)(v) for v in x])
    curvature = jnp.stack([shardax.grad(shardax.grad(jnp.sinc))(v) for v in x])
    np.testing.assert_allclose(
        slopes, [0, -1, 0.5, -0.05092958178940651, 1e-8, 1 / 3e38, 1.2732395447351627], rtol=1e-5
    )
    np.testing.assert_allclose(
        curvature,
        [-(np.pi**2) / 3, 2, -0.5, -1.2158933960043921, -2e-16, 0, -1.1902271282389357],
        rtol=1e-5,
        atol=1e-37,
    )
    z = np.complex64([0.25 + 0.125j, 2.5 - 3j])
    far = np.sin(np.pi * (2.5 - 3j)) / (np.pi * (2.5 - 3j))
    np.testing.assert_allclose(jnp.sinc(z)[1], far, rtol=1e-5)
    np.testing.assert_allclose(jnp.sinc(z)[0], np.sinc(z[0]), rtol=1e-6)


def test_polygamma_of_large_numbers():
    """1 / x, -1 / x^2, 2 / x^3 of numbers whose next power is too small for a float."""
    with shardax.enable_x64(True):
        for order, x, value in ((1, 1e233, 1e-233), (2, 1e125, -1e-250), (3, 1e90, 2e-270)):
            np.testing.assert_allclose(special.polygamma(order, x), value, rtol=1e-14)
        np.testing.assert_allclose(special.zeta(2.5, 1e150), 1e-225 / 1.5, rtol=1e-13)


def test_normal_densities_of_scales_whose_squares_are_none():
    for scale in (1e-30, -1e-30, 1e30):
        got = stats.norm.logpdf(np.float32(0), 0, np.float32(scale))
        np.testing.assert_allclose(got, -np.log(abs(scale)) - 0.918938533, rtol=1e-6)


def test_shares_of_pareto_close_to_its_scale():
    with shardax.enable_x64(True):
        x = 1 + 2.0**-40
        exact = np.log(-np.expm1(-2.5 * np.log1p(2.0**-40)))
        np.testing.assert_allclose(stats.pareto.logcdf(x, 2.5), exact, rtol=1e-13)


def test_slopes_of_shares_near_1():
    """They are the densities, not differences from 1; and 0 at infinity."""
    x = np.float32([0.5, 8, 20, 60])
    for distribution in (stats.expon, stats.gumbel_r):
        slope = shardax.vmap(shardax.grad(distribution.cdf))(x)
        np.testing.assert_allclose(slope, distribution.pdf(x), rtol=1e-5)
        np.testing.assert_allclose(
            shardax.vmap(shardax.grad(distribution.sf))(x[:3]), -distribution.pdf(x[:3]), rtol=1e-5
        )
    far = np.float32([100, 1e4, 1e8])
    slope = shardax.vmap(shardax.grad(lambda v: stats.pareto.cdf(v, 2.5)))(far)
    np.testing.assert_allclose(slope, stats.pareto.pdf(far, 2.5), rtol=1e-5)
    slope = shardax.vmap(shardax.grad(stats.gumbel_l.cdf))(-x)
    np.testing.assert_allclose(slope, stats.gumbel_l.pdf(-x), rtol=1e-5)
    for f in (stats.gamma.cdf, stats.gamma.sf, stats.chi2.cdf, stats.chi2.sf):
        by_x = shardax.grad(f)
        assert by_x(np.float32(np.inf), 2.5) == 0
        assert shardax.grad(by_x)(np.float32(np.inf), 2.5) == 0
