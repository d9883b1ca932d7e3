// runtime/team.h - the threads behind runtime/pool.h.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace shardax::runtime {

// Runs body(i) for every i in [0, chunks) on the calling thread and at most `threads` - 1 workers;
// returns when all are done. The body does not throw. Thread k of a loop starts with the k-th
// stretch of the chunks, loop after loop, so that what one loop has left in a core's cache the next
// one finds there; whoever has done its own takes half of what another still has. Workers are
// started when first needed, wait awake for a while and then asleep, and live as long as the
// process; a loop for which there is no worker, or no place, runs on its caller.
void run_on_team(int threads, std::int64_t chunks, FunctionRef<void(std::int64_t)> body);

}  // namespace shardax::runtime
