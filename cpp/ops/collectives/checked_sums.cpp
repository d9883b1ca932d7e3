// ops/collectives/checked_sums.cpp - collectives between values and sums over checked axes that are
// left to do: casts between the states of a value (array/checked_axis.h), and the sums themselves.
//
//   preduced             shared -> reduced       transposes to unreduced_psum
//   vary_unreduced_cast  varying -> unreduced    to reduced_vary_cast
//   reduced_vary_cast    reduced -> varying      to vary_unreduced_cast
//   reduced_value        reduced -> shared       to first_term
//   unreduced_psum       unreduced -> shared     to preduced
//
// At run time casts are identities.
#include <algorithm>

#include "array/checked_axis.h"
#include "ir/core_ops.h"
#include "ops/collectives/family.h"

namespace shardax::ops {
namespace {

extern const Op preduced_op, vary_unreduced_op, reduced_vary_op, reduced_value_op,
    unreduced_psum_op;

std::string_view name_of(AxisState state) {
  switch (state) {
    case AxisState::shared: return "invarying";
    case AxisState::varying: return "varying";
    case AxisState::unreduced: return "unreduced";
    case AxisState::reduced: return "reduced";
  }
  return {};
}

// A cast from any state over the axes, which callers check, to another.
template <AxisState to>
Types cast_type(const Op&, const Types& in, const Params& params) {
  Type out = in[0];
  out.varying = with_state(out.varying, checked_axes(params.axes(param::collective_axes)), to);
  return {out};
}

// The same op over the axes that are left, or the operand.
Batched batch_cast(const BatchArgs& a) {
  const AxisSet rest = without(a.params.axes(param::collective_axes), a.axis.name);
  const Value& x = a.in[0];
  return {{rest.empty() ? x : bind1(a.op, {{"axes", AxisNames{rest}}}, {x})}, {a.batched[0]}};
}

template <const Op& self>
Values jvp_self(const JvpArgs& a) {
  return {bind1(self, a.params, a.t)};
}
template <const Op& other>
Values transpose_to(const TransposeArgs& a) {
  return {bind1(other, a.params, a.ct)};
}

const Op preduced_op{
    collective({.name = "preduced",
                .operands = 1,
                .doc = "A value that all devices share, whose cotangents each has a term of.",
                .type = cast_type<AxisState::reduced>,
                .jvp = jvp_self<preduced_op>,
                .transpose = transpose_to<unreduced_psum_op>,
                .batch = batch_cast,
                .show = show_axes,
                .keys = KeyUse::forwards})};

const Op vary_unreduced_op{
    collective({.name = "vary_unreduced_cast",
                .operands = 1,
                .doc = "Each device's value, as its term of a sum that is left to do.",
                .type = cast_type<AxisState::unreduced>,
                .jvp = jvp_self<vary_unreduced_op>,
                .transpose = transpose_to<reduced_vary_op>,
                .batch = batch_cast,
                .show = show_axes})};

const Op reduced_vary_op{collective({.name = "reduced_vary_cast",
                                     .operands = 1,
                                     .doc = "A value that is reduced, as each device's own.",
                                     .type = cast_type<AxisState::varying>,
                                     .jvp = jvp_self<reduced_vary_op>,
                                     .transpose = transpose_to<vary_unreduced_op>,
                                     .batch = batch_cast,
                                     .show = show_axes,
                                     .keys = KeyUse::forwards})};

const Op reduced_value_op{
    collective({.name = "reduced_value",
                .operands = 1,
                .doc = "A value that is reduced, as one that all devices share.",
                .type = cast_type<AxisState::shared>,
                .jvp = jvp_self<reduced_value_op>,
                .transpose = [](const TransposeArgs& a) -> Values {
                  return {first_term(a.ct[0], a.params.axes(param::collective_axes))};
                },
                .batch = batch_cast,
                .show = show_axes,
                .keys = KeyUse::forwards})};

const Op unreduced_psum_op{
    collective({.name = "unreduced_psum",
                .operands = 1,
                .doc = "The sum that an unreduced value stands for; every device has it.",
                .checks = makes_nan,
                .dtypes = numbers,
                .type = cast_type<AxisState::shared>,
                .jvp = jvp_self<unreduced_psum_op>,
                .transpose = transpose_to<preduced_op>,
                .batch = [](const BatchArgs& a) { return core_ops().psum_invariant.batch(a); },
                .show = show_axes})};

constexpr const Op* casts[] = {&preduced_op, &vary_unreduced_op, &reduced_vary_op,
                               &reduced_value_op};

}  // namespace

namespace {

[[noreturn]] void refuse_mixed(const Value& a, AxisName one, AxisName other,
                               std::string_view user) {
  const AxisSet& axes = a->type().varying;
  value_error("jax.lax.", user,
              " can only accept axis_name which corresponds to one of varying, unreduced, reduced "
              "or invarying state of the input. Got input type: ",
              to_string(a->type()), ", which is ", name_of(state_over(axes, one)), " over '",
              axis_text(one), "' and ", name_of(state_over(axes, other)), " over '",
              axis_text(other), "'. Name such axes apart.");
}

}  // namespace

bool is_cast(const Op& op) { return std::ranges::find(casts, &op) != std::end(casts); }

AxisState common_state(const Value& a, const AxisSet& axes, std::string_view user) {
  const AxisSet checked = checked_axes(axes);
  if (checked.empty()) return AxisState::varying;
  const AxisState state = state_over(a->type().varying, checked[0]);
  for (const AxisName name : checked) {
    const AxisState other = state_over(a->type().varying, name);
    if (other == state || (other <= AxisState::varying && state <= AxisState::varying)) continue;
    refuse_mixed(a, checked[0], name, user);
  }
  return state;
}

Value first_term(const Value& a, const AxisSet& axes) {
  Value term = pvary(a, axes);
  for (const AxisName name : axes) {
    const Value first =
        eq(axis_index(name, axis_size(name, "first_term")), scalar(DType::int32, 0));
    term = where(broadcast_to(first, a->shape()), term, full_like(term, 0));
  }
  return bind1(vary_unreduced_op, {{"axes", AxisNames{axes}}}, {term});
}

Value value_of_reduced(const Value& a, const AxisSet& axes) {
  return bind1(reduced_value_op, {{"axes", AxisNames{axes}}}, {a});
}

Value cast_state(const Value& a, const AxisSet& axes, AxisState to) {
  const AxisState from = common_state(a, axes, "pcast");
  const AxisSet checked = checked_axes(axes);
  if (checked.empty()) return to == AxisState::varying ? pvary(a, axes) : a;
  for (const AxisName name : checked) {
    if (state_over(a->type().varying, name) != from) refuse_mixed(a, checked[0], name, "pcast");
  }
  const Op* op = nullptr;
  if (from == AxisState::shared && to == AxisState::varying) op = &core_ops().pvary;
  if (from == AxisState::shared && to == AxisState::reduced) op = &preduced_op;
  if (from == AxisState::varying && to == AxisState::unreduced) op = &vary_unreduced_op;
  if (from == AxisState::reduced && to == AxisState::varying) op = &reduced_vary_op;
  if (!op) {
    value_error(
        "pcast: Unsupported pcast from=", name_of(from), ", to='", name_of(to),
        "'; the operand has type ", to_string(a->type()),
        to == AxisState::unreduced ? ". vary_unreduced_cast is a Varying->Unreduced collective"
                                   : "",
        ". A value is cast from invarying to varying or reduced, from varying to unreduced, "
        "and from reduced to varying.");
  }
  return bind1(*op, {{"axes", AxisNames{checked}}}, {a});
}

}  // namespace shardax::ops
