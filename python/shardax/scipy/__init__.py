"""shardax.scipy - functions of SciPy."""

from shardax.scipy import integrate, linalg, ndimage, signal, sparse, special, stats
