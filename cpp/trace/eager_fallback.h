// trace/eager_fallback.h - staging that is given up where Python wants to see values.
#pragma once

#include "trace/trace.h"

namespace shardax {

// While it lives, the trace that starts next may be given up: an error about values that its
// tracers do not have is met by running the function op by op.
class MayRetry {
 public:
  explicit MayRetry(bool may);
  ~MayRetry();
  MayRetry(const MayRetry&) = delete;
  MayRetry& operator=(const MayRetry&) = delete;
  // Does the tracer belong to such a trace?
  static bool covers(const Tracer& tracer);

 private:
  int outer_;
};

}  // namespace shardax
