// ops/collectives/collective.h - collectives over named mapped axes, as functions on Values.
//
// Each checks its operand (ValueError, TypeError) and binds one op.
#pragma once

#include "array/checked_axis.h"
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
// A new dimension `dim` of the group's size (tiled: joined into dimension `dim`). Over checked axes
// the result has the state `to`: varying, shared by all devices, or reduced.
Value all_gather(const Value& a, const Devices& devices, std::int64_t dim, bool tiled,
                 AxisState to);
// The sum, of which each device keeps its part of dimension `dim`; of one that was left to do too.
Value psum_scatter(const Value& a, const Devices& devices, std::int64_t dim, bool tiled);
Value all_to_all(const Value& a, const Devices& devices, std::int64_t split_dim,
                 std::int64_t concat_dim, bool tiled);
// `pairs`: source, destination, source, destination, ...; others receive zeros.
Value ppermute(const Value& a, const Devices& devices, const Ints& pairs);
Value pvary(const Value& a, const AxisSet& axes);
// From the state that it has over checked axes to another: ValueError where no cast does that.
Value cast_state(const Value& a, const AxisSet& axes, AxisState to);
// A value that devices share as a sum over the axes: the first device's term is all of it.
Value first_term(const Value& a, const AxisSet& axes);
// One that is reduced, as one that devices share.
Value value_of_reduced(const Value& a, const AxisSet& axes);
// The state over all checked axes of `axes` (varying where there are none); ValueError where it
// differs between them.
AxisState common_state(const Value& a, const AxisSet& axes, std::string_view user);
// Is it axis_index, pvary or another cast, which say something of a device without asking another
// one?
bool stays_local(const Op& op);
Value axis_index(AxisName axis, std::int64_t size);
// This device's position among those of one axis or more, row-major in their order. `user`, for the
// error where one is not bound.
Value position_along(const AxisSet& axes, std::string_view user);

}  // namespace shardax::ops
