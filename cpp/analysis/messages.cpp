// analysis/messages.cpp - parts gathered, cut, exchanged and added up.
#include "analysis/messages.h"

#include <algorithm>

#include "base/lists.h"
#include "ir/core_ops.h"
#include "ops/indexing/index.h"
#include "ops/ops.h"
#include "ops/sharding_rules/sharding_rules.h"

namespace shardax {
namespace {
using Axes = std::vector<std::string>;
}

ops::Devices Messages::devices(const Axes& axes) const {
  ops::Devices out;
  for (const std::string& axis : axes) {
    out.axes.push_back(intern_axis(axis));
    out.size *= ops::parts_of({axis}, mesh_);
  }
  return out;
}

Part Messages::summed(Part part, const Split& split) const {
  for (std::size_t d = 0; d < split.size() && !part.open.empty(); ++d) {
    const Axes &have = part.split[d], &want = split[d];
    if (want.size() <= have.size() || !std::equal(have.begin(), have.end(), want.begin())) continue;
    const Axes more(want.begin() + static_cast<std::ptrdiff_t>(have.size()), want.end());
    const auto is_open = [&](const std::string& axis) { return has(part.open, axis); };
    if (!std::all_of(more.begin(), more.end(), is_open)) continue;
    part.value = ops::psum_scatter(part.value, devices(more), static_cast<std::int64_t>(d), true);
    part.split[d] = want;
    part.open.erase(std::remove_if(part.open.begin(), part.open.end(),
                                   [&](const std::string& axis) { return has(more, axis); }),
                    part.open.end());
  }
  if (part.open.empty()) return part;
  const Op& psum = core_ops().psum;
  part.value = ops::reduce_devices(psum, part.value, devices(part.open));
  part.open.clear();
  return part;
}

Part Messages::resplit(Part part, const Split& split) const {
  exchange(part, split);
  for (std::size_t d = 0; d < split.size(); ++d) gather(part, d, split[d]);
  for (std::size_t d = 0; d < split.size(); ++d) cut(part, d, split[d]);
  return part;
}

// An axis that goes from one dimension to another: each device gives parts to all others.
void Messages::exchange(Part& part, const Split& split) const {
  for (std::size_t from = 0; from < split.size(); ++from) {
    for (std::size_t to = 0; to < split.size() && !part.split[from].empty(); ++to) {
      const std::string axis = part.split[from].back();
      Axes grown = part.split[to], less = part.split[from];
      grown.push_back(axis);
      less.pop_back();
      if (to == from || grown != split[to] || less != split[from]) continue;
      part.value = ops::all_to_all(part.value, devices({axis}), static_cast<std::int64_t>(to),
                                   static_cast<std::int64_t>(from), true);
      part.split[to] = grown;
      part.split[from] = less;
    }
  }
}

void Messages::gather(Part& part, std::size_t d, const Axes& want) const {
  Axes& have = part.split[d];
  const auto same = std::mismatch(have.begin(), have.end(), want.begin(), want.end()).first;
  const Axes gone(same, have.end());
  if (gone.empty()) return;
  part.value = ops::all_gather(part.value, devices(gone), static_cast<std::int64_t>(d), true,
                               AxisState::varying);
  have.erase(same, have.end());
}

void Messages::cut(Part& part, std::size_t d, const Axes& want) const {
  for (std::size_t k = part.split[d].size(); k < want.size(); ++k) {
    const std::int64_t parts = ops::parts_of({want[k]}, mesh_);
    Ints sizes(part.value->shape().begin(), part.value->shape().end());
    sizes[d] /= parts;
    const Value index = ops::axis_index(intern_axis(want[k]), parts);
    Values starts(sizes.size(), ops::scalar(DType::int32, 0));
    starts[d] = ops::mul(index, ops::scalar(DType::int32, static_cast<double>(sizes[d])));
    part.value = ops::dynamic_slice(part.value, starts, sizes);
  }
  part.split[d] = want;
}

namespace {

// The piece of the device `step` places before; beyond the ends of the axis, `fill`.
Value from_neighbour(const Value& piece, const ops::Devices& devices, std::int64_t step,
                     const Value& fill) {
  Ints pairs;
  for (std::int64_t k = 0; k < devices.size; ++k) {
    if (k + step < 0 || k + step >= devices.size) continue;
    pairs.push_back(k);
    pairs.push_back(k + step);
  }
  const Value received = ops::ppermute(piece, devices, pairs);  // zeros at the end
  if (!fill) return received;
  const auto end = static_cast<double>(step > 0 ? 0 : devices.size - 1);
  const Value at_end =
      ops::eq(ops::axis_index(devices.axes[0], devices.size), ops::scalar(DType::int32, end));
  const Shape& shape = piece->shape();
  return ops::where(ops::broadcast_to(at_end, shape), ops::broadcast_to(fill, shape), received);
}

}  // namespace

Value Messages::with_halo(const Value& part, const std::string& axis, const Halo& halo) const {
  const auto dim = static_cast<std::int64_t>(halo.dim);
  const std::int64_t size = part->shape()[halo.dim];
  const ops::Devices along = devices({axis});
  const auto slice = [&](std::int64_t from, std::int64_t to) {
    return ops::slice_in_dim(part, from, to, dim);
  };
  Values pieces;
  if (halo.before > 0)
    pieces.push_back(from_neighbour(slice(size - halo.before, size), along, 1, halo.fill));
  pieces.push_back(slice(std::max<std::int64_t>(0, -halo.before),
                         size - std::max<std::int64_t>(0, -halo.after)));
  if (halo.after > 0) pieces.push_back(from_neighbour(slice(0, halo.after), along, -1, halo.fill));
  return pieces.size() == 1 ? pieces[0] : ops::concatenate(pieces, dim);
}

}  // namespace shardax
