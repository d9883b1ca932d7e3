"""shardax.scipy.stats - probability distributions."""

from shardax.scipy.stats import norm
