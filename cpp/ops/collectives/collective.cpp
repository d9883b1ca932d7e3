// ops/collectives/collective.cpp - axis_index and pvary. The family is described in
// ops/collectives/family.h.
#include <utility>

#include "array/checked_axis.h"
#include "ir/core_ops.h"
#include "ops/by_op.h"
#include "ops/collectives/family.h"

namespace shardax::ops {
namespace {

extern const Op pvary_op;

// Over axes that are not checked nothing says which devices' cotangents are whose: they pass.
Values transpose_pvary(const TransposeArgs& a) {
  const AxisSet checked = checked_axes(a.params.axes(param::collective_axes));
  if (checked.empty()) return {a.ct[0]};
  const Op& psum = core_ops().psum_invariant;
  return {reduce_devices(psum, a.ct[0], {checked, 1, {}})};
}

const Op axis_index_op{collective(
    {.name = "axis_index",
     .operands = 0,
     .doc = "The position of this device along an axis, int32.",
     .type = [](const Op& op, const Types&, const Params& params) -> Types {
       const AxisSet& axes = params.axes(param::axis_name);
       if (axes.size() != 1) value_error(op.name, ": ", axes.size(), " axes; one was expected.");
       return {Type{DType::int32, false, {}, axes}};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       if (!contains(a.params.axes(param::axis_name), a.axis.name))
         return {{bind1(a.op, a.params, {})}, {false}};
       return batched1(iota(DType::int32, {a.axis.size}, 0));
     },
     .no_gradient = true,
     .show = [](const Params& p) -> std::vector<std::string> { return {axes_text(p)}; }})};

const Op pvary_op{
    collective({.name = "pvary",
                .operands = 1,
                .doc = "The same value, typed as varying over axes; an identity at run time.",
                .cheap = true,
                .type = [](const Op&, const Types& in, const Params& params) -> Types {
                  Type out = in[0];
                  AxisSet axes = params.axes(param::collective_axes);
                  std::sort(axes.begin(), axes.end());
                  refuse_sums("pvary", out, axes);
                  out.varying = join(out.varying, axes);
                  return {out};
                },
                .jvp = [](const JvpArgs& a) -> Values { return {bind1(pvary_op, a.params, a.t)}; },
                .transpose = transpose_pvary,
                .batch = [](const BatchArgs& a) -> Batched {
                  const AxisSet rest = without(a.params.axes(param::collective_axes), a.axis.name);
                  const Value out = rest.empty() ? a.in[0] : pvary(a.in[0], rest);
                  const bool own = contains(a.params.axes(param::collective_axes), a.axis.name);
                  if (a.batched[0] || !own || !runs_by_op()) return {{out}, {a.batched[0]}};
                  return batched1(broadcast_leading(out, a.axis.size));  // repeated, not copied
                },
                .keys = KeyUse::forwards})};

}  // namespace

namespace {
constinit thread_local bool by_op = false;
}
bool runs_by_op() { return by_op; }
ByOpScope::ByOpScope() : outer_(std::exchange(by_op, true)) {}
ByOpScope::~ByOpScope() { by_op = outer_; }

bool stays_local(const Op& op) { return &op == &axis_index_op || &op == &pvary_op || is_cast(op); }

Value axis_index(AxisName axis, std::int64_t size) {
  return bind1(axis_index_op, {{"axis_name", AxisNames{{axis}}}, {"axis_size", size}}, {});
}

Value pvary(const Value& a, const AxisSet& axes) {
  return bind1(pvary_op, {{"axes", AxisNames{axes}}}, {a});
}

}  // namespace shardax::ops
