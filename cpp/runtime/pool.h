// runtime/pool.h - the worker threads: one parallel loop over chunks.
//
// Behind it is a team of threads (runtime/team.h). Chunks are numbered; which thread runs which,
// and how many threads there are, must not matter to the result. Nothing starts before the first
// loop of more than one chunk. A body must not wait for other chunks: one thread may run them all.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace shardax::runtime {

// The cores that this process may use (affinity and cgroup quota, rounded up), or what was set: by
// set_thread_count or, before the first call, by the environment's SHARDAX_NUM_THREADS.
int thread_count();
// At least 1. Takes effect with the next loop.
void set_thread_count(int count);

// Runs body(i) for every i in [0, chunks), on the calling thread and the workers; returns when all
// are done. The first exception of a body is thrown here, and chunks that have not started are left
// out; so does what ends the caller's work (runtime/interrupt.h). Any thread may call; each loop
// has its caller for itself, and the workers are shared. Loops inside of bodies, with one thread,
// and in a child forked after the first loop run inline. Measured on 2 cores: two empty chunks take
// 0.1 us, 64 take 0.4 us. After 0.5 ms without a loop the worker sleeps: to wake it costs the
// caller 2 to 10 us, which loops of less than four chunks of 10 us do not pay, and it arrives 30 to
// 100 us later; the caller does not wait.
void parallel_for(std::int64_t chunks, FunctionRef<void(std::int64_t)> body);

}  // namespace shardax::runtime
