// ir/param_name.h - names of params: a literal that is none of them does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace shardax {

// The params of the ops of this core, in alphabetical order.
inline constexpr auto known_param_names = std::to_array<std::string_view>({
    "accuracy",
    "algorithm",
    "all_gather_dimension",
    "arguments",
    "axes",
    "axis",
    "axis_index_groups",
    "axis_name",
    "axis_names",
    "axis_size",
    "axis_sizes",
    "base_dilation",
    "batch_group_count",
    "batched",
    "bit_width",
    "body_jaxpr",
    "body_nconsts",
    "branches",
    "broadcast_dimensions",
    "bwd",
    "call",
    "call_jaxpr",
    "callback",
    "callee",
    "check_vma",
    "checks",
    "collapsed_slice_dims",
    "collective",
    "computation",
    "compute_eigenvectors",
    "compute_left_eigenvectors",
    "compute_right_eigenvectors",
    "compute_schur_vectors",
    "compute_uv",
    "concat_axis",
    "cond_jaxpr",
    "cond_nconsts",
    "conjugate_a",
    "construct",
    "count",
    "current",
    "debug",
    "devices",
    "differentiated",
    "dimension",
    "dimensions",
    "dst_sharding",
    "dtype",
    "enable_eigvec_derivs",
    "exponent_bits",
    "feature_group_count",
    "fft_lengths",
    "fft_type",
    "fill_value",
    "first",
    "from",
    "full_matrices",
    "fun",
    "fun_jaxpr",
    "fwd",
    "fwd_jaxpr",
    "given",
    "high",
    "id",
    "impl",
    "in_axes",
    "in_blocks",
    "in_specs",
    "index_dtype",
    "indices_are_sorted",
    "inline",
    "inserted_window_dims",
    "interior",
    "jaxpr",
    "jvp",
    "k",
    "label",
    "layout",
    "leading",
    "left",
    "left_side",
    "length",
    "lhs_batch",
    "lhs_contract",
    "lhs_dilation",
    "lhs_spec",
    "limit_indices",
    "linear",
    "log_space",
    "low",
    "lower",
    "mantissa_bits",
    "matvec",
    "memory",
    "mesh",
    "mode",
    "name",
    "new_dtype",
    "new_sizes",
    "newly_manual_axes",
    "nin",
    "num_carry",
    "num_consts",
    "num_keys",
    "num_res",
    "offset_dims",
    "operand_batching_dims",
    "order",
    "otherwise",
    "out_axes",
    "out_blocks",
    "out_sharding",
    "out_spec",
    "out_specs",
    "out_types",
    "padding",
    "params",
    "partitionable",
    "perm",
    "permutation",
    "permutation_size",
    "perturb_singular",
    "pivoting",
    "place",
    "policy",
    "precision",
    "preferred_element_type",
    "prevent_cse",
    "reaches",
    "result_types",
    "reverse",
    "rhs_batch",
    "rhs_contract",
    "rhs_dilation",
    "rhs_spec",
    "rounding_method",
    "rule",
    "scatter_dimension",
    "scatter_dims_to_operand_dims",
    "scatter_indices_batching_dims",
    "second",
    "select_prim",
    "separate",
    "shape",
    "sharding",
    "size",
    "slice_sizes",
    "solve",
    "source",
    "split_axis",
    "stacked",
    "start_index_map",
    "start_indices",
    "start_indices_batching_dims",
    "strides",
    "subset_by_index",
    "sum_groups",
    "symbolic_zeros",
    "tiled",
    "transpose",
    "transpose_a",
    "transpose_solve",
    "unconstrained_dims",
    "unique_indices",
    "unit_diagonal",
    "update_jaxpr",
    "update_window_dims",
    "vecmat",
    "vmap_method",
    "weak_type",
    "whole_shape",
    "window_dilation",
    "window_dimensions",
    "window_strides",
    "wraps",
    "y",
});
static_assert(std::is_sorted(known_param_names.begin(), known_param_names.end()));

class ParamName {
 public:
  // A literal; names are kept by reference.
  consteval ParamName(const char* literal) : text_(literal) {
    if (!std::binary_search(known_param_names.begin(), known_param_names.end(), text_))
      throw "known_param_names has no such name";
  }
  // A name for an op that a user defines, or for a program that is read. It is kept for the life of
  // the process.
  static ParamName from_outside(const std::string& text);

  constexpr operator std::string_view() const { return text_; }
  friend constexpr auto operator<=>(ParamName, ParamName) = default;
  template <class Stream>
  friend Stream& operator<<(Stream& out, ParamName name) {
    out << name.text_;
    return out;
  }

 private:
  constexpr ParamName(std::string_view text, std::nullptr_t) : text_(text) {}
  std::string_view text_;
};

using ParamNames = std::initializer_list<ParamName>;

}  // namespace shardax
