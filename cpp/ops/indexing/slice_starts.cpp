// ops/indexing/slice_starts.cpp - starts of windows as arrays of one shape.
#include "ops/indexing/slice_starts.h"

#include "base/index.h"
#include "base/lists.h"
#include "ops/indexing/index.h"

namespace shardax::ops {
namespace {

// Narrow integers may be too narrow for the sizes that they are compared with.
Value wide(const Value& indices) {
  return itemsize(indices->dtype()) < 4 ? convert(indices, DType::int32) : indices;
}

// Gather and scatter have an array of rows.
Starts row_starts(const Value& indices, const WindowDims& dims, const Shape& operand,
                  const Ints& window) {
  Ints last;
  for (const std::int64_t d : dims.index_map) last.push_back(operand[index(d)] - window[index(d)]);
  const Shape flat{indices->type().size()};
  const auto repeated = [&](const Ints& values) {
    return reshape(broadcast_to(int32s(values), indices->shape()), flat);
  };
  return {reshape(wide(indices), flat), repeated(dims.index_map), repeated(last)};
}

}  // namespace

Value int32s(const Ints& values) {
  const ArrayPtr array =
      empty_array(Type{DType::int32, false, {static_cast<std::int64_t>(values.size())}, {}});
  auto* to = reinterpret_cast<std::int32_t*>(array->data());
  for (std::size_t i = 0; i < values.size(); ++i) to[i] = static_cast<std::int32_t>(values[i]);
  return array;
}

Starts scalar_starts(const Values& in, std::size_t before, const Shape& window) {
  const Shape& operand = in[0]->shape();
  Values parts;
  Ints dimensions, last;
  for (std::size_t d = 0; d < operand.size(); ++d) {
    parts.push_back(reshape(wide(in[before + d]), {1}));
    dimensions.push_back(static_cast<std::int64_t>(d));
    last.push_back(operand[d] - window[d]);
  }
  return {concatenate(parts, 0), int32s(dimensions), int32s(last)};
}

Starts gather_starts(const Params& params, const Values& in) {
  return row_starts(in[1], gather_dims(params), in[0]->shape(), params.ints(param::slice_sizes));
}

Starts scatter_starts(const Params& params, const Values& in) {
  const WindowDims dims = scatter_dims(params);
  const Shape& operand = in[0]->shape();
  return row_starts(in[1], dims, operand, window_sizes(dims, operand.size(), in[2]->shape()));
}

}  // namespace shardax::ops
