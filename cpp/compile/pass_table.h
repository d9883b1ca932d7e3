// compile/pass_table.h - every pass by its name, for tests: program in, program out.
//
// The passes of pipeline.cpp, the rewrites of loops that `simplify` applies on its walk
// (compile/simplify/pattern_driver.h) and the patterns of simplify/patterns.cpp, each alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace shardax {

// What some passes know beside the program.
struct PassArgs {
  std::vector<Shape> input_strides;  // of expose_uniform; empty: dense
  std::vector<bool> overwritten;     // donated inputs, whose memory results may take over
};

struct Pass {
  enum class Kind { program, loops, pattern, plan };
  std::string_view name;
  Kind kind;
  std::string_view doc;  // one line
};
// In the order in which they run.
std::vector<Pass> all_passes();

// How often a pass of pipeline.cpp has been verified (ir/verify.h): each is where SHARDAX_VERIFY=1
// says so, or SHARDAX_DUMP=passes shows it.
std::int64_t verified_passes();

// What the pass makes of the program, verified. Of patterns and rewrites of loops also without what
// nothing uses any more. Throws ValueError where no pass has that name.
ProgramPtr apply_pass(std::string_view name, const ProgramPtr& program, const PassArgs& args = {});

// Fusion and lowering give a plan. Its text, made of the program as it is.
bool makes_plan(std::string_view name);
std::string plan_text(const ProgramPtr& program, const PassArgs& args = {});

}  // namespace shardax
