"""shardax.scipy.cluster - vector quantization."""

from shardax.scipy.cluster import vq

__all__ = ["vq"]
