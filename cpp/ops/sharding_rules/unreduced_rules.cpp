// ops/sharding_rules/unreduced_rules.cpp - ops that keep unreduced sums.
#include "ops/sharding_rules/unreduced_rules.h"

#include <algorithm>

#include "array/checked_axis.h"
#include "base/errors.h"
#include "base/lists.h"
#include "ir/sharding_given.h"

namespace shardax::ops {
namespace {

using Axes = std::vector<std::string>;

std::string set_text(const Axes& axes) { return concat("{", quoted(axes), "}"); }

// Nothing is refused where a program runs that was staged before.
template <class... Args>
void refuse_type(const Args&... args) {
  if (!sharding_given()) fail(ErrorKind::sharding_type_error, args...);
}

bool splits(const Type& type, const std::string& axis) {
  const AxisSet varying = checked_axes(type.varying);
  if (std::any_of(varying.begin(), varying.end(),
                  [&](AxisName name) { return axis_text(name) == axis; }))
    return true;
  if (!type.sharding) return false;
  const auto& spec = type.sharding->spec;
  return std::any_of(spec.begin(), spec.end(), [&](const Axes& axes) { return has(axes, axis); });
}

// Is an operand in such a state over an axis that is mapped, not split by types?
bool mapped_sums(const Types& in) {
  return std::any_of(in.begin(), in.end(), [](const Type& type) { return has_sums(type.varying); });
}

// The axes over which an operand is reduced; the others are reduced over the same, and do not vary.
// Scalars of a program over a mesh are of no state.
Axes reduced_of(const Types& in) {
  Axes found;
  for (const Type& type : in) {
    const Axes own = type.reduced();
    if (own.empty()) continue;
    if (!found.empty() && own != found)
      refuse_type("All inputs should be reduced across the same mesh axes. Got specs: ",
                  set_text(found), " and ", set_text(own));
    found = own;
  }
  const bool mapped = mapped_sums(in);
  for (const Type& type : in) {
    const Axes own = type.reduced(), open = type.unreduced();
    for (const std::string& axis : found) {
      if ((!type.sharding && !mapped) || has(own, axis) || has(open, axis)) continue;
      if (splits(type, axis))
        refuse_type(
            "Inputs cannot be sharded/varying on the same axes that another input is reduced on. "
            "Reshard the input which is reduced to be sharded on the mesh axes it is reduced on via"
            " `jax.sharding.reshard(inp, jax.P(...))`. Got input type: ",
            to_string(type), " and reduced spec: ", set_text(found));
      refuse_type(
          "Inputs cannot be replicated on the same axes that another input is reduced on. Got "
          "input type: ",
          to_string(type), " and reduced spec: ", set_text(found));
    }
  }
  return found;
}

bool any_unreduced(const Types& in) {
  return std::any_of(in.begin(), in.end(), [](const Type& t) { return !t.unreduced().empty(); });
}

}  // namespace

Sums no_sums(const Op& op, const Types&) {
  if (!sharding_given())
    fail(ErrorKind::not_implemented_error, "unreduced/reduced rule for ", op.name,
         " is not implemented. Sum the operand first, with shardax.reshard.");
  return {};
}

Sums sums_elementwise(const Op& op, const Types& in) {
  if (any_unreduced(in) && !sharding_given())
    fail(ErrorKind::not_implemented_error, "unreduced rule for ", op.name,
         " is not implemented: it is not linear. Sum the operand first, with shardax.reshard.");
  return {{}, reduced_of(in)};
}

Sums sums_kept(const Op&, const Types& in) { return {in[0].unreduced(), in[0].reduced()}; }

Sums sums_added(const Op& op, const Types& in) {
  Sums out{{}, reduced_of(in)};
  if (!any_unreduced(in)) return out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Axes own = in[i].unreduced(), other = in[i == 0 ? in.size() - 1 : 0].unreduced();
    if (own.empty()) continue;
    out.unreduced = own;
    if (own == other) continue;
    if (!other.empty())
      refuse_type("lhs and rhs to `", op.name,
                  "` must be unreduced along the same mesh axes. Got lhs=",
                  set_text(in[0].unreduced()), ", rhs=", set_text(in.back().unreduced()));
    const bool left = i == 0;
    refuse_type(
        left ? "lhs" : "rhs", " is unreduced while ", left ? "rhs" : "lhs", " is not. `", op.name,
        "` operation does not allow this because there will be implicit communication. Please "
        "reduce ",
        left ? "lhs" : "rhs", " via `reshard` before calling `", op.name, "`.");
  }
  return out;
}

Sums sums_selected(const Op& op, const Types& in) {
  return sums_added(op, Types(in.begin() + 1, in.end()));
}

Sums sums_scattered(const Op& op, const Types& in) { return sums_added(op, {in[0], in[2]}); }

Sums sums_multiplied(const Op& op, const Types& in) {
  Sums out{{}, reduced_of(in)};
  const Axes left = in[0].unreduced(), right = in[1].unreduced();
  if (!left.empty() && !right.empty())
    refuse_type("lhs and rhs to `", op.name,
                "` cannot be unreduced since mul is bilinear. Got lhs=", set_text(left),
                ", rhs=", set_text(right));
  for (const std::size_t i : {0, 1}) {
    const Axes own = in[i].unreduced();
    if (own.empty()) continue;
    if (own != in[1 - i].reduced())
      refuse_type(i == 0 ? "RHS should be reduced along the same axes LHS is unreduced on."
                         : "LHS should be reduced along the same axes RHS is unreduced on.",
                  " Got lhs=", to_string(in[0]), " and rhs=", to_string(in[1]));
    out = {own, {}};
  }
  return out;
}

Sums sums_contracted(const Op& op, const Types& in) {
  if (mapped_sums(in)) return sums_multiplied(op, in);
  if (any_unreduced(in))
    refuse_type("lhs or rhs passed to ", op.name,
                " cannot be unreduced. Got lhs=", to_string(in[0]), " and rhs=", to_string(in[1]));
  return {};
}

}  // namespace shardax::ops
