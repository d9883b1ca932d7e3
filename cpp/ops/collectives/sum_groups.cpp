// ops/collectives/sum_groups.cpp - groups of devices, each summed by itself, then added in pairs.
#include "ops/collectives/sum_groups.h"

#include <atomic>
#include <numeric>

#include "array/process_axis.h"
#include "ir/core_ops.h"
#include "ops/collectives/family.h"
#include "ops/collectives/process_ops.h"

namespace shardax::ops {
namespace {

std::atomic<std::int64_t> groups_asked = 0;

// The axis that counts the processes of a device axis; none in one process.
AxisSet processes_of(AxisName name, const AxisSet& axes) {
  for (const AxisName other : process_axes(axes)) {
    if (device_axis_text(axis_text(other)) == axis_text(name)) return {other};
  }
  return {};
}

// The number of groups that one process has.
std::int64_t own_groups(std::int64_t asked, std::int64_t devices, const AxisSet& processes) {
  const std::int64_t count = processes.empty() ? 1 : process_axis_size(processes[0]);
  if (asked % count != 0) {
    value_error("psum: jax_sum_groups is ", asked, ", which ", count,
                " processes do not divide: each has a whole number of groups. Set a multiple of ",
                count, ", or 0.");
  }
  return std::gcd(asked, devices * count) / count;
}

// The same pairs for any number of processes: (0 + 1) + (2 + 3), ...
Value added_in_pairs(const Value& rows) {
  Values terms;
  for (std::int64_t k = 0; k < rows->shape()[0]; ++k) terms.push_back(index_in_dim(rows, k, 0));
  while (terms.size() > 1) {
    Values sums;
    for (std::size_t k = 0; k + 1 < terms.size(); k += 2)
      sums.push_back(add(terms[k], terms[k + 1]));
    if (terms.size() % 2) sums.push_back(terms.back());
    terms = std::move(sums);
  }
  return terms[0];
}

// A row for each group of the devices that dimension 0 lists, or that all have x.
Value sums_of_groups(const Value& x, bool varying, std::int64_t devices, std::int64_t groups) {
  const std::int64_t each = devices / groups;
  if (!varying) {
    const Value sum = mul(x, scalar(x->dtype(), static_cast<double>(each), x->type().weak));
    return broadcast_leading(sum, groups);
  }
  if (each == 1) return x;
  Shape shape{groups, each};
  shape.append(x->shape().begin() + 1, x->shape().end());
  return reduce_sum(reshape(x, shape), {1});
}

}  // namespace

std::int64_t sum_groups() { return groups_asked.load(std::memory_order_relaxed); }
void set_sum_groups(std::int64_t groups) { groups_asked = groups; }

bool has_sum_groups(const Params& params) { return params.has("sum_groups"); }

Params in_sum_groups(Params params) {
  const std::int64_t groups = sum_groups();
  if (groups == 0) return params;
  if (!groups_of(params).empty()) {
    fail(ErrorKind::not_implemented_error, "psum: axis_index_groups while jax_sum_groups is ",
         groups,
         ": groups of devices are summed as they are. Set jax_sum_groups to 0 for this function.");
  }
  params.set("sum_groups", groups);
  return params;
}

Batched sum_by_groups(const BatchArgs& a) {
  const AxisSet& axes = collective_axes(a.params);
  const AxisSet processes = processes_of(a.axis.name, axes);
  const std::int64_t groups =
      own_groups(a.params.integer(param::sum_groups), a.axis.size, processes);
  const DType dtype = a.in[0]->dtype();
  Value rows = sums_of_groups(as_sent(a.in[0], "add"), bool(a.batched[0]), a.axis.size, groups);
  AxisSet rest = without(axes, a.axis.name);
  if (!processes.empty()) {
    const std::int64_t count = process_axis_size(processes[0]);
    rows = all_gather(rows, {processes, count, {}}, 0, true, AxisState::varying);
    rest = without(rest, processes[0]);
  }
  const Value sum = convert(added_in_pairs(rows), dtype);
  if (rest.empty()) return {{sum}, {false}};
  return {{bind1(a.op, a.params.with("axes", AxisNames{rest}), {sum})}, {false}};
}

}  // namespace shardax::ops
