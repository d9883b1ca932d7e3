// control/automatic_checks.cpp - conditions of failures, and their places.
#include "control/automatic_checks.h"

#include "ops/indexing/index.h"
#include "ops/indexing/slice_starts.h"

namespace shardax {
namespace {

Value any_of(const Value& mask) {
  return mask->shape().empty() ? mask : ops::reduce_or(mask, ops::iota_ints(mask->shape().size()));
}

Value has_nan(const Values& values) {
  Value found;
  for (const Value& value : values) {
    if (!is_inexact(value->dtype())) continue;
    const Value here = any_of(ops::ne(value, value));
    found = found ? ops::logical_or(found, here) : here;
  }
  return found;
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
       {ops::take(s.start, first, 0), dimension, ops::take(ops::int32s(operand), dimension, 0)})
    parts.push_back(ops::reshape(ops::convert(value, DType::int32), {1}));
  return {any_of(outside), {ops::concatenate(parts, 0)}};
}

// Are there any indices at all?
bool has_indices(const Program& program, const Equation& eqn) {
  const std::size_t first = eqn.op->first_index;
  return eqn.op->starts && first < eqn.inputs.size() && program.type(eqn.inputs[first]).size() > 0;
}

}  // namespace

std::vector<Check> automatic_checks(const Program& program, const Equation& eqn,
                                    CheckKinds enabled) {
  const std::string name(eqn.op->name);
  std::vector<Check> out;
  if ((enabled & bit(CheckKind::division)) && (eqn.op->checks & divides))
    out.push_back({CheckKind::division, name, {}, nullptr, {}});
  if ((enabled & bit(CheckKind::bounds)) && has_indices(program, eqn)) {
    const Type payload{DType::int32, false, {3}, {}};
    out.push_back({CheckKind::bounds, name, program.type(eqn.inputs[0]).shape, nullptr, {payload}});
  }
  const bool inexact = std::any_of(eqn.outputs.begin(), eqn.outputs.end(),
                                   [&](Var v) { return is_inexact(program.type(v).dtype); });
  if ((enabled & bit(CheckKind::nan)) && (eqn.op->checks & makes_nan) && inexact)
    out.push_back({CheckKind::nan, name, {}, nullptr, {}});
  return out;
}

Finding make_check(const Check& check, const Op& op, const Params& params, const Values& in,
                   const Values& out) {
  switch (check.kind) {
    case CheckKind::nan: return {has_nan(out), {}};
    case CheckKind::division: return {any_of(ops::eq(in[1], ops::scalar(in[1]->dtype(), 0))), {}};
    case CheckKind::bounds: return out_of_bounds(op.starts(params, in), in[0]->shape());
    case CheckKind::user: break;
  }
  throw InternalError(concat("'", op.name, "' has no automatic check of this kind"));
}

}  // namespace shardax
