# shardax/_base/version.py - the version of the package.
__version__ = "0.1.0"

# The version of JAX whose names and behaviour this package follows: programs compare it with others
# to choose between spellings.
JAX_VERSION = "0.10.2"
