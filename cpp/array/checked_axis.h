// array/checked_axis.h - axes over which it is checked what varies: those of shard_map with
// check_vma.
//
// A value that all devices of such an axis share is another type than one of each device's own, and
// is made one by `pvary` alone: implicitly where operands differ (trace/trace.cpp). `psum` over it
// is `psum_invariant`, whose transpose is `pvary`, and the other way round.
#pragma once

#include "array/type.h"

namespace shardax {

// The name of a checked axis: another one than that of the same text which is not checked.
AxisName intern_checked_axis(const std::string& text);
bool is_checked(AxisName name);
// Those of `axes` that are checked, or not, in their order.
AxisSet checked_axes(const AxisSet& axes);
AxisSet unchecked_axes(const AxisSet& axes);
// The checked ones of `axes` that `has` lacks.
AxisSet lacking(const AxisSet& has, const AxisSet& axes);

}  // namespace shardax
