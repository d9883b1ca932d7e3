"""tests/scipy/test_special.py - special functions where JAX's values are no measure: exact numbers,
identities, limits."""

import math
from fractions import Fraction

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax.scipy import special


@pytest.fixture(autouse=True)
def x64():
    with shardax.enable_x64(True):
        yield


def test_bernoulli_numbers():
    exact = [Fraction(1)]
    for n in range(1, 31):
        total = sum(math.comb(n + 1, k) * exact[k] for k in range(n))
        exact.append(-total / (n + 1))
    want = [float(b) for b in exact]
    np.testing.assert_allclose(special.bernoulli(30), want, rtol=1e-11)


def test_exponential_integrals_at_zero():
    np.testing.assert_array_equal(
        special.expn(np.arange(5), np.zeros(5)), [np.inf, np.inf, 1, 1 / 2, 1 / 3]
    )


def test_owens_t_reflects():
    """T(h, a) + T(a h, 1 / a) is made of distribution functions (Owen, 1956, 2.3)."""
    h, a = np.meshgrid(np.linspace(0.1, 5, 9), np.linspace(0.2, 4, 9))
    p, q = special.ndtr(h), special.ndtr(a * h)
    both = special.owens_t(h, a) + special.owens_t(a * h, 1 / a)
    np.testing.assert_allclose(both, 0.5 * (p + q) - p * q, atol=1e-15)


def test_gauss_quadratic_transformation():
    """2F1(a, b; 2 b; x), on both sides of 0 and close to 1 (Abramowitz and Stegun 15.3.26)."""
    x = np.array([-9, -1, 0.3, 0.95, 0.999])
    half = (1 - x) ** -0.5
    right = special.hyp2f1(1.0, 1.5, 2.0, x)
    exact = 2 * (half - 1) / x
    np.testing.assert_allclose(right, exact, rtol=1e-12)


def test_log_gamma_has_all_derivatives():
    f = lambda z: special.loggamma(z)
    z = 1.3 - 0.4j
    third = shardax.grad(
        shardax.grad(shardax.grad(f, holomorphic=True), holomorphic=True), holomorphic=True
    )
    h = 1e-3
    second = shardax.grad(shardax.grad(f, holomorphic=True), holomorphic=True)
    np.testing.assert_allclose(third(z), (second(z + h) - second(z - h)) / (2 * h), rtol=1e-5)


# loggamma(z) and its derivatives, from sums in 50 digits.
LEFT = [
    (
        (-20.3 + 0.001j),
        (
            -41.88729999577622 - 65.96812818693388j,
            5.3175155070286975 + 0.015031217863891328j,
            15.030961529182461 + 0.06883361055848806j,
            68.83036441451358 + 0.7689930829525093j,
        ),
    ),
    (
        (-16.5 - 3j),
        (
            -39.40474092361106 + 44.89158827106755j,
            2.848678055918467 - 2.96696821917869j,
            -0.057032709409475586 + 0.010059023154339408j,
            -0.0031508583223653834 + 0.0011451754901304625j,
        ),
    ),
    (
        (-15.75 + 14j),
        (
            -66.6730398933241 - 10.573812370968918j,
            3.0656946065446053 + 2.4305275025337645j,
            -0.03532578686026299 - 0.03042350245959604j,
            -0.0003226978402944846 - 0.0021493523689216157j,
        ),
    ),
    (
        (-1000.25 + 0.1j),
        (
            -5912.456778128975 - 3143.748075380526j,
            9.517861757478117 + 1.749431996743467j,
            13.61648566097815 + 9.130305629646708j,
            39.11822767852436 + 95.29689818813794j,
        ),
    ),
    (
        (-33 + 1e-09j),
        (
            -64.3312011806351 - 105.2433538917465j,
            3.5115825608380176 + 1000000000j,
            -9.999999999999999e17 - 8.908686557491592e-13j,
            -0.000890868655749159 - 1.9999999999999998e27j,
        ),
    ),
    (
        (-12.5 - 2j),
        (
            -25.552216904253164 + 35.702490408362756j,
            2.576875308404731 - 2.988993668102697j,
            -0.07497403915093233 + 0.01154455338797823j,
            -0.005506220895021499 + 0.0008676541996457846j,
        ),
    ),
]


@pytest.mark.parametrize("z, values", LEFT)
def test_log_gamma_far_to_the_left(z, values):
    f = special.loggamma
    for want in values:
        np.testing.assert_allclose(f(z), want, rtol=2e-14)
        f = shardax.grad(f, holomorphic=True)


