// transform/dce.h - dead code elimination of programs and of the programs they carry.
#pragma once

#include "ir/op.h"

namespace shardax {

struct DceProgram {
  ProgramPtr program;        // gives the wanted outputs only; takes the inputs in `inputs` only
  std::vector<bool> inputs;  // those that are used, and those to be kept
};
// Programs that equations carry lose their unused parts too. `keep`, where given, selects inputs
// that stay although nothing uses them.
DceProgram dce_program(const ProgramPtr& program, const std::vector<bool>& wanted,
                       const std::vector<bool>* keep = nullptr);

}  // namespace shardax
