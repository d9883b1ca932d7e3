// trace/leaks.h - tracers that outlive their trace: those of a TracerWatch, once the trace is over.
#pragma once

#include "trace/trace.h"

namespace shardax {

// The watched tracers of the trace of that generation that still exist.
std::vector<const Tracer*> tracers_alive(std::uint64_t generation);

}  // namespace shardax
