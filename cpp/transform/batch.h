// transform/batch.h - batching: the same program over arrays with one more leading axis.
#pragma once

#include "transform/jvp.h"

namespace shardax {

// f over a batch: `batched` says which inputs carry the axis (as dimension 0).
Batched batch(const ValueFunction& f, const Values& inputs, const std::vector<bool>& batched,
              const BatchAxis& axis);

struct BatchedProgram {
  ProgramPtr program;
  std::vector<bool> batched;  // which outputs carry the axis
};
// `wanted`, where given, selects outputs that must carry the axis (they are broadcast if need be).
BatchedProgram batch_program(const ProgramPtr& program, const std::vector<bool>& batched,
                             const BatchAxis& axis, const std::vector<bool>* wanted = nullptr);

}  // namespace shardax
