// ops/collectives/reduce.cpp - collectives after which all devices have one value: psum, pmax, ...
#include <limits>

#include "array/checked_axis.h"
#include "base/index.h"
#include "ir/core_ops.h"
#include "ops/collectives/family.h"
#include "ops/collectives/sum_groups.h"
#include "ops/param_checks.h"

namespace shardax::ops {
namespace {

extern const Op psum_op, psum_invariant_op, pmax_op, pmin_op, pargmax_op, pargmin_op, pbroadcast_op;

// Weak over checked axes only, as in JAX.
Types shared_type(const Op& op, const Types& in, const Params& params) {
  check_dtype(op, in[0].dtype);
  const Type shared = shared_by_devices(in[0], params);
  return {unchecked_axes(collective_axes(params)).empty() ? shared
                                                          : with_dtype(shared, in[0].dtype)};
}

// psum, pmax and pmin name their axes otherwise than other collectives, as in JAX.
std::vector<std::string> show_reduction(const Params& p) {
  return {concat("axes=", to_string(*p.find("axes"))), groups_text(p)};
}
ParamName axes_param(const Op& op) {
  return op.show == show_reduction || op.show == show_axes ? ParamName("axes")
                                                           : ParamName("axis_name");
}

// One group of all devices is reduced axis by axis, which keeps values that do not vary over an
// axis small.
template <GroupRule rule>
Batched batch_reduction(const BatchArgs& a) {
  const AxisSet& axes = collective_axes(a.params);
  const bool whole = groups_of(a.params).empty() && !a.params.has("stacked");
  if (!whole || !contains(axes, a.axis.name)) return batch_collective(a, rule);
  if (has_sum_groups(a.params) && a.axis.devices) return sum_by_groups(a);
  Value value = rule({a.params, a.in[0], bool(a.batched[0]), a.axis.size}).value;
  // The type rule has spoken for devices; an ordinary vmap keeps weak types.
  if (a.axis.devices && value->type().weak && !is_checked(a.axis.name))
    value = convert(value, value->dtype());
  const AxisSet rest = without(axes, a.axis.name);
  if (rest.empty()) return {{value}, {false}};
  return {{bind1(a.op, a.params.with(axes_param(a.op), AxisNames{rest}), {value})}, {false}};
}

const Op psum_op{collective(
    {.name = "psum",
     .operands = 1,
     .doc = "Sum over mapped axes; every device has the result.",
     .checks = makes_nan,
     .dtypes = numbers,
     .type = behind_stacked<shared_type>,
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(psum_op, a.params, a.t)}; },
     .transpose = [](const TransposeArgs& a) -> Values { return {bind1(psum_op, a.params, a.ct)}; },
     .batch = batch_reduction<[](const GroupArgs& a) -> GroupResult {
       if (a.varying) return {reduce_sum(a.x, {0}), false};
       const auto size = static_cast<double>(a.size);
       return {mul(a.x, scalar(a.x->dtype(), size, a.x->type().weak)), false};
     }>,
     .show = show_reduction})};

const Op psum_invariant_op{collective(
    {.name = "psum_invariant",
     .operands = 1,
     .doc = "The sum over checked axes, which all devices share: the transpose of pvary.",
     .checks = makes_nan,
     .dtypes = numbers,
     .type = behind_stacked<shared_type>,
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(psum_invariant_op, a.params, a.t)}; },
     .transpose = [](const TransposeArgs& a) -> Values {
       return {pvary(a.ct[0], a.params.axes(param::collective_axes))};
     },
     .batch = psum_op.batch,
     .show = show_axes})};

