# shardax/_base/version.py - which version this is.
__version__ = "0.1.0"
