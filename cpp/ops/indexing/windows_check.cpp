// ops/indexing/windows_check.cpp - checks of the dimension numbers of gather and scatter.
#include <algorithm>

#include "base/errors.h"
#include "base/index.h"
#include "base/lists.h"
#include "ops/indexing/windows.h"

namespace shardax::ops {
namespace {

// JAX's names for the dimension numbers of either op.
struct Names {
  const char *op, *title, *window, *collapsed, *index_map, *index_batch;
};
constexpr Names gather_names{"gather",          "Gather",
                             "offset_dims",     "collapsed_slice_dims",
                             "start_index_map", "start_indices_batching_dims"};
constexpr Names scatter_names{"scatter",
                              "Scatter",
                              "update_window_dims",
                              "inserted_window_dims",
                              "scatter_dims_to_operand_dims",
                              "scatter_indices_batching_dims"};
constexpr const char* operand_batch_name = "operand_batching_dims";

struct Check {
  const Names& names;
  const WindowDims& dims;
  const Type& operand;
  const Type& indices;

  std::size_t vector_dim() const { return indices.rank() - 1; }

  void sorted(const char* what, const Ints& given) const {
    if (std::is_sorted(given.begin(), given.end())) return;
    type_error(what, " in ", names.op, " op must be sorted; got ", to_string(given));
  }
  void distinct(const char* what, const Ints& given) const {
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (std::find(given.begin(), given.begin() + i, given[i]) == given.begin() + i) continue;
      type_error(what, " in ", names.op, " op must not repeat; got: ", to_string(given), ".");
    }
  }
  void in_range(const char* what, const Ints& given, std::size_t rank) const {
    for (std::int64_t d : given) {
      if (d >= 0 && index(d) < rank) continue;
      type_error("Invalid ", what, " set in ", names.op, " op; valid range is [0, ", rank,
                 "); got: ", d, ".");
    }
  }
  void ascending(const char* what, const Ints& given, std::size_t rank) const {
    sorted(what, given);
    distinct(what, given);
    in_range(what, given, rank);
  }
  void disjoint(const char* what, const Ints& given) const {
    for (std::int64_t d : given) {
      if (!has(dims.operand_batch, d)) continue;
      type_error(what, " and ", operand_batch_name, " in ", names.op,
                 " op must be disjoint; got: ", to_string(given), " and ",
                 to_string(dims.operand_batch), ".");
    }
  }

  void index_array() const {
    if (!is_integer(indices.dtype)) {
      value_error("indices must have an integer type, got ", name(indices.dtype));
    }
    if (indices.rank() > 0) return;
    type_error(names.title,
               ": indices need a last dimension that holds the components of an index, got a "
               "scalar.");
  }
  void components() const {
    if (static_cast<std::int64_t>(dims.index_map.size()) != indices.shape.back()) {
      type_error(names.title, " op has ", dims.index_map.size(), " elements in ", names.index_map,
                 " and the bound of dimension index_vector_dim=", vector_dim(), " of indices is ",
                 indices.shape.back(), ". These two numbers must be equal.");
    }
    for (std::size_t i = 0; i < dims.index_map.size(); ++i) {
      const std::int64_t d = dims.index_map[i];
      if (d >= 0 && index(d) < operand.rank()) continue;
      type_error("Invalid ", names.index_map, " mapping; domain is [0, ", operand.rank(),
                 "), got: ", i, "->", d, ".");
    }
    distinct(names.index_map, dims.index_map);
    if (dims.wraps.empty() || dims.wraps.size() == dims.index_map.size()) return;
    type_error(names.title, " op has ", dims.wraps.size(), " wraps for ", dims.index_map.size(),
               " elements in ", names.index_map, ".");
  }
  void operand_dims() const {
    ascending(names.collapsed, dims.collapsed, operand.rank());
    ascending(operand_batch_name, dims.operand_batch, operand.rank());
    disjoint(names.collapsed, dims.collapsed);
    disjoint(names.index_map, dims.index_map);
  }
  void batches() const {
    distinct(names.index_batch, dims.index_batch);
    in_range(names.index_batch, dims.index_batch, indices.rank());
    if (has(dims.index_batch, static_cast<std::int64_t>(vector_dim()))) {
      type_error(names.title,
                 " op cannot have the index vector dimension as a batching dimension; got ",
                 to_string(dims.index_batch), ".");
    }
    if (dims.operand_batch.size() != dims.index_batch.size()) {
      type_error(names.title, " op requires equal numbers of ", operand_batch_name, " and ",
                 names.index_batch, ", got ", to_string(dims.operand_batch), " and ",
                 to_string(dims.index_batch), ".");
    }
    Shape own, theirs;
    for (std::int64_t d : dims.operand_batch) own.push_back(operand.shape[index(d)]);
    for (std::int64_t d : dims.index_batch) theirs.push_back(indices.shape[index(d)]);
    if (own != theirs) {
      type_error(names.title,
                 " op requires operand batching dimensions and indices batching dimensions to "
                 "have the same shape, got ",
                 to_string(own), " and ", to_string(theirs), ".");
    }
  }
  // Each dimension of the operand is one of a window, collapsed or a batch.
  std::size_t window_rank() const {
    return dims.window_dims.size() + dims.collapsed.size() + dims.operand_batch.size();
  }
  std::size_t other_rank() const { return dims.window_dims.size() + indices.rank() - 1; }
};

void check_slice_sizes(const Check& c, const Ints& sizes) {
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || (sizes[d] > c.operand.shape[d] && c.indices.size() > 0)) {
      type_error("Slice size at index ", d, " in gather op is out of range, must be within [0, ",
                 c.operand.shape[d], " + 1), got ", sizes[d], ".");
    }
  }
  const auto single = [&](const Ints& dims, const char* what) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (sizes[index(dims[i])] <= 1) continue;
      type_error("Gather op can only ", what, ", but bound is ", sizes[index(dims[i])],
                 " for index ", dims[i], " at position ", i, ".");
    }
  };
  single(c.dims.collapsed, "collapse slice dims with bound 1");
  single(c.dims.operand_batch, "have operand batching dims with bound 0/1");
}

}  // namespace

