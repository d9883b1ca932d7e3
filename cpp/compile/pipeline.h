// compile/pipeline.h - from a program to a plan: the list of passes.
#pragma once

#include "compile/plan.h"

namespace shardax {

struct CompileOptions {
  std::vector<Shape> input_strides;  // of each input; 0 along a dimension says that it repeats
  bool dense_outputs = false;        // write every result to memory of its own (bodies of loops)
  // Of a loop's body: inputs first_carry, ... are the carry, whose memory may be written to. Result
  // k may stay in that of input first_carry + k (Plan::in_place).
  std::size_t first_carry = 0;
  std::size_t carry = 0;
  // Inputs that nobody else holds and the caller gives away: results may take over their memory
  // (Plan::overwritten). Empty: none.
  std::vector<bool> donated;
};

PlanPtr compile(const ProgramPtr& program, const CompileOptions& options);
// The same for bodies of loops and branches: dense inputs, dense outputs, and what is said above of
// a carry.
PlanPtr compile_body(const ProgramPtr& program, std::size_t first_carry = 0, std::size_t carry = 0);

// What SHARDAX_DUMP asks for: "passes", "plan", "time", joined by '|' or ','.
struct DumpFlags {
  bool passes = false;
  bool plan = false;
  bool time = false;
};
const DumpFlags& dump_flags();

}  // namespace shardax
