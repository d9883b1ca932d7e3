// transform/prune.h - a program without what some of its outputs do not need.
#pragma once

#include "ir/op.h"

namespace shardax {

struct PrunedProgram {
  ProgramPtr program;        // gives the wanted outputs only; takes the inputs in `inputs` only
  std::vector<bool> inputs;  // those that are used, and those to be kept
};
// Loops and branches inside lose what is not needed of them too. `keep`, where given, selects
// inputs that stay although nothing uses them.
PrunedProgram prune_program(const ProgramPtr& program, const std::vector<bool>& wanted,
                            const std::vector<bool>* keep = nullptr);

// The same for the body of a loop, whose first `carry` outputs become its inputs from `first` on:
// these stay or go together, and `wanted` becomes what stays.
PrunedProgram prune_loop(const ProgramPtr& body, std::size_t first, std::size_t carry,
                         std::vector<bool>& wanted);

// The same for an op that calls the program in its param `jaxpr`, with its inputs and outputs.
Pruned prune_call(const Params& params, const std::vector<bool>& wanted);

}  // namespace shardax
