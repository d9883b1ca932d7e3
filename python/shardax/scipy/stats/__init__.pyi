"""Written by python/stubs.py."""

from typing import Any

from shardax.scipy.stats import bernoulli as bernoulli
from shardax.scipy.stats import beta as beta
from shardax.scipy.stats import betabinom as betabinom
from shardax.scipy.stats import binom as binom
from shardax.scipy.stats import cauchy as cauchy
from shardax.scipy.stats import chi2 as chi2
from shardax.scipy.stats import dirichlet as dirichlet
from shardax.scipy.stats import expon as expon
from shardax.scipy.stats import gamma as gamma
from shardax.scipy.stats import gennorm as gennorm
from shardax.scipy.stats import geom as geom
from shardax.scipy.stats import gumbel_l as gumbel_l
from shardax.scipy.stats import gumbel_r as gumbel_r
from shardax.scipy.stats import laplace as laplace
from shardax.scipy.stats import logistic as logistic
from shardax.scipy.stats import multinomial as multinomial
from shardax.scipy.stats import multivariate_normal as multivariate_normal
from shardax.scipy.stats import nbinom as nbinom
from shardax.scipy.stats import norm as norm
from shardax.scipy.stats import pareto as pareto
from shardax.scipy.stats import poisson as poisson
from shardax.scipy.stats import t as t
from shardax.scipy.stats import truncnorm as truncnorm
from shardax.scipy.stats import uniform as uniform
from shardax.scipy.stats import vonmises as vonmises
from shardax.scipy.stats import wrapcauchy as wrapcauchy
from shardax.scipy.stats._kde import gaussian_kde as gaussian_kde

def mode(a: Any, axis: int = 0, nan_policy: str = 'propagate', keepdims: bool = False) -> Any:
    """The most frequent value along `axis` (None: of all), the least of several, and its count."""
def rankdata(a: Any, method: str = 'average', *, axis: int | None = None, nan_policy: str = 'propagate') -> Any:
    """The rank of each element along `axis` (None: among all), from 1 on."""
def sem(a: Any, axis: int = 0, ddof: int = 1, nan_policy: str = 'propagate', *, keepdims: bool = False) -> Any:
    """The standard error of the mean along `axis`: the standard deviation over sqrt(n)."""
