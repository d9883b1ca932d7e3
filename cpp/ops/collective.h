// ops/collective.h - collectives over named mapped axes, as functions on Values.
//
// Each checks its operand (ValueError, TypeError) and binds one op.
#pragma once

#include "trace/trace.h"

namespace shardax::ops {

// The devices that a collective joins: those of the axes, counted row-major in the order given.
// With groups, which share out the positions 0 .. size - 1, each group is on its own.
struct Devices {
  AxisSet axes;
  std::int64_t size = 1;
  std::vector<Ints> groups;

  // The number of devices that act together; -1 where groups differ in size.
  std::int64_t group_size() const;
};

// A collective after which all devices have one value: psum, pmax, pargmax, ...; over devices, and
// over dimension `dim` as if it listed devices.
Value reduce_devices(const Op& op, const Value& a, const Devices& devices);
Value reduce_dimension(const Op& op, const Value& a, std::int64_t dim);
// The value of the device at position `source` (with groups: within each group).
Value pbroadcast(const Value& a, const Devices& devices, std::int64_t source);
// A new dimension `dim` of the group's size (tiled: joined into dimension `dim`).
Value all_gather(const Value& a, const Devices& devices, std::int64_t dim, bool tiled);
// The same, as a value that all devices share: over checked axes `all_gather` does not tell.
Value all_gather_invariant(const Value& a, const Devices& devices, std::int64_t dim, bool tiled);
// The sum, of which each device keeps its part of dimension `dim`.
Value psum_scatter(const Value& a, const Devices& devices, std::int64_t dim, bool tiled);
Value all_to_all(const Value& a, const Devices& devices, std::int64_t split_dim,
                 std::int64_t concat_dim, bool tiled);
// `pairs`: source, destination, source, destination, ...; others receive zeros.
Value ppermute(const Value& a, const Devices& devices, const Ints& pairs);
Value pvary(const Value& a, const AxisSet& axes);
// Is it axis_index or pvary, which say something of a device without asking another one?
bool stays_local(const Op& op);
Value axis_index(AxisName axis, std::int64_t size);

}  // namespace shardax::ops
