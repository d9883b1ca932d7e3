// ops/sums.cpp - which ops go with sums that are still to be done.
#include "ops/sums.h"

#include <algorithm>

#include "base/errors.h"
#include "ir/sharding_given.h"

namespace shardax::ops {
namespace {

using Axes = std::vector<std::string>;

const Axes& unreduced(const Type& type) {
  static const Axes none;
  return type.sharding ? type.sharding->unreduced : none;
}
const Axes& reduced(const Type& type) {
  static const Axes none;
  return type.sharding ? type.sharding->reduced : none;
}

std::string set_text(const Axes& axes) { return concat("{", quoted(axes), "}"); }

// Nothing is refused where a program runs that was staged before.
template <class... Args>
void refuse(const Args&... args) {
  if (!sharding_given()) fail(ErrorKind::sharding_type_error, args...);
}

bool splits(const Type& type, const std::string& axis) {
  const auto& spec = type.sharding->spec;
  return std::any_of(spec.begin(), spec.end(), [&](const Axes& axes) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  });
}

// Those over which an operand is reduced; the others are reduced over the same, and do not vary.
Axes reduced_of(const Types& in) {
  Axes found;
  for (const Type& type : in) {
    const Axes& own = reduced(type);
    if (own.empty()) continue;
    if (!found.empty() && own != found)
      refuse("All inputs should be reduced across the same mesh axes. Got specs: ", set_text(found),
             " and ", set_text(own));
    found = own;
  }
  for (const Type& type : in) {
    for (const std::string& axis : found) {
      if (!type.sharding) continue;
      const Axes &own = reduced(type), &open = unreduced(type);
      if (std::find(own.begin(), own.end(), axis) != own.end() ||
          std::find(open.begin(), open.end(), axis) != open.end())
        continue;
      if (splits(type, axis))
        refuse(
            "Inputs cannot be sharded/varying on the same axes that another input is reduced on. "
            "Reshard the input which is reduced to be sharded on the mesh axes it is reduced on via"
            " `jax.sharding.reshard(inp, jax.P(...))`. Got input type: ",
            to_string(type), " and reduced spec: ", set_text(found));
      refuse(
          "Inputs cannot be replicated on the same axes that another input is reduced on. Got "
          "input type: ",
          to_string(type), " and reduced spec: ", set_text(found));
    }
  }
  return found;
}

bool any_unreduced(const Types& in) {
  return std::any_of(in.begin(), in.end(), [](const Type& t) { return !unreduced(t).empty(); });
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

Sums sums_kept(const Op&, const Types& in) { return {unreduced(in[0]), reduced(in[0])}; }

Sums sums_added(const Op& op, const Types& in) {
  Sums out{{}, reduced_of(in)};
  if (!any_unreduced(in)) return out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Axes &own = unreduced(in[i]), &other = unreduced(in[i == 0 ? in.size() - 1 : 0]);
    if (own.empty()) continue;
    out.unreduced = own;
    if (own == other) continue;
    if (!other.empty())
      refuse("lhs and rhs to `", op.name,
             "` must be unreduced along the same mesh axes. Got lhs=", set_text(unreduced(in[0])),
             ", rhs=", set_text(unreduced(in.back())));
    const bool left = i == 0;
    refuse(left ? "lhs" : "rhs", " is unreduced while ", left ? "rhs" : "lhs", " is not. `",
           op.name,
           "` operation does not allow this because there will be implicit communication. Please "
           "reduce ",
           left ? "lhs" : "rhs", " via `reshard` before calling `", op.name, "`.");
  }
  return out;
}

Sums sums_selected(const Op& op, const Types& in) {
  return sums_added(op, Types(in.begin() + 1, in.end()));
}

Sums sums_multiplied(const Op& op, const Types& in) {
  Sums out{{}, reduced_of(in)};
  const Axes &left = unreduced(in[0]), &right = unreduced(in[1]);
  if (!left.empty() && !right.empty())
    refuse("lhs and rhs to `", op.name,
           "` cannot be unreduced since mul is bilinear. Got lhs=", set_text(left),
           ", rhs=", set_text(right));
  for (const std::size_t i : {0, 1}) {
    const Axes& own = unreduced(in[i]);
    if (own.empty()) continue;
    if (own != reduced(in[1 - i]))
      refuse(i == 0 ? "RHS should be reduced along the same axes LHS is unreduced on."
                    : "LHS should be reduced along the same axes RHS is unreduced on.",
             " Got lhs=", to_string(in[0]), " and rhs=", to_string(in[1]));
    out = {own, {}};
  }
  return out;
}

Sums sums_contracted(const Op& op, const Types& in) {
  if (any_unreduced(in))
    refuse("lhs or rhs passed to ", op.name, " cannot be unreduced. Got lhs=", to_string(in[0]),
           " and rhs=", to_string(in[1]));
  return {};
}

}  // namespace shardax::ops
