"""Written by python/stubs.py."""


from shardax.scipy.spatial import transform as transform
