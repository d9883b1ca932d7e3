// control/checkpoint_saved.h - the values inside carried programs that a checkpoint keeps.
#pragma once

#include <functional>

#include "ir/op.h"

namespace shardax {

// A program for a checkpoint that keeps values. forward: inputs -> outputs, kept values. again:
// inputs, kept values -> outputs.
struct SavingProgram {
  ProgramPtr forward;
  ProgramPtr again;
  Types kept;
};
using SavingBody = std::function<SavingProgram(const ProgramPtr&)>;

// The same for an op that carries programs, each of which `body` splits. What a run of many keeps
// is stacked along a leading axis; branches hand on what each of them keeps.
struct SavingCall {
  Params forward;
  Params again;
  Types kept;
};
// Nothing is kept inside an op for which this is false: how often a loop goes round is not known
// before, and rules of the user's own know only what they were written for.
bool can_keep(const Op& op, const Params& params);
SavingCall keep(const Op& op, const Params& params, const SavingBody& body);

}  // namespace shardax
