// ops/collectives/process_reductions.h - loops that combine the terms of processes.
#pragma once

#include <string>

#include "array/dtype.h"
#include "runtime/processes.h"

namespace shardax::ops {

// `computation`: "add", "max" or "min". Throws where the dtype has no such reduction.
runtime::Reduction reduction_for(const std::string& computation, DType dtype);

}  // namespace shardax::ops
