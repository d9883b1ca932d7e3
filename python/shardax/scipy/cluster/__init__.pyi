"""Written by python/stubs.py."""


from shardax.scipy.cluster import vq as vq
