"""shardax.core - types that programs and tests ask for."""

from shardax._api import ShapedArray
from shardax._core import Tracer

__all__ = ["ShapedArray", "Tracer"]
