"""shardax.scipy.stats - probability distributions and statistics of samples."""

from shardax.scipy.stats import (
    bernoulli,
    beta,
    betabinom,
    binom,
    cauchy,
    chi2,
    dirichlet,
    expon,
    gamma,
    gennorm,
    geom,
    gumbel_l,
    gumbel_r,
    laplace,
    logistic,
    multinomial,
    multivariate_normal,
    nbinom,
    norm,
    pareto,
    poisson,
    t,
    truncnorm,
    uniform,
    vonmises,
    wrapcauchy,
)
from shardax.scipy.stats._kde import gaussian_kde
from shardax.scipy.stats._samples import mode, rankdata, sem