void check_gather(const WindowDims& dims, const Type& operand, const Type& indices,
                  const Ints& sizes) {
  const Check c{gather_names, dims, operand, indices};
  c.index_array();
  c.sorted(c.names.window, dims.window_dims);
  c.distinct(c.names.window, dims.window_dims);
  for (std::size_t i = 0; i < dims.window_dims.size(); ++i) {
    const std::int64_t d = dims.window_dims[i];
    if (d >= 0 && index(d) < c.other_rank()) continue;
    type_error("Offset dimension ", i, " in gather op is out of bounds; got ", d,
               ", but should have been in [0, ", c.other_rank(), ")");
  }
  c.components();
  c.operand_dims();
  c.batches();
  if (sizes.size() != operand.rank()) {
    type_error(
        "Gather op must have one slice size for every input dimension; got: len(slice_sizes)=",
        sizes.size(), ", input_shape.rank=", operand.rank());
  }
  if (sizes.size() != c.window_rank()) {
    type_error(
        "All components of the offset index in a gather op must either be a offset dimension or "
        "explicitly collapsed/batching; got len(slice_sizes)=",
        sizes.size(), ", output_slice_sizes=", to_string(dims.window_dims),
        ", collapsed_slice_dims=", to_string(dims.collapsed), ", ", operand_batch_name, "=",
        to_string(dims.operand_batch), ".");
  }
  check_slice_sizes(c, sizes);
}

void check_scatter(const WindowDims& dims, const Type& operand, const Type& indices,
                   const Type& updates) {
  const Check c{scatter_names, dims, operand, indices};
  c.index_array();
  if (updates.rank() != c.other_rank()) {
    type_error("Updates tensor must be of rank ", c.other_rank(), "; got ", updates.rank(), ".");
  }
  c.ascending(c.names.window, dims.window_dims, updates.rank());
  c.operand_dims();
  c.batches();
  if (operand.rank() != c.window_rank()) {
    type_error("Scatter op has window of size ", c.window_rank(),
               "; doesn't match operand of rank ", operand.rank(), ".");
  }
  c.components();
  const Ints sizes = window_sizes(dims, operand.rank(), updates.shape);
  for (std::size_t d = 0, w = 0; d < sizes.size(); ++d) {
    if (has(dims.collapsed, static_cast<std::int64_t>(d)) ||
        has(dims.operand_batch, static_cast<std::int64_t>(d))) {
      continue;
    }
    const std::int64_t own = dims.window_dims[w++];
    if (sizes[d] <= operand.shape[d] || updates.size() == 0) continue;
    type_error(
        "Bounds of the window dimensions of updates must not exceed the bounds of the "
        "corresponding dimensions of operand. For dimension ",
        own, ", updates bound is ", sizes[d], ", operand bound is ", operand.shape[d], ".");
  }
  const Shape expected = windows_shape(dims, indices.shape, sizes);
  for (std::size_t d = 0; d < expected.size(); ++d) {
    if (expected[d] == updates.shape[d]) continue;
    type_error(
        "Bounds of the scatter dimensions of updates must be the same as the bounds of the "
        "corresponding dimensions of scatter indices. For scatter dimension ",
        d, ", updates bound is ", updates.shape[d], ", indices bound is ", expected[d], ".");
  }
}

}  // namespace shardax::ops
