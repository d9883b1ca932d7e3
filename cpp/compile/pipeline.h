// compile/pipeline.h - from a program to a plan: the list of passes.
#pragma once

#include "compile/fusion/fuse.h"
#include "compile/plan.h"

namespace shardax {

struct CompileOptions {
  std::vector<Shape> input_strides;  // of each input; 0 along a dimension says that it repeats
  bool dense_outputs = false;        // write every result to memory of its own (regions of loops)
  // For a loop's body: inputs first_carry, ... are the carry, whose memory may be written to.
  // Result k may stay in that of input first_carry + k (Plan::in_place).
  std::size_t first_carry = 0;
  std::size_t carry = 0;
  // For each result, another input whose memory it may stay in; -1: none. Empty: all.
  std::vector<int> over = {};
  // Inputs that nobody else holds and the caller gives away: results may take over their memory
  // (Plan::overwritten). Empty: none.
  std::vector<bool> donated;
  // The program after the passes over programs, if it is known.
  ProgramPtr rewritten = {};
};

PlanPtr compile(const ProgramPtr& program, const CompileOptions& options);
// The same for regions of loops and branches. Inputs are dense unless `strides` says otherwise,
// outputs are dense; carries and `over` are as above.
PlanPtr compile_body(const ProgramPtr& program, std::size_t first_carry = 0, std::size_t carry = 0,
                     const std::vector<Shape>& strides = {}, const std::vector<int>& over = {});
// A body after the passes over programs.
ProgramPtr rewritten_body(const ProgramPtr& program);
CompileOptions body_options(const Program& program, std::size_t first_carry, std::size_t carry);

// The variables of each slot of a plan, and their lifetimes.
struct AssignedBuffers {
  std::vector<Vars> variables;            // per slot
  std::vector<std::pair<int, int>> uses;  // per slot: the first and last step; -1: none
  std::vector<int> units;                 // per step: the unit that it is part of
};
// A plan with its programs and groups, for explanations.
struct Compilation {
  ProgramPtr program;              // after the passes
  std::vector<FusionGroup> units;  // of it, in the order of the steps
  AssignedBuffers placement;
  PlanPtr plan;
};
Compilation compile_visibly(const ProgramPtr& program, const CompileOptions& options);

// The flags of SHARDAX_DUMP: "passes", "plan", "time", "asm", joined by '|' or ','.
struct DumpFlags {
  bool passes = false;
  bool plan = false;
  bool time = false;
  bool code = false;
};
const DumpFlags& dump_flags();

}  // namespace shardax
