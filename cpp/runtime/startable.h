// runtime/startable.h - number of threads that the system lets this process start.
#pragma once

#include <cstddef>

namespace shardax::runtime {

// At most `wanted`: as many threads of that stack size as live at the same time. They end before
// this returns; a start costs 10 to 20 us. For libraries that cannot go on where a start fails. In
// a limited address space, only those count whose stacks the C library keeps for the threads that
// start next. Other allocations cannot take their room meanwhile. None, where less than 64 MB are
// left.
int startable_threads(int wanted, std::size_t stack_bytes);

}  // namespace shardax::runtime
