// compile/scalar/scalarize.h - loops and branches over few numbers become scalar programs.
//
// Every element of every array is a number of its own, so ops that only rearrange elements cost
// nothing. Ops whose kernels record themselves become instructions. The others are called: tile
// kernels with their operands in memory, and further ops as plans of one equation. Arrays that are
// too large to be numbers are read where they lie.
#pragma once

#include <memory>

#include "codegen/scalar/program.h"
#include "compile/plan.h"
#include "ir/regions.h"
#include "kernels/tiles/reduce.h"

namespace shardax {

// A plan that a scalar program calls: where its operands, results and temporaries lie.
struct PlanCall {
  PlanPtr plan;
  std::int64_t in = 0, out = 0, arena = 0;  // in the frame: addresses of operands and of results
};

// A reduction that a scalar program calls: of an array [outer, n, columns] along n.
struct RowReduction {
  kernels::ReduceKernels kernels;
  std::int64_t outer = 1, n = 1, columns = 1;
  std::int64_t itemsize = 4, accumulator_size = 4;
};

// An address that the frame holds: that of pointers[pointer] + value, at `at`.
struct FrameAddress {
  std::int64_t at;
  int pointer;
  std::int64_t value;
};

// Bytes that are copied before a program runs.
struct InitialCopy {
  int from, to;  // pointers
  std::int64_t bytes;
};

struct ScalarLoop {
  codegen::ScalarProgram program;
  // The layout of pointers[]: the state of a run, operands, results, constants, and the frame,
  // which is memory for called functions.
  int operands = 1, results = 1, constants = 1, frame = 1;
  std::vector<ArrayPtr> constant_arrays;
  std::int64_t frame_bytes = 0;
  std::vector<FrameAddress> addresses;
  std::vector<InitialCopy> copies;
  std::vector<std::unique_ptr<PlanCall>> plans;
  std::vector<std::unique_ptr<const RowReduction>> reductions;
  int calls = 0;            // of kernels and plans
  std::int64_t range = -1;  // in the frame: the first turn and the end, of turns in any order
};

// Called as `call_plan(state, &plan_call, frame)`.
using CallPlan = int (*)(void* state, const PlanCall* call, std::byte* frame);

// Null where an op is not one of these, has effects, or arrays are too large. `scalars`: the values
// of operands that are constant scalars, null for others.
std::unique_ptr<ScalarLoop> write_scalar_loop(const Equation& eqn, const Types& in,
                                              const std::vector<ArrayPtr>& scalars,
                                              CallPlan call_plan);

}  // namespace shardax
