"""tests/scipy/test_incomplete_gamma.py - the incomplete gamma function for large and small
parameters. Exact values are integrals in 40 digits."""

import numpy as np
import pytest
import shardax
from shardax import lax
from shardax import numpy as jnp
from shardax.scipy import special


@pytest.fixture(autouse=True)
def x64():
    with shardax.enable_x64(True):
        yield


# a, x, the lower share, the upper share, the derivative of the lower one by a.
EXACT = [
    (1e10, 1e10, 0.5000013298076014, 0.4999986701923987, -3.989422804047572e-06),
    (1e10, 1.00001e10, 0.8413447460725758, 0.15865525392742424, -2.4197032123594678e-06),
    (1e10, 0.99995e10, 2.8653265451088904e-07, 0.9999997134673455, -1.486137307840872e-11),
    (1e15, 1e15, 0.5000000042052208, 0.4999999957947791, -1.2615662610100802e-08),
    (1e5, 1.001e5, 0.6244451307044055, 0.3755548692955945, -0.0011994802801501906),
    (1e5, 9.8e4, 9.690835158160487e-11, 0.9999999999030916, -2.0036555337409987e-12),
    (1e4, 1.4e4, 1.0, 1.2615264204743979e-278, None),
    (5e3, 4e3, 1.5598621812189688e-52, 1.0, -3.4946483863873185e-53),
    (150.0, 170.0, 0.9443655686898067, 0.05563443131019329, -0.008982618711489669),
    (300.0, 200.0, 2.7114684433431115e-11, 0.9999999999728854, -1.1210215809670982e-11),
    (300.0, 420.0, 0.9999999997039923, 2.9600766709565617e-10, -1.0243097672186766e-10),
    (200.0, 200.0, 0.5094034180072363, 0.4905965819927637, -0.02822123750774761),
    (99.0, 100.0, 0.5531597950882958, 0.4468402049117042, -0.039727860702088495),
    (10.0, 1e-8, 2.7557318973463684e-87, 1.0, None),
    (10.0, 1e-20, 2.7557319223986034e-207, 1.0, None),
    (20.0, 2.0, 6.443731393112094e-14, 0.9999999999999356, -1.502881645099276e-13),
    (1e-10, 0.5, 0.9999999999440227, 5.597735948054988e-11, -0.5597735948348368),
    (1e-10, 1e-05, 0.999999998906428, 1.0935719794146443e-09, -10.935719788249191),
    (1e-20, 1e-20, 1.0, 4.547448619497938e-19, -45.474486194979384),
    (1e-300, 1.0, 1.0, 2.193839343955203e-301, None),
    (0.01, 0.3, 0.990927603578235, 0.009072396421765093, -0.9087458022685458),
    (0.3, 0.2, 0.6575067242697218, 0.34249327573027827, -1.0233803072203944),
    (1e-05, 1.05, 0.9999979812504735, 2.018749526533529e-06, -0.20187709208245155),
    (0.9, 1.0, 0.6753924416740532, 0.3246075583259468, -0.43299734108661136),
    (1e-12, 30.0, 1.0, 3.021552010700928e-27, -3.021552010713044e-15),
    (0.45, 0.1, 0.3885460399171319, 0.6114539600828681, -0.9086668887850703),
]


@pytest.mark.parametrize("a, x, lower, upper, slope", EXACT)
def test_values(a, x, lower, upper, slope):
    np.testing.assert_allclose(special.gammainc(a, x), lower, rtol=1e-12)
    np.testing.assert_allclose(special.gammaincc(a, x), upper, rtol=2e-12)
    if slope is not None:
        np.testing.assert_allclose(lax.igamma_grad_a(a, x), slope, rtol=2e-10)


