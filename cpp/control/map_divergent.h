// control/map_divergent.h - control flow whose predicate varies over a device axis.
//
// Each device runs its own path. A collective over that axis needs all devices on one path. The
// predicate is then evaluated for all of them first, and a difference is an error.
#pragma once

#include "control/control.h"

namespace shardax {

// `op` on each slice: a scan over the batch without carry. No collective over the axis may be
// inside but those that ask no other device: an axis_index becomes an operand.
Batched map_divergent(const BatchArgs& a);

// The first collective over the axis in a program, regions included, that needs other devices; null
// if there is none.
struct Collective {
  std::string_view name;
  LocationPtr location;
  explicit operator bool() const { return !name.empty(); }
};
Collective find_collective(const Program& program, AxisName axis);
// Does this equation name the axis, or one inside?
bool communicates(const Equation& eqn, AxisName axis);

// The value that all slices of `choice`, an int32 vector, have. When it runs and they differ, it
// fails with a text that says which devices reach the collective: those whose choice is k with
// reaches[k].
Value agreed(const Value& choice, const std::vector<bool>& reaches, const Collective& collective,
             AxisName axis, std::string_view construct);

}  // namespace shardax
