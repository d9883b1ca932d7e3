// trace/eager_fallback.h - staging that falls back to eager calls if Python wants values.
#pragma once

#include "trace/trace.h"

namespace shardax {

// While it lives, the trace that starts next may be given up. An error about values that its
// tracers lack makes the function run op by op.
class EagerFallback {
 public:
  explicit EagerFallback(bool may);
  ~EagerFallback();
  EagerFallback(const EagerFallback&) = delete;
  EagerFallback& operator=(const EagerFallback&) = delete;
  // Does the tracer belong to such a trace?
  static bool covers(const Tracer& tracer);

 private:
  int outer_;
};

}  // namespace shardax
