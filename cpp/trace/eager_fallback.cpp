// trace/eager_fallback.cpp - which trace may be given up.
#include "trace/eager_fallback.h"

#include "trace/depth.h"

namespace shardax {
namespace {
constinit thread_local int retried_level = 0;
}

MayRetry::MayRetry(bool may) : outer_(retried_level) {
  retried_level = may ? trace_depth() + 1 : 0;
}
MayRetry::~MayRetry() { retried_level = outer_; }
bool MayRetry::covers(const Tracer& tracer) { return tracer.level() == retried_level; }

}  // namespace shardax
