// transform/batch.h - batching: the same program over arrays with one more leading axis.
#pragma once

#include "transform/jvp.h"

namespace shardax {

// Names a batching, also after it is over. 0: none.
using BatchTag = std::uint64_t;
// The batching whose rule runs on this thread.
BatchTag current_batch();

// f over a batch: `batched` says which inputs carry the axis (as dimension 0). With `again`, f is
// part of that batching, and the tracers of it that f closes over carry the axis, too.
Batched batch(const ValueFunction& f, const Values& inputs, const std::vector<bool>& batched,
              const BatchAxis& axis, BatchTag again = 0);

struct BatchedProgram {
  ProgramPtr program;
  std::vector<bool> batched;  // outputs that carry the axis
};
// `wanted`, where given, selects outputs that must carry the axis (they are broadcast if need be).
BatchedProgram batch_program(const ProgramPtr& program, const std::vector<bool>& batched,
                             const BatchAxis& axis, const std::vector<bool>* wanted = nullptr);

}  // namespace shardax
