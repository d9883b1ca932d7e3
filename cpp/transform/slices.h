// transform/slices.h - a scope in which a function of slices runs.
#pragma once

namespace shardax {

// Is there a trace above that level in which a function maps over slices (not over devices)?
bool maps_above(int level);

}  // namespace shardax