// Over checked axes sums are `psum_invariant`.
Value sum_over(const Params& given, const Value& x) {
  const Params params = in_sum_groups(given);
  const bool groups = !groups_of(params).empty();
  const AxisSet& axes = params.axes(param::collective_axes);
  const AxisSet checked = groups ? AxisSet() : checked_axes(axes);
  if (checked.empty()) return bind1(psum_op, params, {x});
  const Op& unreduced_psum = core_ops().unreduced_psum;
  const bool left = common_state(x, checked, "psum") == AxisState::unreduced;
  const Value sum =
      left ? bind1(unreduced_psum, in_sum_groups({{"axes", AxisNames{checked}}}), {x})
           : bind_checked(psum_invariant_op, params.with("axes", AxisNames{checked}), x);
  const AxisSet rest = unchecked_axes(axes);
  return rest.empty() ? sum : bind1(psum_op, params.with("axes", AxisNames{rest}), {sum});
}

// A device that attains the extremum has a share of the tangent; ties share it equally.
Values jvp_extremum(const JvpArgs& a) {
  const auto sum = [&](const Value& x) { return sum_over(a.params, x); };
  const Value mask = convert(eq(a.in[0], a.out[0]), a.in[0]->dtype());
  return {div(sum(mul(a.t[0], mask)), sum(mask))};
}

template <bool greatest>
GroupResult extremum_of_group(const GroupArgs& a) {
  if (!a.varying) return {a.x, false};
  return {greatest ? reduce_max(a.x, {0}) : reduce_min(a.x, {0}), false};
}

// Several devices leave NaNs aside, as JAX's do; without any number it is the infinity that every
// number replaces. An ordinary vmap has a NaN where an element is one.
template <bool greatest>
Batched batch_extremum(const BatchArgs& a) {
  Values in = a.in;
  const bool leaves_aside = a.axis.devices && a.axis.size > 1 && is_floating(a.in[0]->dtype()) &&
                            contains(a.params.axes(param::collective_axes), a.axis.name);
  if (leaves_aside) {
    const double least = std::numeric_limits<double>::infinity() * (greatest ? -1 : 1);
    in[0] = where(ne(in[0], in[0]), full_like(in[0], least), in[0]);
  }
  return batch_reduction<extremum_of_group<greatest>>({a.op, a.params, in, a.batched, a.axis});
}

const Op pmax_op{collective(
    {.name = "pmax",
     .operands = 1,
     .doc = "Maximum over mapped axes, over devices of what is not NaN. Ties share the gradient.",
     .dtypes = any_dtype,
     .type = behind_stacked<shared_type>,
     .jvp = jvp_extremum,
     .batch = batch_extremum<true>,
     .show = show_reduction})};

const Op pmin_op{collective(
    {.name = "pmin",
     .operands = 1,
     .doc = "Minimum over mapped axes, over devices of what is not NaN. Ties share the gradient.",
     .dtypes = any_dtype,
     .type = behind_stacked<shared_type>,
     .jvp = jvp_extremum,
     .batch = batch_extremum<false>,
     .show = show_reduction})};

// ---- pargmax, pargmin ------------------------------------------------------------------------

Types position_type(const Op& op, const Types& in, const Params& params) {
  check_dtype(op, in[0].dtype);
  return {with_dtype(shared_by_devices(in[0], params), DType::int32)};
}

GroupResult position(const GroupArgs& a, std::string_view op) {
  if (!a.varying) return {zeros(with_dtype(a.x->type(), DType::int32)), false};
  const Params params{{"axes", Ints{0}}, {"index_dtype", DType::int32}};
  return {bind1(*find_op(op), params, {a.x}), false};
}

constexpr DTypeSet ordered = any_dtype & ~complexes;

const Op pargmax_op{
    collective({.name = "pargmax",
                .operands = 1,
                .doc = "The position of the first device that has the largest element, or a NaN.",
                .dtypes = ordered,
                .type = behind_stacked<position_type>,
                .batch = batch_over<[](const GroupArgs& a) { return position(a, "argmax"); }>,
                .no_gradient = true})};

