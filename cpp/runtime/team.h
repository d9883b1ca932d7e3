// runtime/team.h - the threads behind runtime/pool.h.
//
// There is one team of oneTBB's, and one of plain threads for builds with ThreadSanitizer, which
// cannot see the hand-over of tasks in a library that is compiled without it.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace shardax::runtime {

// Runs body(i) for every i in [0, chunks) on the calling thread and at most `threads` - 1 others;
// returns when all are done. The body does not throw.
void run_on_team(int threads, std::int64_t chunks, FunctionRef<void(std::int64_t)> body);

}  // namespace shardax::runtime
