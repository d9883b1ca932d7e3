"""Written by python/stubs.py."""


from shardax.scipy.sparse import linalg as linalg