@pytest.mark.parametrize(
    "a, x, lower",
    [
        (0.05, 1e-300, 1.0272168652716744e-15),
        (0.5, 0.25, 0.52049987781304654),
        (0.75, 1.0, 0.73998003053025869),
        (1.0, 0.001, 0.00099950016662500835),
        (0.001, 0.9, 0.99973957030017818),
    ],
)
def test_small_parameters_keep_all_digits(a, x, lower):
    np.testing.assert_allclose(special.gammainc(a, x), lower, rtol=1e-15)
    single = special.gammainc(np.float32(a), np.float32(x))
    np.testing.assert_allclose(
        single, special.gammainc(float(np.float32(a)), float(np.float32(x))), rtol=1e-7
    )


def test_the_pieces_meet():
    a = np.repeat([99.999999, 100.0, 100.000001, 1e4, 1e7], 8)
    edges = np.tile(np.repeat([0.7, 1.3, 1.0, 1 + 1e-9], 2), 5)
    x = a * edges * np.tile([1 - 1e-12, 1 + 1e-12], 20)
    for f in (special.gammainc, special.gammaincc, lax.igamma_grad_a):
        below, above = np.asarray(f(a, x)).reshape(-1, 4, 2).transpose(2, 0, 1)
        np.testing.assert_allclose(below, above, rtol=2e-5, atol=1e-300)
    share = special.gammainc(a, x) + special.gammaincc(a, x)
    np.testing.assert_allclose(share, np.ones(a.size), rtol=1e-14)


# Of larger ones the difference has few digits.
@pytest.mark.parametrize("a, x", [row[:2] for row in EXACT if row[0] < 1e6])
def test_slope_by_x_is_the_density(a, x):
    h = 1e-4 * min(x, np.sqrt(a) if a > 1 else x)
    f = special.gammainc if lax.igamma(a, x) < 0.5 else lambda a, x: -special.gammaincc(a, x)
    want = (8 * (f(a, x + h) - f(a, x - h)) - (f(a, x + 2 * h) - f(a, x - 2 * h))) / (12 * h)
    np.testing.assert_allclose(shardax.grad(special.gammainc, 1)(a, x), want, rtol=1e-8)


def test_far_points_take_no_time():
    a = np.array([1.0, 0.5, 3.0, 1e4, 1e300, 1e5])
    x = np.array([1e300, 1e10, 1e5, 1e9, 1e-300, 1.0])
    np.testing.assert_array_equal(special.gammaincc(a, x), [0, 0, 0, 0, 1, 1])
    np.testing.assert_array_equal(lax.igamma_grad_a(a, x), np.zeros(6))
    assert np.isfinite(lax.random_gamma_grad(a[:4], x[:4])).all()


def test_second_derivatives_of_variates():
    a = jnp.array([0.05, 0.5, 2.0, 7.0, 30.0, 150.0, 150.0, 1e4, 3e8])
    x = jnp.array([0.02, 0.098, 1.12, 10.2, 50.0, 140.0, 250.0, 1.01e4, 3e8])
    for by_a, by_x in ((a, 0 * x), (0 * a, x)):

        def moved(s, by_a=by_a, by_x=by_x):
            return lax.random_gamma_grad(a + 1e-4 * s * by_a, x + 1e-4 * s * by_x)

        differences = (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / 12e-4
        slope = shardax.jvp(lax.random_gamma_grad, (a, x), (by_a, by_x))[1]
        np.testing.assert_allclose(slope, differences, rtol=1e-7)


def test_draws_have_second_derivatives_by_their_parameters():
    # A draw keeps its quantile, so that its slope g(a, x) changes by dg/da + g dg/dx.
    key, a = shardax.random.key(0), jnp.array([0.5, 2.0, 7.0])
    x, ones = shardax.random.gamma(key, a, (3,)), jnp.ones(3)
    slope = lax.random_gamma_grad(a, x)
    bend = shardax.jvp(lax.random_gamma_grad, (a, x), (ones, slope))[1]
    for draw, expected in (
        (shardax.random.gamma, bend),
        (shardax.random.loggamma, bend / x - (slope / x) ** 2),
    ):
        second = shardax.grad(lambda a: shardax.grad(lambda a: draw(key, a, (3,)).sum())(a).sum())  # noqa: B023
        np.testing.assert_allclose(second(a), expected, rtol=1e-12)
