// runtime/pool.h - the worker threads: one parallel loop over chunks.
//
// This is the only place that knows oneTBB. Chunks are numbered; which thread runs which, and how
// many threads there are, must not matter to the result. Nothing starts before the first loop of
// more than one chunk.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace shardax::runtime {

// The cores that this process may use (affinity and cgroup quota), or what was set: by
// set_thread_count or, before the first loop, by SHARDAX_NUM_THREADS.
int thread_count();
// At least 1. Takes effect with the next loop.
void set_thread_count(int count);

// Runs body(i) for every i in [0, chunks), on the calling thread and the workers; returns when all
// are done. The first exception of a body is thrown here. Loops inside of bodies, in a forked child
// and with one thread run inline.
void parallel_for(std::int64_t chunks, FunctionRef<void(std::int64_t)> body);

}  // namespace shardax::runtime
