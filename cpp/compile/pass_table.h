// compile/pass_table.h - the passes: a row for each, for the pipeline and for tests.
//
// `program_passes` is the pipeline. `simplify` applies the rewrites of loops and the patterns on
// its walk (compile/simplify/pattern_driver.h, pattern_table.h). Tests run each of them alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/fusion/fuse.h"

namespace shardax {

enum class Phase : std::uint8_t {
  specialize,  // to the strides of the inputs
  simplify,    // inlining, batching, patterns; repeated until nothing changes
  prepare,     // layouts, types, loops
  schedule,    // rematerialization, tile groups, fusion
};

// Facts that passes read and write beside the program.
struct PassState {
  std::vector<Shape> strides;     // of the inputs; they follow what becomes of these
  bool stripmine = false;         // mapped functions run a few devices at a time
  std::vector<bool> overwritten;  // inputs whose memory results may take over
  std::vector<TileGroup> tile_groups;
  std::vector<FusionGroup> fusion_groups;
};

struct ProgramPass {
  Phase phase;
  std::string_view name;
  std::string_view doc;      // one line
  std::string_view example;  // before -> after
  ProgramPtr (*run)(const ProgramPtr& program, PassState& state);
};
// In the order in which they run. compile/pipeline.cpp
std::span<const ProgramPass> program_passes();

// Arguments of a pass that runs alone.
struct PassArgs {
  std::vector<Shape> input_strides;  // of expose_uniform; empty: dense
  std::vector<bool> overwritten;     // donated inputs, whose memory results may take over
  bool stripmine = false;            // of expose_uniform and simplify
};

struct Pass {
  enum class Kind { program, loops, pattern, plan };
  std::string_view name;
  Kind kind;
  std::string_view doc;
  std::string_view example = {};  // of program passes and rewrites of loops
};
// In the order in which they run.
std::vector<Pass> all_passes();

// The number of passes of pipeline.cpp that have been verified (ir/verify.h). Each pass is verified
// under SHARDAX_VERIFY=1 or SHARDAX_DUMP=passes.
std::int64_t verified_passes();

// The verified result of the pass. For patterns and rewrites of loops, unused equations are dropped
// from it. Throws ValueError if no pass has that name. Throws ValueError where no pass has that
// name.
ProgramPtr apply_pass(std::string_view name, const ProgramPtr& program, const PassArgs& args = {});

// Fusion and lowering give a plan. Its text, made of the program as it is.
bool makes_plan(std::string_view name);
std::string plan_text(const ProgramPtr& program, const PassArgs& args = {});

}  // namespace shardax
