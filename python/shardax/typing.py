"""shardax.typing - types for annotations."""

from typing import Any

from shardax._core import Array

ArrayLike = Any
DTypeLike = Any

__all__ = ["Array", "ArrayLike", "DTypeLike"]
