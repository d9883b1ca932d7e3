// compile/pipeline.h - from a program to a plan: the list of passes.
#pragma once

#include "compile/plan.h"

namespace shardax {

struct CompileOptions {
  std::vector<Shape> input_strides;  // of each input; 0 along a dimension says that it repeats
  bool dense_outputs = false;        // write every result to memory of its own (bodies of loops)
};

PlanPtr compile(const ProgramPtr& program, const CompileOptions& options);
// The same for bodies of loops and branches: dense inputs, dense outputs.
PlanPtr compile_body(const ProgramPtr& program);

// What SHARDAX_DUMP asks for: "passes", "plan", "time", joined by '|' or ','.
struct DumpFlags {
  bool passes = false;
  bool plan = false;
  bool time = false;
};
const DumpFlags& dump_flags();

}  // namespace shardax
