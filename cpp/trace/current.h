// trace/current.h - the current trace of this thread.
#pragma once

#include "trace/trace.h"

namespace shardax {

struct CurrentTrace {
  const Trace* innermost;  // null: none
  int dynamic;             // the level of the trace that records ops on plain arrays; 0: none
};
CurrentTrace current_trace();

// While it lives, ops on plain arrays go to the trace of that level, as `CurrentTrace::dynamic`
// says it.
class DynamicScope {
 public:
  explicit DynamicScope(int level);
  ~DynamicScope();
  DynamicScope(const DynamicScope&) = delete;
  DynamicScope& operator=(const DynamicScope&) = delete;

 private:
  int outer_;
};
// The generation of the trace in progress at a level; 0: there is none.
std::uint64_t generation_at(int level);

}  // namespace shardax
