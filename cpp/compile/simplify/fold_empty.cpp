// compile/simplify/fold_empty.cpp - results that have, or depend on, no elements.
#include "compile/simplify/fold_empty.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include "array/narrow.h"
#include "base/index.h"
#include "ir/core_ops.h"
#include "ops/ops.h"

namespace shardax {
namespace {

bool is_empty(const Type& type) { return type.size() == 0; }

ArrayPtr zero_of(DType dtype) {
  ArrayPtr zero = empty_array(Type{dtype, false, {}, {}});
  std::memset(zero->data(), 0, index(itemsize(dtype)));
  return zero;
}

Var repeated(Builder& builder, ArrayPtr number, const Shape& shape, const LocationPtr& location) {
  const Var scalar = builder.constant(std::move(number));
  if (shape.empty()) return scalar;
  return builder.emit1(core_ops().broadcast_in_dim,
                       {{"shape", shape}, {"broadcast_dimensions", Ints()}}, {scalar}, location);
}

Vars zeros_of(Builder& builder, const Types& types, const LocationPtr& location) {
  Vars out;
  for (const Type& type : types)
    out.push_back(repeated(builder, zero_of(type.dtype), type.shape, location));
  return out;
}

// The number of the dtype that is nearest to one of float32 or int32.
ArrayPtr narrowed(DType dtype, const Array& wide) {
  if (is_narrow_integer(dtype)) {
    const std::int64_t value = *reinterpret_cast<const std::int32_t*>(wide.data());
    const int bits = bit_width(dtype);
    const bool has_sign = is_signed_integer(dtype);
    const std::int64_t lowest = has_sign ? -(std::int64_t{1} << (bits - 1)) : 0,
                       highest = lowest + (std::int64_t{1} << bits) - 1;
    if (value == INT32_MIN) return scalar_array_int(dtype, lowest);
    return scalar_array_int(dtype, value == INT32_MAX ? highest : value);
  }
  float value = *reinterpret_cast<const float*>(wide.data());
  if (is_narrow_float(dtype)) {
    const std::span<const float> all(narrow_values(dtype), 256);
    const auto is_number = [](float x) { return x == x; };
    std::vector<float> numbers;
    std::copy_if(all.begin(), all.end(), std::back_inserter(numbers), is_number);
    const auto [lowest, highest] = std::minmax_element(numbers.begin(), numbers.end());
    value = std::clamp(value, *lowest, *highest);
  }
  return scalar_array(dtype, static_cast<double>(value));
}

// The value of a reduction of no elements.
ArrayPtr identity_of(const Op& reduction, DType dtype) {
  const DType wide = is_half(dtype) ? DType::float32 : wide_dtype(dtype);
  const kernels::ReduceKernels kernels = reduction.reduce(wide);
  alignas(64) std::byte accumulator[64];
  kernels.init(accumulator, 1);
  ArrayPtr out = empty_array(Type{wide, false, {}, {}});
  kernels.finish(out->data(), 1, accumulator, 1);
  return wide == dtype ? out : narrowed(dtype, *out);
}

// Ops that change some elements of operand 0: the position of the new ones among the operands.
std::size_t updates_of(const Op& op) {
  if (&op == &core_ops().dynamic_update_slice) return 1;
  return op.name.starts_with("scatter") ? 2 : 0;
}

std::optional<Vars> without_empty_parts(const PatternContext& m, const Type& result) {
  Vars kept;
  for (const Var v : m.in) {
    if (!is_empty(m.b.type(v))) kept.push_back(v);
  }
  if (kept.size() == 1 && same_shape_and_dtype(m.b.type(kept[0]), result)) return kept;
  return Vars{m.emit(m.op, m.params, kept)};
}

}  // namespace

std::optional<Vars> fold_empty(const PatternContext& m) {
  const auto empty = [&](Var v) { return is_empty(m.b.type(v)); };
  if (std::none_of(m.in.begin(), m.in.end(), empty)) return {};
  if (!m.op.effect.empty() || (m.op.regions && has_effects({&m.op, m.params, {}, {}, {}})))
    return {};
  Types operands;
  for (const Var v : m.in) operands.push_back(m.b.type(v));
  const Types results = infer_types(m.op, operands, m.params);
  const auto is_float0 = [](const Type& type) { return type.dtype == DType::float0; };
  if (results.empty() || std::any_of(results.begin(), results.end(), is_float0)) return {};
  if (std::all_of(results.begin(), results.end(), is_empty))
    return zeros_of(m.b, results, m.location);
  if (m.op.reduce)
    return one(repeated(m.b, identity_of(m.op, results[0].dtype), results[0].shape, m.location));
  if (&m.op == &core_ops().dot_general || &m.op == &core_ops().conv_general_dilated)
    return zeros_of(m.b, results, m.location);
  if (&m.op == &core_ops().concatenate) return without_empty_parts(m, results[0]);
  const std::size_t updates = updates_of(m.op);
  return updates > 0 && empty(m.in[updates]) ? one(m.in[0]) : std::optional<Vars>();
}

std::optional<Vars> fold_no_turns(Builder& builder, const Equation& loop, const Regions& regions,
                                  const Vars& in) {
  if (regions.runs != ExecutionKind::counted || regions.length > 0) return {};
  Types operands;
  for (const Var v : in) operands.push_back(builder.type(v));
  const Types results = infer_types(*loop.op, operands, loop.params);
  Vars out = zeros_of(builder, results, loop.location);
  const std::vector<std::size_t> from = regions.operands_of(PortKind::carried),
                                 to = regions.results_of(PortKind::carried);
  for (std::size_t k = 0; k < from.size(); ++k) out[to[k]] = in[from[k]];
  return out;
}

}  // namespace shardax
