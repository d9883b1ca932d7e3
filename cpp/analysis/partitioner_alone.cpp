// analysis/partitioner_alone.cpp - parts of results of whole arrays, computed without the rest.
#include <algorithm>

#include "analysis/partitioner.h"
#include "base/index.h"
#include "base/lists.h"
#include "ir/core_ops.h"
#include "ir/dim_factors.h"
#include "ops/ops.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/spmd_partition_rules.h"

namespace shardax {

namespace {
using Axes = std::vector<std::string>;
}

// The start of a device's part, in elements of each dimension.
Values Partitioner::starts_of(const Type& whole, const Split& split) const {
  const Shape part = ops::part_shape(whole, split, mesh_);
  Values starts;
  for (std::size_t d = 0; d < split.size(); ++d) {
    AxisSet axes;
    for (const std::string& axis : split[d]) axes.push_back(intern_axis(axis));
    const Value size = ops::scalar(DType::int32, static_cast<double>(part[d]));
    starts.push_back(axes.empty() ? ops::scalar(DType::int32, 0)
                                  : ops::mul(ops::position_along(axes, "a part"), size));
  }
  return starts;
}

// The op on parts of its operands; dimensions that parts of operands do not split are cut. Null
// where that is all of them.
Value Partitioner::by_dims(const Op& op, const Params& params, const HeldList& in,
                           const Types& in_types, const Type& out, const Split& split) {
  const DimFactors dims = *dim_factors(op, params, in_types, out);
  ops::FactorAxes axes(dims.factors.size());
  Split computed(split.size());
  for (std::size_t d = 0; d < split.size(); ++d) {
    if (dims.result[d].empty()) continue;
    const std::int32_t factor = dims.result[d][0];
    const Factor& own = dims.at(factor);
    const auto is_led = [&](const ArrayFactors& operand) {
      return std::ranges::all_of(operand, [&](const FactorList& own) {
        return own.empty() || own[0] == factor || !has(own, factor);
      });
    };
    if (own.use != FactorUse::parallel || own.size % ops::parts_of(split[d], mesh_) != 0 ||
        !std::ranges::all_of(dims.operands, is_led))
      continue;
    axes[index(factor)] = computed[d] = split[d];
  }
  if (std::ranges::all_of(computed, &Axes::empty)) return nullptr;
  Values values;
  for (std::size_t i = 0; i < in.size(); ++i)
    values.push_back(value_at(in[i], ops::split_as(dims.operands[i], axes)));
  const Value part = bind1(op, resized(op, params, ops::part_shape(out, computed, mesh_)), values);
  return messages_.resplit({part, computed}, split).value;
}

// A part of an op on whole operands, or of a broadcast, is computed alone. Programs drop the whole
// if nothing needs it.
void Partitioner::make_in_parts(Parted& result, const Equation& eqn, const HeldList& in,
                                const Types& in_types, const Type& out) {
  constexpr int most_ops = 200;  // each is a call within a call
  const bool repeats = eqn.op == &core_ops().broadcast_in_dim;
  const auto is_whole = [](const PartedPtr& array) {
    return form(array).open.empty() && std::ranges::all_of(form(array).split, &Axes::empty);
  };
  if (!repeats && !std::ranges::all_of(in, is_whole)) return;
  for (const PartedPtr& array : in) result.made_of = std::max(result.made_of, array->made_of + 1);
  if (result.made_of > most_ops) {
    result.made_of = 0;
  } else if (eqn.op->part) {
    result.make = [this, op = eqn.op, params = eqn.params, in, out](const Split& split) {
      Values operands;
      for (const PartedPtr& array : in) operands.push_back(whole(array));
      return op->part(
          {*op, params, operands, out, ops::part_shape(out, split, mesh_), starts_of(out, split)});
    };
  } else if (dim_factors(*eqn.op, eqn.params, in_types, out)) {
    result.make = [this, op = eqn.op, params = eqn.params, in, in_types, out](const Split& split) {
      return by_dims(*op, params, in, in_types, out, split);
    };
  }
}

}  // namespace shardax
