"""shardax.scipy - functions of SciPy."""

from shardax.scipy import linalg, special, stats
