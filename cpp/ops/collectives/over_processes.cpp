// ops/collectives/over_processes.cpp - collectives over process axes, as messages.
//
// A reduction is one message of one device's size. Any other collective is the op on an array whose
// dimension 0 lists the processes (its batching rule). Each process makes its own row of it.
// Permutes, exchanges and scatters over whole processes send only the data that is needed.
#include <limits>

#include "array/process_axis.h"
#include "ir/core_ops.h"
#include "ops/collectives/family.h"
#include "ops/collectives/process_ops.h"
#include "ops/collectives/sum_groups.h"
#include "ops/indexing/index.h"
#include "trace/stage.h"

namespace shardax::ops {
namespace {

Params over(const AxisSet& axes) { return {{"axes", AxisNames{axes}}}; }

Value process_index(AxisName axis) { return bind1(core_ops().process_index, over({axis}), {}); }

// Row `position` of dimension 0.
Value own_row(const Value& rows, const Value& position) {
  Values starts(rows->shape().size(), scalar(DType::int32, 0));
  starts[0] = position;
  Shape sizes = rows->shape(), shape = rows->shape();
  sizes[0] = 1;
  shape.erase(0);
  return reshape(dynamic_slice(rows, starts, sizes), shape);
}

Value reduced(const Equation& eqn, const Value& x, std::string_view computation) {
  const Value sent = as_sent(x, computation);
  const Value sum = process_all_reduce({sent}, collective_axes(eqn.params), computation)[0];
  return convert(sum, x->dtype());
}

// One axis after the other: the part left over others is such a collective again.
Values on_all_rows(const Equation& eqn, const Values& in) {
  const AxisName axis = collective_axes(eqn.params)[0];
  Values rows;
  for (const Value& x : in) rows.push_back(bind1(core_ops().process_all_gather, over({axis}), {x}));
  const std::vector<bool> batched(in.size(), true);
  const BatchAxis processes{process_axis_size(axis), axis, true};
  Batched out = eqn.op->batch({*eqn.op, eqn.params, rows, batched, processes});
  for (std::size_t i = 0; i < out.out.size(); ++i) {
    if (out.batched[i]) out.out[i] = own_row(out.out[i], process_index(axis));
  }
  return std::move(out.out);
}

}  // namespace

// Devices leave NaNs aside where one of them has a number.
Value as_sent(const Value& value, std::string_view computation) {
  const DType dtype = value->dtype();
  if (computation == "add") {
    if (is_half(dtype) || is_narrow_float(dtype)) return convert(value, DType::float32);
    return is_narrow_integer(dtype) ? convert(value, DType::int32) : value;
  }
  const Value sent = is_narrow(dtype)
                         ? convert(value, is_narrow_float(dtype) ? DType::float32 : DType::int32)
                         : value;
  if (!is_floating(dtype)) return sent;
  const double least = std::numeric_limits<double>::infinity() * (computation == "max" ? -1 : 1);
  return where(ne(sent, sent), full_like(sent, least), sent);
}

bool is_between_processes(const Equation& eqn) {
  if (eqn.op->effect == "Message") return true;
  return eqn.op->kind == Kind::collective && !stays_local(*eqn.op) &&
         !process_axes(collective_axes(eqn.params)).empty();
}

bool is_over_processes(const Equation& eqn) {
  if (eqn.op->kind != Kind::collective) return false;
  const AxisSet& axes = collective_axes(eqn.params);
  return !axes.empty() && process_axes(axes).size() == axes.size();
}

std::string_view computation_of(const Op& op) {
  if (&op == &core_ops().psum || &op == &core_ops().psum_invariant) return "add";
  if (&op == &core_ops().pmax) return "max";
  return &op == &core_ops().pmin ? "min" : "";
}

ProgramPtr over_processes(const Equation& eqn, const Types& in) {
  const LocationScope location(eqn.location);
  return stage_closed(
      in,
      [&](const Values& v) -> Values {
        if (eqn.op == &core_ops().axis_index)
          return {process_index(collective_axes(eqn.params)[0])};
        if (stays_local(*eqn.op)) return v;
        if (has_sum_groups(eqn.params)) {
          fail(ErrorKind::not_implemented_error,
               "jit: a sum over arrays that span processes, while jax_sum_groups is ",
               eqn.params.integer(param::sum_groups),
               ": it is made of sums in pmap and in shard_map. Use shard_map here, or set "
               "jax_sum_groups to 0.");
        }
        const std::string_view computation = computation_of(*eqn.op);
        if (!computation.empty() && groups_of(eqn.params).empty() &&
            stacked_axes(eqn.params).empty())
          return {reduced(eqn, v[0], computation)};
        if (const Value exchanged = v.empty() ? nullptr : exchange_processes(eqn, v[0]))
          return {exchanged};
        return on_all_rows(eqn, v);
      },
      std::string(eqn.op->name));
}

}  // namespace shardax::ops