@pytest.mark.parametrize(
    "s, q, want",
    [
        (8.0, 12.0, 5.2776079413339417e-9),
        (12.5, 20.0, 1.2505795945587956e-16),
        (2.0, 0.5, 4.9348022005446793),
        (31.0, -0.5, 3.4767304950799273e-6),
    ],
)
def test_zeta_has_all_digits(s, q, want):
    np.testing.assert_allclose(special.zeta(s, q), want, rtol=1e-15)
    single = special.zeta(np.float32(s), np.float32(q))
    np.testing.assert_allclose(single, want, rtol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zeta_of_infinite_powers(dtype):
    """The first term alone is left: sums over powers of 1 end, too."""
    with shardax.enable_x64(dtype == "float64"):
        values = special.zeta(jnp.full(4, jnp.inf, dtype), jnp.array([0.5, 1, 2, 9], dtype))
        np.testing.assert_array_equal(values, [np.inf, 1, 0, 0])
        assert special.zeta(jnp.asarray(3e38, dtype), 1) == 1


def test_gamma_far_to_the_left_is_none():
    z = np.array([-1e10 + 1e-300j, -1e10 + 0.5j, -1e100 - 3.7j, -1e4 + 0.5j])
    np.testing.assert_array_equal(special.gamma(z), 0)
    assert np.isfinite(special.loggamma(z)).all()


def test_parameters_of_hypergeometric_functions_have_two_derivatives():
    """Values of mpmath with 30 digits; JAX's own third derivatives are not offered."""
    x1, x2 = jnp.float64(-1.5), jnp.float64(-0.4)
    confluent = shardax.hessian(lambda p: special.hyp1f1(*p, x1))((0.7, 1.3))
    want = [[0.3660270915570333, 0.25464600812271729], [0.25464600812271729, -0.35748867907403677]]
    np.testing.assert_allclose(confluent, want, rtol=1e-13)
    gauss = shardax.hessian(lambda p: special.hyp2f1(*p, x2))((0.7, 1.3, 2.1))
    want = [
        [0.045751355431629964, -0.11675858758371444, 0.069726159141611512],
        [-0.11675858758371444, 0.017310991693229026, 0.035320908424102237],
        [0.069726159141611512, 0.035320908424102237, -0.049442761710158083],
    ]
    np.testing.assert_allclose(gauss, want, rtol=1e-12)
    twice = shardax.hessian(lambda a: special.hyp1f1(a, 1.3, x1))
    with pytest.raises(NotImplementedError, match="hyp1f1_by_two"):
        shardax.grad(twice)(0.7)


def test_fresnel_integrals_of_what_has_no_square():
    for x in (1e17, 1e200, np.inf):
        assert special.fresnel(jnp.float64(x)) == (0.5, 0.5)
        assert special.fresnel(jnp.float64(-x)) == (-0.5, -0.5)


def test_slopes_of_shares_at_ends():
    """There the density is a power of 0 whose exponent is 0."""
    slope = lambda f, *args: shardax.grad(f, len(args) - 1)(*map(jnp.float64, args))
    np.testing.assert_allclose(slope(special.gammainc, 1, 0), 1)
    np.testing.assert_allclose(slope(special.gammaincc, 1, 0), -1)
    np.testing.assert_allclose(slope(shardax.grad(special.gammainc, 1), 1, 0), -1)
    np.testing.assert_allclose(slope(special.betainc, 1, 3, 0), 3)
    np.testing.assert_allclose(slope(special.betainc, 3, 1, 1), 3)
    np.testing.assert_allclose(slope(special.betainc, 2, 3, 0), 0)


def test_slopes_of_legendre_polynomials_beyond_1():
    """Of order 0 they are polynomials, whatever the root of 1 - x^2 is."""
    x = jnp.array([1.5])
    slopes = shardax.jvp(lambda x: special.lpmn_values(2, 2, x, False), (x,), (jnp.ones(1),))[1]
    np.testing.assert_allclose(slopes[0, :, 0], [0, 1, 4.5])


def test_i0_is_even():
    """Its derivatives at 0, where exp(|x|) has none, are those of 1 + x^2 / 4."""
    once = shardax.grad(jnp.i0)
    for f, want in ((jnp.i0, 1.0), (once, 0.0), (shardax.grad(once), 0.5)):
        np.testing.assert_allclose(f(0.0), want, atol=1e-6)
    x = np.float32([0.1, -0.5, 3.0, 20.0, -80.0])
    np.testing.assert_allclose(jnp.i0(x), np.i0(x.astype(np.float64)), rtol=2e-5)


def test_real_functions_refuse_complex_numbers():
    for f, count in ((special.kl_div, 2), (special.rel_entr, 2), (special.betainc, 3)):
        with pytest.raises(
            ValueError, match=f"{f.__name__} does not support complex-valued inputs"
        ):
            f(*[1j] * count)


def test_integrals_of_numbers_are_strong():
    names = ("expi", "exp1", "spence", "erfcx", "dawsn")
    found = [getattr(special, name)(0.5) for name in names] + [special.expn(2, 0.5)]
    assert not any(x.weak_type for x in found)
