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

// The same for an op that carries programs, each of which `body` splits. The residuals of repeated
// runs are stacked along a leading axis; branches hand on the residuals of each.
struct SavingCall {
  Params forward;
  Params again;
  Types kept;
};
// May values inside an op be kept? Not in a while loop, whose length is unknown, nor under the
// user's own rules, which fit only the function that they were written for.
bool can_keep(const Op& op, const Params& params);
SavingCall keep(const Op& op, const Params& params, const SavingBody& body);

}  // namespace shardax
