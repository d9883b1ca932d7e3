// trace/depth.h - depth of this thread among the traces in progress.
#pragma once

#include <cstdint>

namespace shardax {

// The generation of the staging trace that records ops on plain arrays; 0: they compute at once.
std::uint64_t staging_generation();
// The number of traces in progress, which is the level of the innermost one.
int trace_depth();

}  // namespace shardax
