"""shardax.random - random numbers from explicit keys.

A key is split, never used twice. The generator is threefry-2x32 with the streams of JAX 0.10: the
same key draws the same bits. It is Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC
2011. `config.update("jax_threefry_partitionable", False)` selects the older stream.
"""

from shardax._core import Array as KeyArray  # in annotations of earlier years
from shardax.random._continuous import (
    cauchy,
    double_sided_maxwell,
    exponential,
    gumbel,
    laplace,
    logistic,
    maxwell,
    rademacher,
    truncated_normal,
)
from shardax.random._counts import binomial, geometric, multinomial, poisson
from shardax.random._gamma import (
    ball,
    beta,
    chisquare,
    dirichlet,
    f,
    gamma,
    generalized_normal,
    loggamma,
    t,
)
from shardax.random._keys import (
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_dtype,
    key_impl,
    split,
    wrap_key_data,
)
from shardax.random._matrices import multivariate_normal, orthogonal
from shardax.random._parametrised import lognormal, pareto, rayleigh, triangular, wald, weibull_min
from shardax.random._permute import categorical, choice, permutation, shuffle
from shardax.random._uniform import bernoulli, bits, normal, randint, uniform
