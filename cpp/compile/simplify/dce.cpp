// compile/simplify/dce.cpp - dead code elimination.
#include "compile/passes.h"
#include "transform/prune.h"

namespace shardax {

ProgramPtr eliminate_dead(const ProgramPtr& program) {
  const std::vector<bool> every_input(program->inputs.size(), true);
  return prune_program(program, std::vector<bool>(program->outputs.size(), true), &every_input)
      .program;
}

}  // namespace shardax
