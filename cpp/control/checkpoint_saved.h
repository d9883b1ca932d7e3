// control/checkpoint_saved.h - the values inside carried programs that a checkpoint keeps.
#pragma once

#include <functional>

#include "ir/op.h"

namespace shardax {

// A program for a checkpoint that keeps values. forward: inputs -> outputs, kept values. again:
// inputs, kept values -> outputs.
struct KeepingProgram {
  ProgramPtr forward;
  ProgramPtr again;
  Types kept;
};
using KeepingBody = std::function<KeepingProgram(const ProgramPtr&)>;

// The same for an op that carries programs, each of which `body` splits. What a run of many keeps
// is stacked along a leading axis; branches hand on what each of them keeps.
struct KeepingCall {
  Params forward;
  Params again;
  Types kept;
};
// Nothing is kept inside an op for which this is false: how often a loop goes round is not known
// before, and rules of the user's own know only what they were written for.
bool can_keep(const Op& op, const Params& params);
KeepingCall keep(const Op& op, const Params& params, const KeepingBody& body);

}  // namespace shardax
