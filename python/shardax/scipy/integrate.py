"""shardax.scipy.integrate - integrals of sampled functions."""

from shardax.numpy import trapezoid

__all__ = ["trapezoid"]
