"""Written by python/stubs.py."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shardax._core import Array
from shardax._core import Array as KeyArray
from shardax.typing import ArrayLike
from shardax.typing import DTypeLike

def PRNGKey(seed: ArrayLike, *, impl: Any = None) -> Array:
    """A raw key out of an integer seed: its words, without the dtype of keys. `random.key` makes typed ones."""
def ball(key: Array | np.ndarray[Any, Any], d: int, p: float = 2, shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Uniformly distributed points in the unit ball of a p-norm."""
def bernoulli(key: Array | np.ndarray[Any, Any], p: ArrayLike = 0.5, shape: int | Sequence[Any] | None = None, mode: str = 'low', *, out_sharding: Any = None) -> Array:
    """Booleans that are True with probability `p`."""
def beta(key: Array | np.ndarray[Any, Any], a: ArrayLike, b: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the beta distribution: the share of one of two gamma variates in their sum."""
def binomial(key: Array | np.ndarray[Any, Any], n: ArrayLike, p: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None) -> Array:
    """Draws from the binomial distribution: the number of successes in `n` trials."""
def bits(key: Array | np.ndarray[Any, Any], shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Uniformly distributed random bits, as unsigned integers."""
def categorical(key: Array | np.ndarray[Any, Any], logits: ArrayLike, axis: int = -1, shape: int | Sequence[Any] | None = None, replace: bool = True, mode: str | None = None, *, out_sharding: Any = None) -> Array:
    """Indices along `axis`, drawn with probabilities proportional to exp(logits)."""
def cauchy(key: Array | np.ndarray[Any, Any], shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the standard Cauchy distribution, density 1 / (pi (1 + x^2))."""
def chisquare(key: Array | np.ndarray[Any, Any], df: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the chi-square distribution: the sum of squares of `df` normal variates."""
def choice(key: Array | np.ndarray[Any, Any], a: ArrayLike, shape: int | Sequence[Any] = ..., replace: bool = True, p: ArrayLike | None = None, axis: int = 0, mode: str | None = None) -> Array:
    """Elements of an array, or integers below a number, drawn at random."""
def clone(key: Array | np.ndarray[Any, Any]) -> Array:
    """The same key, which may then be used once more under jax_debug_key_reuse."""
def dirichlet(key: Array | np.ndarray[Any, Any], alpha: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the Dirichlet distribution: vectors of positive numbers whose sum is 1."""
def double_sided_maxwell(key: Array | np.ndarray[Any, Any], loc: ArrayLike, scale: ArrayLike, shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None) -> Array:
    """Draws from the Maxwell distribution with random signs, times `scale` and moved by `loc`."""
def exponential(key: Array | np.ndarray[Any, Any], shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the exponential distribution with mean 1, density e^-x."""
def f(key: Array | np.ndarray[Any, Any], dfnum: ArrayLike, dfden: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the F distribution: the quotient of two chi-square variates, each over its degrees of freedom."""
def fold_in(key: Array | np.ndarray[Any, Any], data: ArrayLike) -> Array:
    """A new key out of a key and an integer: of a step, or of a device."""
def gamma(key: Array | np.ndarray[Any, Any], a: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the gamma distribution with scale 1, density proportional to x^(a-1) e^-x."""
def generalized_normal(key: Array | np.ndarray[Any, Any], p: ArrayLike, shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the distribution with density proportional to exp(-|x|^p)."""
def geometric(key: Array | np.ndarray[Any, Any], p: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the geometric distribution: the number of trials until one succeeds."""
def gumbel(key: Array | np.ndarray[Any, Any], shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, mode: str | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the standard Gumbel distribution, with the cumulative distribution exp(-exp(-x))."""
def key(seed: ArrayLike, *, impl: Any = None, dtype: Any = None) -> Array:
    """A key out of an integer seed, as a scalar array of dtype key<fry>."""
def key_data(keys: Array | np.ndarray[Any, Any]) -> Array:
    """The words that keys consist of."""
def key_dtype(impl_spec: Any = None) -> Any:
    """The dtype of typed keys of a generator, as `random.key` names it; the default one's unless given."""
def key_impl(keys: Array | np.ndarray[Any, Any]) -> Any:
    """The generator of keys, as a name that `random.key` takes."""
def laplace(key: Array | np.ndarray[Any, Any], shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the Laplace distribution with scale 1, density e^-|x| / 2."""
def loggamma(key: Array | np.ndarray[Any, Any], a: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Logarithms of draws from the gamma distribution, exact where those would be too small."""
def logistic(key: Array | np.ndarray[Any, Any], shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the standard logistic distribution, with the cumulative distribution 1 / (1 + e^-x)."""
def lognormal(key: Array | np.ndarray[Any, Any], sigma: ArrayLike = 1.0, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws whose logarithms are normal, with mean 0 and standard deviation `sigma`."""
def maxwell(key: Array | np.ndarray[Any, Any], shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the Maxwell distribution with scale 1: lengths of normal vectors in three dimensions."""
def multinomial(key: Array | np.ndarray[Any, Any], n: ArrayLike, p: ArrayLike, *, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, unroll: int = 1) -> Array:
    """Draws from the multinomial distribution: how often each of k outcomes comes up in `n` trials."""
def multivariate_normal(key: Array | np.ndarray[Any, Any], mean: ArrayLike, cov: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, method: str = 'cholesky', *, out_sharding: Any = None) -> Array:
    """Normally distributed vectors with a mean and a covariance."""
def normal(key: Array | np.ndarray[Any, Any], shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Normally distributed numbers with mean 0 and standard deviation 1."""
def orthogonal(key: Array | np.ndarray[Any, Any], n: int, shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, m: int | None = None, *, out_sharding: Any = None) -> Array:
    """Uniformly distributed orthogonal matrices, unitary ones for complex dtypes."""
def pareto(key: Array | np.ndarray[Any, Any], b: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the Pareto distribution, density b / x^(b+1) for x >= 1."""
def permutation(key: Array | np.ndarray[Any, Any], x: ArrayLike, axis: int = 0, independent: bool = False, *, out_sharding: Any = None) -> Array:
    """The slices of an array, or the integers below a number, in random order."""
def poisson(key: Array | np.ndarray[Any, Any], lam: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the Poisson distribution: counts with mean `lam`."""
def rademacher(key: Array | np.ndarray[Any, Any], shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws of -1 or 1, with equal probabilities."""
def randint(key: Array | np.ndarray[Any, Any], shape: int | Sequence[Any], minval: ArrayLike, maxval: ArrayLike, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Uniformly distributed integers in [minval, maxval)."""
def rayleigh(key: Array | np.ndarray[Any, Any], scale: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the Rayleigh distribution, density x / scale^2 exp(-x^2 / (2 scale^2))."""
def shuffle(key: Array | np.ndarray[Any, Any], x: ArrayLike, axis: int = 0) -> Array:
    """Elements in random order along `axis`: `random.permutation` with independent=True, as programs of earlier years call it."""
def split(key: Array | np.ndarray[Any, Any], num: int | Sequence[int] = 2) -> Array:
    """New keys out of one, whose draws are independent."""
def t(key: Array | np.ndarray[Any, Any], df: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from Student's t distribution."""
def triangular(key: Array | np.ndarray[Any, Any], left: ArrayLike, mode: ArrayLike, right: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the triangular distribution on [left, right] with its peak at `mode`."""
def truncated_normal(key: Array | np.ndarray[Any, Any], lower: ArrayLike, upper: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the standard normal distribution limited to (lower, upper)."""
def uniform(key: Array | np.ndarray[Any, Any], shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None, minval: ArrayLike = 0.0, maxval: ArrayLike = 1.0, *, out_sharding: Any = None) -> Array:
    """Uniformly distributed floats in [minval, maxval)."""
def wald(key: Array | np.ndarray[Any, Any], mean: ArrayLike, shape: int | Sequence[Any] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Draws from the Wald (inverse Gaussian) distribution with a mean and scale 1."""
def weibull_min(key: Array | np.ndarray[Any, Any], scale: ArrayLike, concentration: ArrayLike, shape: int | Sequence[Any] = ..., dtype: DTypeLike | None = None) -> Array:
    """Draws from the Weibull distribution with density proportional to x^(c-1) exp(-(x / scale)^c)."""
def wrap_key_data(key_bits_array: ArrayLike, *, impl: Any = None, dtype: Any = None) -> Array:
    """The keys that consist of these words."""
