"""Written by python/stubs.py."""

from shardax._core import Array
from shardax._core import Array as KeyArray
from shardax.random._keys import key_dtype as key_dtype
from shardax.random._keys import key_impl as key_impl

def PRNGKey(seed, *, impl=None) -> Array:
    """A key out of an integer seed, as uint32[2]; of dtype key<fry> under jax_enable_custom_prng."""
def ball(key, d, p=2, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Uniform in the unit ball of the p-norm in d dimensions."""
def bernoulli(key, p=0.5, shape=None, mode='low', *, out_sharding=None) -> Array:
    """True with probability p, in the shape of p or `shape`."""
def beta(key, a, b, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The beta distribution: the share of one of two gamma variates in their sum."""
def binomial(key, n, p, shape=None, dtype=None) -> Array:
    """The number of successes in `n` trials of probability `p`, as a float; NaN where neither is possible."""
def bits(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Uniformly random unsigned integers; uint8 where dtype has fewer bits."""
def categorical(key, logits, axis=-1, shape=None, replace=True, mode=None, *, out_sharding=None) -> Array:
    """Indices along `axis`, drawn with probabilities proportional to exp(logits)."""
def cauchy(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """The Cauchy distribution."""
def chisquare(key, df, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The chi-square distribution with `df` degrees of freedom."""
def choice(key, a, shape=..., replace=True, p=None, axis=0, mode=None) -> Array:
    """Elements of `a` (or of 0, ..., a - 1) drawn with probabilities p."""
def clone(key) -> Array:
    """The same key, which may then be used once more under jax_debug_key_reuse."""
def dirichlet(key, alpha, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The Dirichlet distribution with parameters along the last dimension of `alpha`."""
def double_sided_maxwell(key, loc, scale, shape=..., dtype=None) -> Array:
    """Maxwell variates of random sign, times `scale` and moved by `loc`."""
def exponential(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """The exponential distribution with mean 1."""
def f(key, dfnum, dfden, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The F distribution with `dfnum` and `dfden` degrees of freedom."""
def fold_in(key, data) -> Array:
    """A new key out of a key and an integer."""
def gamma(key, a, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The gamma distribution with shape parameter `a` and scale 1."""
def generalized_normal(key, p, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """The distribution with density proportional to exp(-|x|^p)."""
def geometric(key, p, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The number of trials of probability `p` until one succeeds; int32 unless `dtype` says."""
def gumbel(key, shape=..., dtype=None, mode=None, *, out_sharding=None) -> Array:
    """The standard Gumbel distribution."""
def key(seed, *, impl=None, dtype=None) -> Array:
    """A key out of an integer seed, as a scalar of dtype key<fry>."""
def key_data(keys) -> Array:
    """The words of keys, uint32[..., 2]; as many as a key of the generator has."""
def laplace(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """The Laplace distribution with scale 1."""
def loggamma(key, a, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The logarithm of gamma variates, exact also where those would be too small."""
def logistic(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """The logistic distribution."""
def lognormal(key, sigma=1.0, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The exponential of normal variates with standard deviation `sigma`, real or complex."""
def maxwell(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """The Maxwell distribution with scale 1: the length of a normal vector in three dimensions."""
def multinomial(key, n, p, *, shape=None, dtype=None, unroll=1) -> Array:
    """How often each of the outcomes with probabilities `p` (..., k) comes up in `n` (...) trials."""
def multivariate_normal(key, mean, cov, shape=None, dtype=None, method='cholesky', *, out_sharding=None) -> Array:
    """Normal vectors with that mean (..., n) and covariance (..., n, n)."""
def normal(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """Normal with mean 0 and standard deviation 1; complex numbers have variance 1 in all."""
def orthogonal(key, n, shape=..., dtype=None, m=None, *, out_sharding=None) -> Array:
    """Uniformly distributed orthogonal, for complex dtypes unitary, matrices (..., n, n)."""
def pareto(key, b, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The Pareto distribution with exponent `b`, from 1 on."""
def permutation(key, x, axis=0, independent=False, *, out_sharding=None) -> Array:
    """`x` (or 0, ..., x - 1 for an int) in random order along `axis`."""
def poisson(key, lam, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The Poisson distribution with mean `lam`; int32 unless `dtype` says otherwise."""
def rademacher(key, shape=..., dtype=None, *, out_sharding=None) -> Array:
    """-1 or 1, int32 unless `dtype` says otherwise."""
def randint(key, shape, minval, maxval, dtype=None, *, out_sharding=None) -> Array:
    """Uniform integers in [minval, maxval); int32 unless `dtype` says otherwise."""
def rayleigh(key, scale, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The Rayleigh distribution with that scale."""
def shuffle(key, x, axis=0) -> Array:
    """permutation(key, x, axis, independent=True), as programs of earlier years call it."""
def split(key, num=2) -> Array:
    """`num` new keys (or keys in a shape) out of one."""
def t(key, df, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Student's t distribution with `df` degrees of freedom."""
def triangular(key, left, mode, right, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The triangular distribution on [left, right] with its peak at `mode`."""
def truncated_normal(key, lower, upper, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """Normal, limited to (lower, upper)."""
def uniform(key, shape=..., dtype=None, minval=0.0, maxval=1.0, *, out_sharding=None) -> Array:
    """Uniform in [minval, maxval)."""
def wald(key, mean, shape=None, dtype=None, *, out_sharding=None) -> Array:
    """The Wald (inverse Gaussian) distribution with that mean and scale 1."""
def weibull_min(key, scale, concentration, shape=..., dtype=None) -> Array:
    """The Weibull distribution; the parameters broadcast against `shape`."""
def wrap_key_data(key_bits_array, *, impl=None, dtype=None) -> Array:
    """uint32[..., 2] (as many words as a key of the generator has) as keys."""
