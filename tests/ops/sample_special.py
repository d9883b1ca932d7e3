"""tests/ops/sample_special.py - samples of special functions; their references integrate or sum."""

import numpy as np
import references as ref
from sample_kinds import COMPLEX, FLOAT, Arg, Sample, binary, unary

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


def integral(f, low, high):
    """Of f over [low, high], whose ends may be arrays, by Gauss and Legendre."""
    low, high = np.asarray(low)[..., None], np.asarray(high)[..., None]
    middle, half = (low + high) / 2, (high - low) / 2
    return (f(middle + half * NODES) * WEIGHTS).sum(-1) * half[..., 0]


def column(x):
    return np.asarray(x)[..., None]


def expi(x):
    rise = integral(lambda t: np.expm1(t) / t, 0 * x, x)
    return np.euler_gamma + np.log(np.abs(x)) + rise


def expn(n, x):
    """With t = 1 / u."""
    return integral(lambda u: np.exp(-column(x) / u) * u ** (column(n) - 2), 0 * x, 0 * x + 1)


def sine_integral(x):
    return integral(lambda t: np.sinc(t / np.pi), 0 * x, x)


def cosine_integral(x):
    fall = integral(lambda t: (np.cos(t) - 1) / t, 0 * x, x)
    return np.euler_gamma + np.log(np.abs(x)) + fall


def owens_t(h, a):
    f = lambda u: np.exp(-(column(h) ** 2) * (1 + u * u) / 2) / (1 + u * u)
    return integral(f, 0 * a, a) / (2 * np.pi)


def faddeeva(z):
    """For Im z > -3."""
    x, end = column(z), 0 * z.real + 30
    return integral(lambda t: np.exp(-t * t / 4 + 1j * x * t), 0 * end, end) / np.sqrt(np.pi)


def log_gamma(z, order):
    """By differences of Stirling's series at z + 40, less the sum over the steps between."""
    w = z + 40

    def stirling(w):
        tail = 1 / (12 * w) - 1 / (360 * w**3) + 1 / (1260 * w**5)
        return (w - 0.5) * np.log(w) - w + 0.5 * np.log(2 * np.pi) + tail

    def psi(w):
        return np.log(w) - 1 / (2 * w) - 1 / (12 * w**2) + 1 / (120 * w**4) - 1 / (252 * w**6)

    steps = [z + k for k in range(40)]
    if order == 0:
        return stirling(w) - sum(np.log(s) for s in steps)
    return psi(w) - sum(1 / s for s in steps)


def hypergeometric(above, below):
    """The sum of products of rising factorials, x^k / k!, for operands (*above, *below, x)."""

    def function(*operands):
        *parameters, x = operands
        total = term = np.ones_like(x)
        for k in range(200):
            for i, p in enumerate(parameters):
                term = term * (p + k) if i < above else term / (p + k)
            term = term * x / (k + 1)
            total = total + term
        return total

    return function


def by(position, function):
    """The derivative of a function of several operands by one, by differences."""

    def slope(*operands):
        def moved(step):
            return function(*(o + step * (i == position) for i, o in enumerate(operands)))

        h = 1e-3
        return (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)

    return slope


def series(above, below, *positions, **rest):
    """A sample of a hypergeometric function, or of its derivative by parameters."""
    function = hypergeometric(above, below)
    for position in positions:
        function = by(position, function)
    count = above + below
    return Sample(
        lambda *operands, **_: function(*operands),
        (*(Arg(domain=(0.5, 3)),) * count, Arg(domain=(-0.6, 0.6))),
        dtypes=FLOAT,
        elementwise=True,
        specials=False,
        tolerance=(64, 2048, 2**24)[len(positions)],
        **{"twice": (count,) if positions else None, **rest},
    )


def second(above, below, first, second):
    return series(
        above,
        below,
        first,
        second,
        params={"first": first, "second": second},
        grad=(),
        twice=(),
        refuses_jvp=f"Differentiation rule for 'hyp{above}f{below}_by_two' not implemented",
    )


def real(reference, domain, **rest):
    return unary(reference, domain, FLOAT, specials=False, tolerance=64, **rest)


SAMPLES = {
    "expi": real(expi, (0.5, 4)),
    "expn": Sample(
        expn,
        (Arg(values=((0, 1, 2, 5),) * 3), Arg(domain=(0.4, 3))),
        dtypes=FLOAT,
        elementwise=True,
        specials=False,
        grad=(1,),
        twice=(1,),
        tolerance=512,
    ),
    "sine_integral": real(sine_integral, (-9, 9)),
    "cosine_integral": real(cosine_integral, (0.7, 9)),
    "fresnel_sine": real(
        lambda x: integral(lambda t: np.sin(np.pi / 2 * t * t), 0 * x, x), (-4, 4)
    ),
    "fresnel_cosine": real(
        lambda x: integral(lambda t: np.cos(np.pi / 2 * t * t), 0 * x, x), (-4, 4)
    ),
    "spence": real(
        lambda x: integral(lambda t: np.log(t) / (1 - t), 0 * x + 1, x), (0.2, 3), exact=False
    ),
    "owens_t": binary(owens_t, (-2, 2), FLOAT, (-3, 3), specials=False, tolerance=64),
    "erfcx": real(lambda x: np.exp(x * x) * ref.erfc(x), (-2, 3)),
    "dawson": real(lambda x: integral(lambda t: np.exp(t * t - column(x) ** 2), 0 * x, x), (-4, 4)),
    "faddeeva": unary(faddeeva, (-2, 2), COMPLEX, specials=False, tolerance=256),
    "complex_log_gamma": tuple(
        unary(log_gamma, (0.5, 3), COMPLEX, specials=False, tolerance=512, params={"order": order})
        for order in (0, 1)
    ),
    "hyp1f1": series(1, 1),
    "hyp1f1_by_a": series(1, 1, 0),
    "hyp1f1_by_b": series(1, 1, 1),
    "hyp1f1_by_two": tuple(second(1, 1, *two) for two in ((0, 0), (0, 1), (1, 1))),
    "hyp2f1": series(2, 1),
    "hyp2f1_by_a": series(2, 1, 0),
    "hyp2f1_by_c": series(2, 1, 2),
    "hyp2f1_by_two": tuple(second(2, 1, *two) for two in ((0, 0), (0, 1), (0, 2), (2, 2))),
}