const Op pargmin_op{
    collective({.name = "pargmin",
                .operands = 1,
                .doc = "The position of the first device that has the smallest element, or a NaN.",
                .dtypes = ordered,
                .type = behind_stacked<position_type>,
                .batch = batch_over<[](const GroupArgs& a) { return position(a, "argmin"); }>,
                .no_gradient = true})};

// ---- pbroadcast ------------------------------------------------------------------------------

// The cotangents of all devices are summed; the source keeps the sum, the others have zeros.
Values transpose_broadcast(const TransposeArgs& a) {
  const std::int64_t source = a.params.integer(param::source);
  Ints pairs;
  for (const Ints& group : groups_of(a.params)) {
    const std::int64_t device = group[index(source)];
    pairs.push_back(device);
    pairs.push_back(device);
  }
  if (pairs.empty()) pairs = {source, source};
  Params keep = same_devices(a.params, "axis_name");
  keep.set("axis_index_groups", std::monostate{});
  keep.set("perm", pairs);
  return {bind1(core_ops().ppermute, keep, {bind1(psum_op, same_devices(a.params, "axes"), a.ct)})};
}

Types broadcast_type(const Op& op, const Types& in, const Params& params) {
  return {varying_over_checked(shared_type(op, in, params)[0], params)};
}

void check_source(const Params& params, std::int64_t size) {
  const std::int64_t source = params.integer(param::source);
  if (source >= 0 && source < size) return;
  value_error("pbroadcast: source ", source, " is outside of the axis of size ", size,
              "; sources run from 0 to ", size - 1, ".");
}

const Op pbroadcast_op{collective(
    {.name = "pbroadcast",
     .operands = 1,
     .doc = "The value of one device of an axis, for all of them.",
     .dtypes = any_dtype,
     .type = behind_stacked<broadcast_type>,
     .check_axes =
         [](const Op& op, const Params& params, const Types& in, const AxesInScope& scope) {
           const DeviceCount devices = check_devices(op, params, in, scope);
           if (devices.known && devices.group >= 0) check_source(params, devices.group);
         },
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(pbroadcast_op, a.params, a.t)}; },
     .transpose = transpose_broadcast,
     .batch = batch_over<[](const GroupArgs& a) -> GroupResult {
       return {a.varying ? index_in_dim(a.x, a.params.integer(param::source), 0) : a.x, false};
     }>,
     .show = [](const Params& p) -> std::vector<std::string> {
       return {axes_text(p), concat("source=", p.integer(param::source))};
     }})};

}  // namespace

Value reduce_devices(const Op& op, const Value& a, const Devices& devices) {
  const bool sums = &op == &psum_op || &op == &psum_invariant_op;
  const Params given = device_params(devices, axes_param(op));
  const Params params = sums ? in_sum_groups(given) : given;
  if (&op == &psum_op && devices.groups.empty() && !checked_axes(devices.axes).empty()) {
    check_dtype(op, a->dtype());
    return sum_over(params, a);
  }
  if (!devices.axes.empty()) return bind_checked(op, params, a);
  // Over no axis there is one value, which is the result unless that is an index.
  const bool same = infer_types(op, {a->type()}, params)[0].dtype == a->dtype();
  return same ? a : reduce_dimension(op, expand_dims(a, {0}), 0);
}

Value reduce_dimension(const Op& op, const Value& a, std::int64_t dim) {
  static const AxisName name = intern_axis("<dimension>");
  const std::int64_t size = a->shape()[index(dim)];
  const Params params = device_params({{name}, size, {}}, axes_param(op));
  return op.batch({op, params, {moveaxis(a, dim, 0)}, {true}, {size, name}}).out[0];
}

Value pbroadcast(const Value& a, const Devices& devices, std::int64_t source) {
  Params params = device_params(devices, "axis_name");
  params.set("source", source);
  check_source(params, devices.group_size());
  return bind_checked(pbroadcast_op, params, a);
}

}  // namespace shardax::ops
