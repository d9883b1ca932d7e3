"""Written by python/stubs.py."""

from collections.abc import Sequence
from typing import Any, Protocol

from shardax._core import Array
from shardax.typing import ArrayLike
from shardax.typing import DTypeLike

class Initializer(Protocol):
    """The type of functions that make parameters."""

    def __call__(
        self, key: Any, shape: Sequence[Any], dtype: DTypeLike | None = None,
        out_sharding: Any = None,
    ) -> Array: ...


def constant(value: ArrayLike, dtype: DTypeLike | None = None) -> Initializer:
    """An initializer that makes arrays of a constant: f(key, shape, dtype)."""
def delta_orthogonal(scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None) -> Initializer:
    """An initializer of convolutions' kernels: an orthogonal matrix at their centre and 0 elsewhere."""
def glorot_normal(in_axis: int = -2, out_axis: int = -1, batch_axis: Any = ..., dtype: DTypeLike | None = None) -> Initializer:
    """An initializer: `variance_scaling(1.0, "fan_avg", "truncated_normal")`."""
def glorot_uniform(in_axis: int = -2, out_axis: int = -1, batch_axis: Any = ..., dtype: DTypeLike | None = None) -> Initializer:
    """An initializer: `variance_scaling(1.0, "fan_avg", "uniform")`."""
def he_normal(in_axis: int = -2, out_axis: int = -1, batch_axis: Any = ..., dtype: DTypeLike | None = None) -> Initializer:
    """An initializer: `variance_scaling(2.0, "fan_in", "truncated_normal")`."""
def he_uniform(in_axis: int = -2, out_axis: int = -1, batch_axis: Any = ..., dtype: DTypeLike | None = None) -> Initializer:
    """An initializer: `variance_scaling(2.0, "fan_in", "uniform")`."""
def kaiming_normal(in_axis: int = -2, out_axis: int = -1, batch_axis: Any = ..., dtype: DTypeLike | None = None) -> Initializer:
    """An initializer: `variance_scaling(2.0, "fan_in", "truncated_normal")`."""
def kaiming_uniform(in_axis: int = -2, out_axis: int = -1, batch_axis: Any = ..., dtype: DTypeLike | None = None) -> Initializer:
    """An initializer: `variance_scaling(2.0, "fan_in", "uniform")`."""
def lecun_normal(in_axis: int = -2, out_axis: int = -1, batch_axis: Any = ..., dtype: DTypeLike | None = None) -> Initializer:
    """An initializer: `variance_scaling(1.0, "fan_in", "truncated_normal")`."""
def lecun_uniform(in_axis: int = -2, out_axis: int = -1, batch_axis: Any = ..., dtype: DTypeLike | None = None) -> Initializer:
    """An initializer: `variance_scaling(1.0, "fan_in", "uniform")`."""
def normal(stddev: ArrayLike = 0.01, dtype: DTypeLike | None = None) -> Initializer:
    """An initializer that draws normally distributed numbers with mean 0."""
def ones(key: Any, shape: Sequence[Any], dtype: DTypeLike | None = None, out_sharding: Any = None) -> Array:
    """An array of ones; `key` has no effect, it belongs to the protocol of initializers."""
def orthogonal(scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None) -> Initializer:
    """An initializer that draws uniformly distributed orthogonal matrices."""
def truncated_normal(stddev: ArrayLike = 0.01, dtype: DTypeLike | None = None, lower: ArrayLike = -2.0, upper: ArrayLike = 2.0) -> Initializer:
    """An initializer that draws normal numbers limited to some standard deviations."""
def uniform(scale: ArrayLike = 0.01, dtype: DTypeLike | None = None) -> Initializer:
    """An initializer that draws uniformly distributed numbers in [0, scale)."""
def variance_scaling(scale: ArrayLike, mode: str, distribution: str, in_axis: int = -2, out_axis: int = -1, batch_axis: Any = ..., dtype: DTypeLike | None = None) -> Initializer:
    """An initializer whose variance is scale / n, where n counts the inputs or outputs of a unit."""
def xavier_normal(in_axis: int = -2, out_axis: int = -1, batch_axis: Any = ..., dtype: DTypeLike | None = None) -> Initializer:
    """An initializer: `variance_scaling(1.0, "fan_avg", "truncated_normal")`."""
def xavier_uniform(in_axis: int = -2, out_axis: int = -1, batch_axis: Any = ..., dtype: DTypeLike | None = None) -> Initializer:
    """An initializer: `variance_scaling(1.0, "fan_avg", "uniform")`."""
def zeros(key: Any, shape: Sequence[Any], dtype: DTypeLike | None = None, out_sharding: Any = None) -> Array:
    """An array of zeros; `key` has no effect, it belongs to the protocol of initializers."""
