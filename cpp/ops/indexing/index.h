// ops/indexing/index.h - picking and placing elements by index arrays, as functions on Values.
//
// Dimension numbers are JAX's (ops/indexing/windows.h says what they mean); `mode` is "clip",
// "fill" (JAX: FILL_OR_DROP) or "promise_in_bounds".
#pragma once

#include "ops/indexing/windows.h"
#include "ops/ops.h"

namespace shardax::ops {

struct IndexOptions {
  std::string mode = "clip";
  bool indices_are_sorted = false;
  bool unique_indices = false;
};
inline IndexOptions index_options(const Params& p) {
  return {p.text(param::mode), p.flag(param::indices_are_sorted), p.flag(param::unique_indices)};
}

// Windows of `sizes` (one size per dimension of `a`) that start where the rows of `indices` say.
// `fill` stands for windows that stick out in mode fill; monostate means NaN, the smallest integer,
// the largest unsigned one, or true.
Value gather(const Value& a, const Value& indices, const WindowDims& dims, const Ints& sizes,
             const IndexOptions& options = {}, const ParamValue& fill = std::monostate{});

// `a` with windows of `updates` put where the rows of `indices` say. `op` is "scatter",
// "scatter-add", "scatter-sub", "scatter-mul", "scatter-min" or "scatter-max". Updates act in
// row-major order of the index array, so that the last one stays where several are put.
Value scatter(std::string_view op, const Value& a, const Value& indices, const Value& updates,
              const WindowDims& dims, const IndexOptions& options = {});
inline Value scatter_add(const Value& a, const Value& indices, const Value& updates,
                         const WindowDims& dims, const IndexOptions& options = {}) {
  return scatter("scatter-add", a, indices, updates, dims, options);
}

// A window of `sizes` that starts at the scalars `starts` (integers of one dtype), moved inside if
// it sticks out. The update gives `a` with that window replaced by `update`.
Value dynamic_slice(const Value& a, const Values& starts, const Ints& sizes);
Value dynamic_update_slice(const Value& a, const Value& update, const Values& starts);

// Slices of `a` along `axis` at an array of indices, whose dimensions replace the axis. Indices
// count from the start (no negative ones) and are clipped.
Value take(const Value& a, const Value& indices, std::int64_t axis);
// Elements of `a` along `axis` at `indices`, line by line: both have equal shapes but for that
// axis. No line may name an element twice.
Value take_along(const Value& a, const Value& indices, std::int64_t axis);

}  // namespace shardax::ops
