"""shardax.random - random numbers from explicit keys.

A key is split, never used twice. The generator is threefry-2x32 (Salmon et al., "Parallel random
numbers: as easy as 1, 2, 3", SC 2011), with the streams of JAX 0.10: the same key draws the same
bits. `config.update("jax_threefry_partitionable", False)` selects the older stream.
"""

from shardax.random._continuous import (
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    rademacher,
    truncated_normal,
)
from shardax.random._counts import poisson
from shardax.random._gamma import (
    ball,
    beta,
    chisquare,
    dirichlet,
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
    key_impl,
    split,
    wrap_key_data,
)
from shardax.random._matrices import multivariate_normal, orthogonal
from shardax.random._permute import categorical, choice, permutation
from shardax.random._uniform import bernoulli, bits, normal, randint, uniform
