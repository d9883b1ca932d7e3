"""Written by python/stubs.py."""

from typing import Any

from shardax.errors import ConcretizationTypeError as ConcretizationTypeError

index: Any
def index_add(x: Any, idx: Any, y: Any, indices_are_sorted: bool = False, unique_indices: bool = False) -> Any:
    """x.at[idx].add(y), as it was written before `at` existed."""
def index_max(x: Any, idx: Any, y: Any, indices_are_sorted: bool = False, unique_indices: bool = False) -> Any:
    """x.at[idx].max(y), as it was written before `at` existed."""
def index_min(x: Any, idx: Any, y: Any, indices_are_sorted: bool = False, unique_indices: bool = False) -> Any:
    """x.at[idx].min(y), as it was written before `at` existed."""
def index_mul(x: Any, idx: Any, y: Any, indices_are_sorted: bool = False, unique_indices: bool = False) -> Any:
    """x.at[idx].multiply(y), as it was written before `at` existed."""
def index_update(x: Any, idx: Any, y: Any, indices_are_sorted: bool = False, unique_indices: bool = False) -> Any:
    """x.at[idx].set(y), as it was written before `at` existed."""
def one_program_of_sums(out_sharding: Any, run: Any, *args: Any) -> Any:
    """`run(*args)`; if it leaves a sum to do, as one program of the arrays in `args`, in which each device's term is known."""
def segment_max(data: Any, segment_ids: Any, num_segments: Any = None, indices_are_sorted: bool = False, unique_indices: bool = False, bucket_size: Any = None, mode: Any = None, out_sharding: Any = None) -> Any:
    """The largest of the rows of each segment, elementwise; the lowest value of the dtype (-inf) for segments without rows. See segment_sum."""
def segment_min(data: Any, segment_ids: Any, num_segments: Any = None, indices_are_sorted: bool = False, unique_indices: bool = False, bucket_size: Any = None, mode: Any = None, out_sharding: Any = None) -> Any:
    """The smallest of the rows of each segment, elementwise; the highest value of the dtype (inf) for segments without rows. See segment_sum."""
def segment_prod(data: Any, segment_ids: Any, num_segments: Any = None, indices_are_sorted: bool = False, unique_indices: bool = False, bucket_size: Any = None, mode: Any = None, out_sharding: Any = None) -> Any:
    """The product of the rows of each segment; 1 for segments without rows. See segment_sum."""
def segment_sum(data: Any, segment_ids: Any, num_segments: Any = None, indices_are_sorted: bool = False, unique_indices: bool = False, bucket_size: Any = None, mode: Any = None, out_sharding: Any = None) -> Any:
    """The sum of the rows of each segment."""
def split_so(out_sharding: Any, name: Any, function: Any) -> Any:
    """The result of `function` of no arguments. If operands leave its split open, it is split as the `out_sharding` of the user's function `name` says."""
