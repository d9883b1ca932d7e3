// array/process_axis.h - the part of a device axis that lies across processes.
//
// An axis 'x' of P x L devices, L in each of P processes, is two axes: 'x@process' of P, then 'x'
// of L. Batching over 'x' is the same as in one process. A collective that is left over 'x@process'
// is a message. If the processes of an axis are not all, in the order of their ranks, the name
// lists its groups: 'x@process[0,2|1,3]'. So programs say all of it, and are the same in each
// process.
#pragma once

#include <string_view>
#include <vector>

#include "array/type.h"

namespace shardax {

// Ranks of processes that differ in their position along an axis alone, in the order of positions.
using ProcessGroups = std::vector<std::vector<int>>;

// The text of the process part of axis `text`, over all processes, or in groups of equal size.
std::string process_axis_text(std::string_view text, const ProcessGroups& groups = {});
bool is_process_axis(AxisName name);
// The number of processes along it.
std::int64_t process_axis_size(AxisName name);
// 'x' of 'x@process[0,2|1,3]'; other texts are their own.
std::string_view device_axis_text(std::string_view text);

// Ranks of the processes that this one exchanges with over process axes: row-major in their order.
std::vector<int> process_group(const AxisSet& axes);

// Ranks of all processes that exchange over it, in any group.
std::vector<int> process_ranks(AxisName name);

// The axes that are process axes, or are not, in their order.
AxisSet process_axes(const AxisSet& axes);
AxisSet local_axes(const AxisSet& axes);

}  // namespace shardax
