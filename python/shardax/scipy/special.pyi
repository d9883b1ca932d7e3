"""Written by python/stubs.py."""

from typing import Any

from shardax._core import Array
from shardax._transform.custom.jvp import custom_jvp as custom_jvp
from shardax.typing import ArrayLike

def bernoulli(n: ArrayLike) -> Array:
    """The Bernoulli numbers B_0 ... B_n, with B_1 = -1/2, as n + 1 floats."""
def bessel_jn(z: ArrayLike, *, v: ArrayLike, n_iter: int = 50) -> Array:
    """Bessel functions of the first kind J_0 ... J_v at real numbers, by Miller's backward recurrence."""
def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """The beta function gamma(a) gamma(b) / gamma(a + b), elementwise."""
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularized incomplete beta function, elementwise."""
def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """The logarithm of the beta function, elementwise."""
def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """The transformation of Box and Cox, elementwise: (x^lmbda - 1) / lmbda; log(x) where lmbda is 0."""
def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """The transformation `boxcox` of 1 + x, elementwise, exact for small x."""
def comb(N: ArrayLike, k: ArrayLike, *, repetition: bool = False) -> Array:
    """The number of ways to choose k of N things, elementwise: 0 where k is negative or more than N."""
def dawsn(x: ArrayLike) -> Array:
    """Dawson's integral, elementwise: e^(-x^2) times the integral of e^(t^2) from 0 to x."""
def digamma(x: ArrayLike) -> Array:
    """The derivative of `gammaln`, elementwise; NaN at 0, -1, -2 ..."""
def entr(x: ArrayLike) -> Array:
    """The entropy -x * log(x), elementwise; 0 at 0, -inf below."""
def erf(x: ArrayLike) -> Array:
    """The error function, 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x, elementwise."""
def erfc(x: ArrayLike) -> Array:
    """The complementary error function 1 - erf(x), elementwise, exact for large x."""
def erfcx(x: ArrayLike) -> Array:
    """The function e^(x^2) erfc(x), elementwise, which does not overflow for large x; x may be complex."""
def erfinv(x: ArrayLike) -> Array:
    """The inverse of the error function, elementwise; infinite at -1 and 1, NaN beyond."""
def exp1(x: ArrayLike) -> Array:
    """The exponential integral E_1, elementwise: that of e^-t / t from x on; NaN for x < 0."""
def expi(x: ArrayLike) -> Array:
    """The exponential integral, elementwise: the principal value of that of e^t / t from -inf to x; -inf at 0."""
def expit(x: ArrayLike) -> Array:
    """The logistic function 1 / (1 + exp(-x)), elementwise."""
def expn(n: ArrayLike, x: ArrayLike) -> Array:
    """The exponential integral of order n, elementwise: that of e^(-x t) / t^n over t from 1 on."""
def factorial(n: ArrayLike, exact: bool = False) -> Array:
    """The factorial n!, elementwise, as a float; 0 for negative n."""
def fresnel(x: ArrayLike) -> tuple[Array, Array]:
    """Fresnel's integrals (S, C), elementwise: those of sin and cos of pi t^2 / 2 from 0 to x."""
def gamma(x: ArrayLike) -> Array:
    """The gamma function, elementwise, of real or complex numbers."""
def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularized lower incomplete gamma function, elementwise."""
def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularized upper incomplete gamma function, 1 - gammainc(a, x), elementwise, without the loss of digits."""
def gammaln(x: ArrayLike) -> Array:
    """The logarithm of |gamma(x)|, elementwise; inf at 0, -1, -2 ..."""
def gammasgn(x: ArrayLike) -> Array:
    """The sign of the gamma function, elementwise: NaN at negative integers and of NaN, the sign of x at 0."""
def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The confluent hypergeometric function 1F1, elementwise: the sum of (a)_k / (b)_k x^k / k!."""
def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Array:
    """Gauss's hypergeometric function 2F1, elementwise: the sum of (a)_k (b)_k / (c)_k x^k / k!."""
