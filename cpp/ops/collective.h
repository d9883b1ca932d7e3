// ops/collective.h - collectives over named mapped axes, as functions on Values.
#pragma once

#include "trace/trace.h"

namespace shardax::ops {

Value psum(const Value& a, const AxisSet& axes);
Value pmax(const Value& a, const AxisSet& axes);
Value pmin(const Value& a, const AxisSet& axes);
// A new dimension `dim` of the axis's size (tiled: joined into dimension `dim`).
Value all_gather(const Value& a, AxisName axis, std::int64_t size, std::int64_t dim, bool tiled);
// The sum over the axis, of which each device keeps its part of dimension `dim`.
Value psum_scatter(const Value& a, AxisName axis, std::int64_t size, std::int64_t dim, bool tiled);
// `pairs`: source, destination, source, destination, ...; others receive zeros.
Value ppermute(const Value& a, AxisName axis, std::int64_t size, const Ints& pairs);
Value all_to_all(const Value& a, AxisName axis, std::int64_t size, std::int64_t split_dim,
                 std::int64_t concat_dim, bool tiled);
Value axis_index(AxisName axis, std::int64_t size);

}  // namespace shardax::ops
