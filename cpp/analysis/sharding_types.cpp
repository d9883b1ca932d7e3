// analysis/sharding_types.cpp - shardings as part of types, with JAX's refusals.
#include <algorithm>

#include "analysis/shardings.h"
#include "array/checked_axis.h"
#include "base/errors.h"
#include "ir/sharding_given.h"
#include "ops/sharding_rules/ambiguity.h"
#include "ops/sharding_rules/sharding_rules.h"

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

// Sets the mapped axes over which sums are left to do.
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

// "int32[8]"
Type without_places(Type type) {
  type.sharding = nullptr;
  type.varying = {};
  return type;
}

// ValueError for an operand over another mesh than that of the context, or, where there is none,
// than another operand's.
void check_meshes(const Op& op, const Params& params, const Types& in) {
  if (given_sharding(params)) return;  // arrays come to another mesh in this way
  ShardingPtr mesh = context_mesh();
  if (mesh && !mesh->is_explicit()) return;
  const bool current = bool(mesh);
  for (const Type& type : in) {
    const ShardingPtr& own = type.sharding;
    if (!asked_explicit(own)) continue;
    if (!mesh) mesh = own;
    if (same_abstract_mesh(*mesh, *own)) continue;
    if (current)
      value_error("For primitive ", op.name, ", context mesh ", abstract_mesh_text(*mesh),
                  " should match the aval mesh ", abstract_mesh_text(*own), " for shape ",
                  to_string(without_places(type)),
                  ". Bring the array to the current mesh with device_put.");
    value_error("Mesh for all inputs should be equal. Got one mesh: ", abstract_mesh_text(*mesh),
                " and another mesh: ", abstract_mesh_text(*own),
                ". Bring one to the other's with device_put.");
  }
}

// The user asked for a result that is still to be summed: is it a sum over such axes?
void check_sums_asked(const Op& op, const Params& params, const Types& in) {
  std::vector<std::string> axes = sums_asked();
  if (axes.empty()) return;
  std::sort(axes.begin(), axes.end());
  if (op.split == ops::split_product) ops::check_sums_of_product(params, in, axes);
  if (op.kind == Kind::reduction) ops::check_sums_of_reduction(params, in, axes);
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
  if (asked && !sharding_given()) check_meshes(op, params, in);
  for (Type& type : out) type.sharding = nullptr;
  const Shardings found = propagate(op, params, in, out, operands);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i].sharding = found[i] && found[i]->is_explicit() ? found[i] : nullptr;
  const bool typed =
      std::all_of(out.begin(), out.end(), [](const Type& t) { return bool(t.sharding); });
  const SplitCheck check = check_of(op);
  if (asked && typed && check && !sharding_given()) check(op, params, in, out);
  if (asked && typed) check_sums_asked(op, params, in);
}

const bool installed = (set_sharding_type_rule(type_shardings), true);

}  // namespace
}  // namespace shardax
