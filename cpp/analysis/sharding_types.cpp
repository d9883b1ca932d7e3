// analysis/sharding_types.cpp - shardings of results as part of their types, and where JAX refuses.
#include <algorithm>

#include "analysis/shardings.h"
#include "array/checked_axis.h"
#include "ir/sharding_given.h"
#include "ops/split_check.h"

namespace shardax {
namespace {

SplitCheck check_of(const Op& op) {
  if (op.check_split) return op.check_split;
  return op.kind == Kind::elementwise ? ops::check_split_elementwise : nullptr;
}

AxisSet checked_names(const std::vector<std::string>& texts) {
  AxisSet out;
  for (const std::string& text : texts) out = join(out, AxisSet{intern_checked_axis(text)});
  return out;
}

// Of mapped axes, over which sums are left to do.
void type_sums(const Op& op, const Types& in, Types& out) {
  const Sums left = sums_left(op, in);
  for (Type& type : out) {
    for (const AxisState state : {AxisState::unreduced, AxisState::reduced})
      type.varying =
          with_state(type.varying, axes_in_state(type.varying, state), AxisState::shared);
    type.varying = with_state(type.varying, checked_names(left.unreduced), AxisState::unreduced);
    type.varying = with_state(type.varying, checked_names(left.reduced), AxisState::reduced);
  }
}

// The record's rules for results, for types. Over a mesh that nobody asked to be explicit there is
// always an answer.
void type_shardings(const Op& op, const Types& in, const Params& params, Types& out) {
  if (op.kind == Kind::control || op.kind == Kind::collective) return;
  if (std::any_of(in.begin(), in.end(), [](const Type& t) { return has_sums(t.varying); }))
    type_sums(op, in, out);
  Shardings operands;
  bool asked = false;
  for (const Type& type : in) {
    operands.push_back(type.sharding);
    asked = asked || asked_explicit(type.sharding);
  }
  for (Type& type : out) type.sharding = nullptr;
  const Shardings found = propagate(op, params, in, out, operands);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i].sharding = found[i] && found[i]->is_explicit() ? found[i] : nullptr;
  const bool typed =
      std::all_of(out.begin(), out.end(), [](const Type& t) { return bool(t.sharding); });
  const SplitCheck check = check_of(op);
  if (asked && typed && check && !sharding_given()) check(op, params, in, out);
}

const bool installed = (set_sharding_type_rule(type_shardings), true);

}  // namespace
}  // namespace shardax
