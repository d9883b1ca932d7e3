// compile/simplify/dce.cpp - dead code elimination.
#include "transform/dce.h"

#include "compile/passes.h"

namespace shardax {

ProgramPtr eliminate_dead_code(const ProgramPtr& program) {
  const std::vector<bool> every_input(program->inputs.size(), true);
  return dce_program(program, std::vector<bool>(program->outputs.size(), true), &every_input)
      .program;
}

}  // namespace shardax
