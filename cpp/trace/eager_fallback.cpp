// trace/eager_fallback.cpp - the trace that may be abandoned.
#include "trace/eager_fallback.h"

#include "trace/depth.h"

namespace shardax {
namespace {
constinit thread_local int retried_level = 0;
}

EagerFallback::EagerFallback(bool may) : outer_(retried_level) {
  retried_level = may ? trace_depth() + 1 : 0;
}
EagerFallback::~EagerFallback() { retried_level = outer_; }
bool EagerFallback::covers(const Tracer& tracer) { return tracer.level() == retried_level; }

}  // namespace shardax
