"""shardax.scipy.spatial - rotations in space."""

from shardax.scipy.spatial import transform

__all__ = ["transform"]
