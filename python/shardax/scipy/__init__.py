"""shardax.scipy - functions of SciPy."""

from shardax.scipy import special
