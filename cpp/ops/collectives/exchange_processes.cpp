// ops/collectives/exchange_processes.cpp - exchanges over one process axis and the devices of each
// process, in which a process sends what others need alone.
#include <algorithm>
#include <map>

#include "array/process_axis.h"
#include "base/index.h"
#include "ir/core_ops.h"
#include "ops/collectives/family.h"
#include "ops/collectives/process_ops.h"
#include "ops/indexing/index.h"
#include "ops/permutations.h"

namespace shardax::ops {
namespace {

// The devices of an axis: `processes` times `local`; those of this process are dimension 0 of the
// operand.
struct ProcessExchange {
  const Params& params;
  AxisSet axes;  // the process axis
  std::int64_t processes, local;

  Value send(const Op& op, const Values& in, Params more = {}) const {
    more.set("axes", AxisNames{axes});
    return bind1(op, more, in);
  }
};

// Dimension `dim` becomes `sizes`.
Value divided_dim(const Value& x, std::int64_t dim, const Ints& sizes) {
  Shape shape = x->shape();
  shape.erase(index(dim));
  for (std::size_t i = sizes.size(); i-- > 0;) shape.insert(index(dim), sizes[i]);
  return reshape(x, shape);
}
Value joined_dims(const Value& x, std::int64_t dim) {
  Shape shape = x->shape();
  shape[index(dim)] *= shape[index(dim) + 1];
  shape.erase(index(dim) + 1);
  return reshape(x, shape);
}

// The shared dimension as three: processes, their devices, and the elements of each.
Value shared_out(const ProcessExchange& e, const Value& x, std::int64_t dim) {
  Ints sizes{e.processes, e.local};
  if (e.params.flag(param::tiled))
    sizes.push_back(x->shape()[index(dim)] / (e.processes * e.local));
  return divided_dim(x, dim, sizes);
}

// The sum over the devices of this process first.
Value reduce_and_scatter(const ProcessExchange& e, const Value& x) {
  const std::int64_t dim = e.params.integer(param::scatter_dimension);
  const Value sum = reduce_sum(as_sent(x, "add"), {0});
  const Value parts = moveaxis(shared_out(e, sum, dim), dim, 0);
  const Value own = e.send(core_ops().process_reduce_scatter, {parts});
  return convert(moveaxis(own, dim, 0), x->dtype());
}

Value exchange_blocks(const ProcessExchange& e, const Value& x) {
  const std::int64_t split = e.params.integer(param::split_axis) + 1;
  const std::int64_t join_at = e.params.integer(param::concat_axis);
  const Value parts = moveaxis(shared_out(e, x, split), split, 0);
  const Value sources = joined_dims(e.send(core_ops().process_all_to_all, {parts}), 0);
  Ints order = iota_ints(sources->shape().size());
  order.erase(index(split));
  order.erase(0);
  order.insert(index(join_at), 0);
  order.insert(0, split);
  const Value moved = transpose(sources, order);
  return e.params.flag(param::tiled) ? joined_dims(moved, join_at + 1) : moved;
}

// The devices of this process share the data of all.
Value gather_all(const ProcessExchange& e, const Value& x) {
  const std::int64_t dim = e.params.integer(param::all_gather_dimension);
  const Value rows = moveaxis(joined_dims(e.send(core_ops().process_all_gather, {x}), 0), 0, dim);
  return broadcast_leading(e.params.flag(param::tiled) ? joined_dims(rows, dim) : rows, e.local);
}

// ---- permutes --------------------------------------------------------------------------------

// Rows, -1 for zeros, that each process takes: the same everywhere, or looked up by its position.
Value take_rows_by_process(const ProcessExchange& e, const Value& x,
                           const std::vector<Ints>& rows) {
  const bool same = std::ranges::all_of(rows, [&](const Ints& own) { return own == rows[0]; });
  if (same) return take_rows(x, rows[0]);
  const auto count = static_cast<std::int64_t>(rows[0].size());
  const ArrayPtr table = empty_array(Type{DType::int32, false, {e.processes, count}, {}});
  auto* next = reinterpret_cast<std::int32_t*>(table->data());
  const std::int64_t zeros = x->shape()[0];  // out of bounds
  for (const Ints& own : rows)
    for (const std::int64_t row : own) *next++ = static_cast<std::int32_t>(row < 0 ? zeros : row);
  const Value position = e.send(core_ops().process_index, {});
  const Value own =
      dynamic_slice(table, {position, scalar(DType::int32, 0)}, {std::int64_t{1}, count});
  return rows_at(x, reshape(own, {count, 1}));
}

// Sends rows to the processes that are `offset` positions further, in the order of the receivers'
// devices. `taken` gives the row that each device receives.
Value permute_rows(const ProcessExchange& e, const Value& x) {
  const Ints& pairs = e.params.ints(param::perm);
  const std::int64_t local = e.local, processes = e.processes;
  std::vector<Ints> taken(index(processes), Ints(index(local), -1));
  Values received{x};
  std::int64_t start = local;  // of the rows that come next
  for (std::int64_t offset = 0; offset < processes; ++offset) {
    std::vector<Ints> sent(index(processes));  // by source
    Ints between;
    for (std::int64_t to = 0; to < processes; ++to) {
      const std::int64_t from = (to + processes - offset) % processes;
      Ints& rows = sent[index(from)];
      for (std::int64_t row = 0; row < local; ++row) {
        for (std::size_t i = 0; i < pairs.size(); i += 2) {
          if (pairs[i + 1] != to * local + row || pairs[i] / local != from) continue;
          taken[index(to)][index(row)] =
              offset == 0 ? pairs[i] % local : start + static_cast<std::int64_t>(rows.size());
          rows.push_back(pairs[i] % local);
        }
      }
      if (rows.empty()) continue;
      between.push_back(from);
      between.push_back(to);
    }
    std::size_t most = 0;
    for (const Ints& rows : sent) most = std::max(most, rows.size());
    if (offset == 0 || most == 0) continue;
    for (Ints& rows : sent) rows.resize(most, std::int64_t{0});
    received.push_back(e.send(core_ops().process_permute, {take_rows_by_process(e, x, sent)},
                              {{"perm", between}}));
    start += static_cast<std::int64_t>(most);
  }
  const Value rows = received.size() == 1 ? x : concatenate(received, 0);
  return take_rows_by_process(e, rows, taken);
}

}  // namespace

Value exchange_processes(const Equation& eqn, const Value& x) {
  const AxisSet& axes = collective_axes(eqn.params);
  const Ints stacked = stacked_axes(eqn.params);
  const bool devices = stacked.size() == 1 && stacked[0] == 1;
  if (axes.size() != 1 || !(stacked.empty() || devices) || !groups_of(eqn.params).empty())
    return nullptr;
  const Value rows = devices ? x : broadcast_leading(x, 1);
  const ProcessExchange exchange{eqn.params, axes, process_axis_size(axes[0]), rows->shape()[0]};
  Value out;
  if (eqn.op == &core_ops().reduce_scatter) out = reduce_and_scatter(exchange, rows);
  if (eqn.op == &core_ops().all_to_all) out = exchange_blocks(exchange, rows);
  if (eqn.op->batch == core_ops().all_gather.batch) out = gather_all(exchange, rows);
  if (eqn.op == &core_ops().ppermute) out = permute_rows(exchange, rows);
  if (!out || devices) return out;
  Shape shape = out->shape();
  shape.erase(0);
  return reshape(out, shape);
}

}  // namespace shardax::ops
