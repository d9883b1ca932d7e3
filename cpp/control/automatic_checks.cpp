// control/automatic_checks.cpp - what fails, and where.
#include "control/automatic_checks.h"

#include <cstring>
#include <string_view>

#include "ops/index.h"

namespace shardax {
namespace {

// Ops that can make a NaN out of numbers, as JAX has them: selections, sign changes and layout only
// pass one on.
constexpr std::string_view nan_ops[] = {
    "acos",     "acosh",  "add",     "asin",        "asinh",        "atan",        "atan2",
    "atanh",    "cbrt",   "cos",     "cosh",        "cumlogsumexp", "cummax",      "cummin",
    "cumprod",  "cumsum", "digamma", "div",         "erf",          "dot_general", "erf_inv",
    "erfc",     "exp",    "expm1",   "integer_pow", "lgamma",       "log",         "log1p",
    "logistic", "mul",    "pad",     "pow",         "psum",         "reduce_prod", "reduce_sum",
    "rem",      "rsqrt",  "scatter", "scatter-add", "scatter-max",  "scatter-min", "scatter-mul",
    "sin",      "sinh",   "sqrt",    "sub",         "tan",          "tanh"};

bool makes_nan(const Op& op) {
  return std::find(std::begin(nan_ops), std::end(nan_ops), op.name) != std::end(nan_ops);
}

Value any(const Value& mask) {
  return mask->shape().empty() ? mask : ops::reduce_or(mask, ops::iota_ints(mask->shape().size()));
}

Value has_nan(const Values& values) {
  Value found;
  for (const Value& value : values) {
    if (!is_inexact(value->dtype())) continue;
    const Value here = any(ops::ne(value, value));
    found = found ? ops::logical_or(found, here) : here;
  }
  return found;
}

// ---- indices -------------------------------------------------------------------------------

// Where windows start, one component after the other, and for each component the dimension of the
// operand along which it counts. All have the same shape, [n].
struct Starts {
  Value start;
  Value dimension;
  Value last;  // the last start that fits
};

Value int32s(const Ints& values) {
  const ArrayPtr array =
      empty_array(Type{DType::int32, false, {static_cast<std::int64_t>(values.size())}, {}});
  auto* to = reinterpret_cast<std::int32_t*>(array->data());
  for (std::size_t i = 0; i < values.size(); ++i) to[i] = static_cast<std::int32_t>(values[i]);
  return array;
}

// Narrow integers may be too narrow for the sizes that they are compared with.
Value wide(const Value& indices) {
  return itemsize(indices->dtype()) < 4 ? ops::convert(indices, DType::int32) : indices;
}

// A dynamic slice has one scalar per dimension.
Starts scalar_starts(const Values& scalars, const Shape& operand, const Shape& window) {
  Values parts;
  Ints dimensions, last;
  for (std::size_t d = 0; d < scalars.size(); ++d) {
    parts.push_back(ops::reshape(wide(scalars[d]), {1}));
    dimensions.push_back(static_cast<std::int64_t>(d));
    last.push_back(operand[d] - window[d]);
  }
  return {ops::concatenate(parts, 0), int32s(dimensions), int32s(last)};
}

// Gather and scatter have an array of rows.
Starts row_starts(const Value& indices, const ops::WindowDims& dims, const Shape& operand,
                  const Ints& window) {
  Ints last;
  for (const std::int64_t d : dims.index_map)
    last.push_back(operand[static_cast<std::size_t>(d)] - window[static_cast<std::size_t>(d)]);
  const Shape flat{indices->type().size()};
  const auto repeated = [&](const Ints& values) {
    return ops::reshape(ops::broadcast_to(int32s(values), indices->shape()), flat);
  };
  return {ops::reshape(wide(indices), flat), repeated(dims.index_map), repeated(last)};
}

bool is_dynamic_slice(const Op& op) { return op.name == "dynamic_slice"; }
bool is_dynamic_update(const Op& op) { return op.name == "dynamic_update_slice"; }
bool is_gather(const Op& op) { return op.name == "gather"; }
bool is_scatter(const Op& op) { return op.name.starts_with("scatter"); }

Starts starts_of(const Op& op, const Params& params, const Values& in) {
  const Shape& operand = in[0]->shape();
  if (is_dynamic_slice(op))
    return scalar_starts(part(in, 1, in.size() - 1), operand, params.ints("slice_sizes"));
  if (is_dynamic_update(op))
    return scalar_starts(part(in, 2, in.size() - 2), operand, in[1]->shape());
  if (is_gather(op))
    return row_starts(in[1], ops::gather_dims(params), operand, params.ints("slice_sizes"));
  const ops::WindowDims dims = ops::scatter_dims(params);
  return row_starts(in[1], dims, operand, ops::window_sizes(dims, operand.size(), in[2]->shape()));
}

// Payload: the first index that is out of bounds, its dimension and the size of that.
Finding out_of_bounds(const Starts& s, const Shape& operand) {
  const DType dtype = s.start->dtype();
  const Value below = ops::lt(s.start, ops::scalar(dtype, 0));
  const Value outside = ops::logical_or(below, ops::gt(s.start, ops::convert(s.last, dtype)));
  const Value position = ops::iota(DType::int32, s.start->shape(), 0);
  const Value end = ops::scalar(DType::int32, static_cast<double>(s.start->type().size() - 1));
  const Value first = ops::reduce_min(
      ops::where(outside, position, ops::broadcast_to(end, position->shape())), {0});
  const Value dimension = ops::take(s.dimension, first, 0);
  Values parts;
  for (const Value& value :
       {ops::take(s.start, first, 0), dimension, ops::take(int32s(operand), dimension, 0)})
    parts.push_back(ops::reshape(ops::convert(value, DType::int32), {1}));
  return {any(outside), {ops::concatenate(parts, 0)}};
}

// Are there any indices at all?
bool has_indices(const Program& program, const Equation& eqn) {
  const Op& op = *eqn.op;
  if (is_dynamic_slice(op)) return eqn.inputs.size() > 1;
  if (is_dynamic_update(op)) return eqn.inputs.size() > 2;
  return (is_gather(op) || is_scatter(op)) && program.type(eqn.inputs[1]).size() > 0;
}

}  // namespace

std::vector<Check> automatic_checks(const Program& program, const Equation& eqn,
                                    CheckKinds enabled) {
  const std::string name(eqn.op->name);
  std::vector<Check> out;
  if ((enabled & bit(CheckKind::division)) && eqn.op->name == "div")
    out.push_back({CheckKind::division, name, {}, nullptr, {}});
  if ((enabled & bit(CheckKind::bounds)) && has_indices(program, eqn)) {
    const Type payload{DType::int32, false, {3}, {}};
    out.push_back({CheckKind::bounds, name, program.type(eqn.inputs[0]).shape, nullptr, {payload}});
  }
  const bool inexact = std::any_of(eqn.outputs.begin(), eqn.outputs.end(),
                                   [&](Var v) { return is_inexact(program.type(v).dtype); });
  if ((enabled & bit(CheckKind::nan)) && makes_nan(*eqn.op) && inexact)
    out.push_back({CheckKind::nan, name, {}, nullptr, {}});
  return out;
}

Finding make_check(const Check& check, const Op& op, const Params& params, const Values& in,
                   const Values& out) {
  switch (check.kind) {
    case CheckKind::nan: return {has_nan(out), {}};
    case CheckKind::division: return {any(ops::eq(in[1], ops::scalar(in[1]->dtype(), 0))), {}};
    case CheckKind::bounds: return out_of_bounds(starts_of(op, params, in), in[0]->shape());
    case CheckKind::user: break;
  }
  throw InternalError(concat("'", op.name, "' has no automatic check of this kind"));
}

}  // namespace shardax