def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 0, elementwise."""
def i0e(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 0 times exp(-|x|), elementwise."""
def i1(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 1, elementwise."""
def i1e(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 1 times exp(-|x|), elementwise."""
def kl_div(p: ArrayLike, q: ArrayLike) -> Array:
    """The Kullback-Leibler divergence p * log(p / q) - p + q, elementwise."""
def log_ndtr(x: ArrayLike, series_order: int = 3) -> Array:
    """The logarithm of the normal distribution function, elementwise, which does not underflow."""
def log_softmax(x: ArrayLike, /, *, axis: int | None = None) -> Array:
    """The logarithm of the softmax: x - logsumexp(x) along `axis` (None: all)."""
def loggamma(x: ArrayLike) -> Array:
    """The logarithm of the gamma function, elementwise."""
def logit(x: ArrayLike) -> Array:
    """The inverse of the logistic function, log(x / (1 - x)), elementwise."""
def logsumexp(a: ArrayLike, axis: int | None = None, b: ArrayLike | None = None, keepdims: bool = False, return_sign: bool = False, where: ArrayLike | None = None) -> Any:
    """The logarithm of a sum of exponentials, log(sum(b * exp(a))) over `axis`, without overflow."""
def lpmn(m: ArrayLike, n: ArrayLike, z: ArrayLike) -> tuple[Array, Array]:
    """Legendre functions of the first kind, as `lpmn_values`, and their derivatives by z."""
def lpmn_values(m: ArrayLike, n: ArrayLike, z: ArrayLike, is_normalized: Any) -> Array:
    """Legendre functions of the first kind of all orders and degrees up to n = m, at points."""
def modified_bessel(order: None, x: ArrayLike) -> Array:
    """The function of order 0 or 1 of a floating array."""
def multigammaln(a: ArrayLike, d: Any) -> Array:
    """The logarithm of the gamma function of d dimensions, elementwise."""
def ndtr(x: ArrayLike) -> Array:
    """The cumulative distribution function of the standard normal distribution, elementwise."""
def ndtri(p: ArrayLike) -> Array:
    """The inverse of the normal distribution function, elementwise: -inf at 0, inf at 1, NaN outside."""
def owens_t(h: Any, a: ArrayLike) -> Array:
    """Owen's T function, elementwise: the probability of X > h and 0 < Y < a X for standard normal X and Y."""
def poch(z: ArrayLike, m: ArrayLike) -> Array:
    """The rising factorial (Pochhammer's symbol) gamma(z + m) / gamma(z), elementwise."""
def polygamma(n: ArrayLike, x: ArrayLike) -> Array:
    """The n-th derivative of the digamma function, elementwise."""
def real(name: str, *operands: Any) -> Array:
    """Operands of one real inexact dtype."""
def rel_entr(p: ArrayLike, q: ArrayLike) -> Array:
    """The relative entropy p * log(p / q), elementwise."""
def sici(x: ArrayLike) -> tuple[Array, Array]:
    """The sine and the cosine integral, elementwise: (Si(x), Ci(|x|))."""
def softmax(x: ArrayLike, /, *, axis: int | None = None) -> Array:
    """The softmax: exp(x) over its sum along `axis` (None: all)."""
def spence(x: ArrayLike) -> Array:
    """Spence's function, elementwise: the integral of log(t) / (1 - t) from 1 to x, the dilogarithm of 1 - x."""
def sph_harm_y(n: ArrayLike, m: ArrayLike, theta: ArrayLike, phi: ArrayLike, diff_n: Any = None, n_max: Any = None) -> Array:
    """Spherical harmonics Y_n^m at polar angles `theta` in [0, pi] and azimuths `phi`."""
def wofz(z: ArrayLike) -> Array:
    """Faddeeva's function, e^(-z^2) erfc(-i z), elementwise; complex."""
def xlog1py(x: ArrayLike, y: ArrayLike) -> Array:
    """The function x * log1p(y), elementwise, 0 where x is 0."""
def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """The function x * log(y), elementwise, 0 where x is 0."""
def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """The Hurwitz zeta function, elementwise: the sum of (q + k)^-x over k = 0, 1, ..."""
