// trace/current.h - what is being traced on this thread.
#pragma once

#include "trace/trace.h"

namespace shardax {

struct CurrentTrace {
  const Trace* innermost;  // null: none
  int dynamic;             // the level of the trace that records ops on plain arrays; 0: none
};
CurrentTrace current_trace();

}  // namespace shardax
