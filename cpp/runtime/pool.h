// runtime/pool.h - the worker pool: one parallel loop over chunks.
//
// oneTBB is behind it (runtime/pool.cpp). Chunks are numbered; neither the thread that runs a chunk
// nor the number of threads may matter to the result. No thread starts before the first loop of
// more than one chunk. A body must not wait for other chunks: one thread may run them all.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace shardax::runtime {

inline constexpr int most_threads = 1024;

// The number of cores that this process may use (affinity and cgroup quota, rounded up).
// set_thread_count overrides it, or SHARDAX_NUM_THREADS in the environment of the first call.
// Throws a value_error where that variable is not a number from 1 to most_threads.
int thread_count();
// From 1 to most_threads. Takes effect with the next loop.
void set_thread_count(int count);

// A number of chunks that keeps all threads busy: two for each, or `least`. For loops whose results
// depend on no chunk.
inline std::int64_t enough_chunks(std::int64_t least) {
  const std::int64_t wanted = 2 * thread_count();
  return wanted > least ? wanted : least;
}

// Runs body(i) for every i in [0, chunks), on the calling thread and the workers; returns when all
// are done. The first exception of a body is thrown here, and chunks that have not started are left
// out. An interrupt of the caller (runtime/interrupt.h) does the same; the caller asks for it
// between its chunks. Any thread may call: up to 32 loops share the workers, a further one runs
// inline. So do loops inside of regions, loops with one thread, and all loops of a child that was
// forked after the first loop. tests/bench/pool_loops.cpp measures its costs.
void parallel_for(std::int64_t chunks, FunctionRef<void(std::int64_t)> body);

// The same for chunks that take equal times. Unless they are too many, thread k runs the k-th
// stretch of them, and finds in its cache the data of the loop before. Loops of 300 000 elements,
// two threads: 20.4 us in place of 23.8.
void parallel_for_even(std::int64_t chunks, FunctionRef<void(std::int64_t)> body);

}  // namespace shardax::runtime
