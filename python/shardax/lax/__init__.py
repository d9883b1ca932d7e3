"""shardax.lax - the ops themselves, control flow and collectives.

Elementwise functions take operands of equal shape and dtype (Python numbers adopt the other's
dtype); shardax.numpy promotes and broadcasts. They are C++ callables made from the records of ops.
The others live in the modules of this folder, each of which is imported when one of its names is
first used.
"""

import shardax._core as _core
from shardax._base.array_functions import broadcast_shapes
from shardax._base.arrays import asarray
from shardax._base.lazy_modules import at_first_use as _at_first_use

# The module of this folder that each name lives in.
_NAMES = {
    "shardax._devices.constraints": "with_sharding_constraint",
    "_associative_scan": "associative_scan",
    "_branches": "cond platform_dependent switch",
    "_collectives": (
        "all_gather all_gather_invariant all_to_all axis_index axis_size pargmax pargmin "
        "pbroadcast pcast pdot pmax pmean pmin ppermute pshuffle psum psum_scatter pswapaxes pvary"
    ),
    "_composite": "composite",
    "_conv_numbers": (
        "ConvDimensionNumbers ConvGeneralDilatedDimensionNumbers conv_dimension_numbers "
        "conv_general_permutations conv_general_shape_tuple conv_shape_tuple "
        "conv_transpose_shape_tuple"
    ),
    "_convolutions": (
        "conv conv_general_dilated conv_general_dilated_local conv_general_dilated_patches "
        "conv_transpose conv_with_general_padding"
    ),
    "_dot": (
        "DotAlgorithm DotAlgorithmPreset DotDimensionNumbers Precision PrecisionLike batch_matmul "
        "dot dot_general"
    ),
    "_dynamic": (
        "dce_sink dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim "
        "dynamic_update_index_in_dim dynamic_update_slice dynamic_update_slice_in_dim "
        "shape_as_value"
    ),
    "_elementwise": (
        "RoundingMethod bitcast_convert_type clamp convert_element_type dtype integer_pow "
        "optimization_barrier reciprocal reduce_precision round select select_n stage "
        "stop_gradient tie_in"
    ),
    "_fft": "FftType fft",
    "_indexing": (
        "GatherDimensionNumbers GatherScatterMode ScatterDimensionNumbers gather index_take "
        "scatter scatter_add scatter_apply scatter_max scatter_min scatter_mul scatter_sub"
    ),
    "_layout": (
        "broadcast broadcast_in_dim broadcast_like broadcast_to_rank broadcasted_iota collapse "
        "concatenate empty expand_dims full full_like iota pad reshape rev squeeze stack tile "
        "transpose unstack"
    ),
    "_slices": "index_in_dim slice slice_in_dim slice_type split",
    "_counted_loops": "fori_loop map",
    "_loops": "scan while_loop",
    "_ragged": "RaggedDotDimensionNumbers ragged_dot ragged_dot_general",
    "_ragged_exchange": "ragged_all_to_all",
    "_options": "AccuracyMode Tolerance",
    "_random_bits": "RandomAlgorithm rng_bit_generator rng_uniform",
    "_reductions": (
        "approx_max_k approx_min_k argmax argmin cumlogsumexp cummax cummin cumprod cumsum reduce "
        "reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_xor sort "
        "sort_key_val top_k"
    ),
    "_scaled_dot": "scaled_dot",
    "_tokens": "after_all create_token",
    "_solves": "custom_linear_solve custom_root",
    "_windows": "padtype_to_pads reduce_window reduce_window_shape_tuple",
}

_homes, _named, __dir__ = _at_first_use(__name__, _NAMES, ("linalg",))

for _name in dir(_core.lax):
    if not _name.startswith("_") and _name not in _homes and _name not in globals():
        globals()[_name] = getattr(_core.lax, _name)
del _name

__all__ = [name for name in __dir__() if not name.startswith("_")]


def __getattr__(name):
    """Primitives by JAX's names, beside the names of the table: `lax.exp_p` is the op exp."""
    if name.endswith("_p"):
        from shardax.lax._composed import primitive  # rarely used

        return primitive(__name__, name)
    return _named(name)
