"""Written by python/stubs.py."""

from shardax._core import Array
from shardax._core import Array as KeyArray
from shardax.random._keys import key_dtype as key_dtype
from shardax.random._keys import key_impl as key_impl

def PRNGKey(seed, *, impl=None) -> Array:
    """A raw key out of an integer seed: its words, without the dtype of keys. `random.key` makes typed ones."""
def ball(key, d, p=2, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Uniformly distributed points in the unit ball of a p-norm."""
def bernoulli(key, p=0.5, shape=None, mode='low', *, out_sharding=None) -> Array:
    """Booleans that are True with probability `p`."""
def beta(key, a, b, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from the beta distribution: the share of one of two gamma variates in their sum."""
def binomial(key, n, p, shape=None, dtype=None) -> Array:
    """Draws from the binomial distribution: the number of successes in `n` trials."""
def bits(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Uniformly distributed random bits, as unsigned integers."""
def categorical(key, logits, axis=-1, shape=None, replace=True, mode=None, *, out_sharding=None) -> Array:
    """Indices along `axis`, drawn with probabilities proportional to exp(logits)."""
def cauchy(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Draws from the standard Cauchy distribution, density 1 / (pi (1 + x^2))."""
def chisquare(key, df, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from the chi-square distribution: the sum of squares of `df` normal variates."""
def choice(key, a, shape=..., replace=True, p=None, axis=0, mode=None) -> Array:
    """Elements of an array, or integers below a number, drawn at random."""
def clone(key) -> Array:
    """The same key, which may then be used once more under jax_debug_key_reuse."""
def dirichlet(key, alpha, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from the Dirichlet distribution: vectors of positive numbers whose sum is 1."""
def double_sided_maxwell(key, loc, scale, shape=..., dtype=None) -> Array:
    """Draws from the Maxwell distribution with random signs, times `scale` and moved by `loc`."""
def exponential(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Draws from the exponential distribution with mean 1, density e^-x."""
def f(key, dfnum, dfden, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from the F distribution: the quotient of two chi-square variates, each over its degrees of freedom."""
def fold_in(key, data) -> Array:
    """A new key out of a key and an integer: of a step, or of a device."""
def gamma(key, a, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from the gamma distribution with scale 1, density proportional to x^(a-1) e^-x."""
def generalized_normal(key, p, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Draws from the distribution with density proportional to exp(-|x|^p)."""
def geometric(key, p, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from the geometric distribution: the number of trials until one succeeds."""
def gumbel(key, shape=..., dtype=None, mode=None, *, out_sharding=None) -> Array:
    """Draws from the standard Gumbel distribution, with the cumulative distribution exp(-exp(-x))."""
def key(seed, *, impl=None, dtype=None) -> Array:
    """A key out of an integer seed, as a scalar array of dtype key<fry>."""
def key_data(keys) -> Array:
    """The words that keys consist of."""
def laplace(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Draws from the Laplace distribution with scale 1, density e^-|x| / 2."""
def loggamma(key, a, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Logarithms of draws from the gamma distribution, exact where those would be too small."""
def logistic(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Draws from the standard logistic distribution, with the cumulative distribution 1 / (1 + e^-x)."""
def lognormal(key, sigma=1.0, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws whose logarithms are normal, with mean 0 and standard deviation `sigma`."""
def maxwell(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Draws from the Maxwell distribution with scale 1: lengths of normal vectors in three dimensions."""
def multinomial(key, n, p, *, shape=None, dtype=None, unroll=1) -> Array:
    """Draws from the multinomial distribution: how often each of k outcomes comes up in `n` trials."""
def multivariate_normal(key, mean, cov, shape=None, dtype=None, method='cholesky', *, out_sharding=None) -> Array:
    """Normally distributed vectors with a mean and a covariance."""
def normal(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Normally distributed numbers with mean 0 and standard deviation 1."""
def orthogonal(key, n, shape=..., dtype=None, m=None, *, out_sharding=None) -> Array:
    """Uniformly distributed orthogonal matrices, unitary ones for complex dtypes."""
def pareto(key, b, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from the Pareto distribution, density b / x^(b+1) for x >= 1."""
def permutation(key, x, axis=0, independent=False, *, out_sharding=None) -> Array:
    """The slices of an array, or the integers below a number, in random order."""
def poisson(key, lam, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from the Poisson distribution: counts with mean `lam`."""
def rademacher(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Draws of -1 or 1, with equal probabilities."""
def randint(key, shape, minval, maxval, dtype=None, *, out_sharding=None) -> Array:
    """Uniformly distributed integers in [minval, maxval)."""
def rayleigh(key, scale, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from the Rayleigh distribution, density x / scale^2 exp(-x^2 / (2 scale^2))."""
def shuffle(key, x, axis=0) -> Array:
    """Elements in random order along `axis`: `random.permutation` with independent=True, as programs of earlier years call it."""
def split(key, num=2) -> Array:
    """New keys out of one, whose draws are independent."""
def t(key, df, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from Student's t distribution."""
def triangular(key, left, mode, right, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from the triangular distribution on [left, right] with its peak at `mode`."""
def truncated_normal(key, lower, upper, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from the standard normal distribution limited to (lower, upper)."""
def uniform(key, shape=..., dtype=None, minval=0.0, maxval=1.0, *, out_sharding=None) -> Array:
    """Uniformly distributed floats in [minval, maxval)."""
def wald(key, mean, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Draws from the Wald (inverse Gaussian) distribution with a mean and scale 1."""
def weibull_min(key, scale, concentration, shape=..., dtype=None) -> Array:
    """Draws from the Weibull distribution with density proportional to x^(c-1) exp(-(x / scale)^c)."""
def wrap_key_data(key_bits_array, *, impl=None, dtype=None) -> Array:
    """The keys that consist of these words."""
