// ops/random/draw_part.h - a part of a draw, without the rest of it.
#pragma once

#include "trace/trace.h"

namespace shardax::ops {

// A part of the random bits of shape `whole` that a threefry key gives in the partitionable stream.
// The part has the shape `part` and begins at `starts`, an int32 scalar for each dimension.
Value draw_part(const Value& key, std::int64_t bit_width, const Shape& whole, const Shape& part,
                const Values& starts);

}  // namespace shardax::ops
