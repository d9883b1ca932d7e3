"""shardax.typing - types for annotations."""

from typing import Any, Protocol, Union

import numpy as np

from shardax._core import Array


class SupportsDType(Protocol):
    """A value with a dtype."""

    @property
    def dtype(self) -> np.dtype: ...


# The values that functions of shardax.numpy take as arrays.
ArrayLike = Union[Array, np.ndarray, np.bool_, np.number, bool, int, float, complex]  # noqa: UP007
# The values that they take as a dtype.
DTypeLike = Union[str, type[Any], np.dtype, SupportsDType]  # noqa: UP007

__all__ = ["Array", "ArrayLike", "DTypeLike"]
