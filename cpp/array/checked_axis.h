// array/checked_axis.h - axes of shard_map with check_vma: variation is part of types.
//
// A value that all devices of such an axis share has another type than one of each device's own.
// `pvary` alone makes the one into the other, implicitly for operands that differ
// (trace/trace.cpp). `psum` over it is `psum_invariant`, whose transpose is `pvary`, and the other
// way round.
//
// Beside the two there are sums that are left to do. A value that is unreduced over an axis is a
// term of each device, and stands for their sum. A value that is reduced is shared, and its
// cotangents are unreduced. In the set of a type (`varying`) each state is a name of its own.
#pragma once

#include "array/type.h"

namespace shardax {

// The name of a checked axis: another one than that of the same text which is not checked.
AxisName intern_checked_axis(const std::string& text);
bool is_checked(AxisName name);

enum class AxisState : std::uint8_t { shared = 0, varying = 1, unreduced = 2, reduced = 3 };
// The entry of a set for an axis in that state.
AxisName in_state(AxisName name, AxisState state);
AxisState state_over(const AxisSet& axes, AxisName checked);
// The checked axes that are in that state.
AxisSet axes_in_state(const AxisSet& axes, AxisState state);
// Is an axis unreduced or reduced?
bool has_sums(const AxisSet& axes);
// The set, in that state over the axes `over`.
AxisSet with_state(AxisSet axes, const AxisSet& over, AxisState state);

// The axes that are checked and varying, or not checked, in their order.
AxisSet checked_axes(const AxisSet& axes);
AxisSet unchecked_axes(const AxisSet& axes);
// The checked ones of `axes` that `has` lacks.
AxisSet lacking(const AxisSet& has, const AxisSet& axes);

}  // namespace shardax
