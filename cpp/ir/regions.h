// ir/regions.h - the programs that an op carries: their operands, results, carries and trip counts.
//
// An op's record describes them once (`regions` and `with_regions` in ir/op.h). Analyses, passes
// and steps read the description, so that none of them names an op. Examples are dead code,
// forwarding, checkpoint policies, shardings, the search for NaN and compiled steps.
//
//            programs            operands                           results
//   jit      body       once     whole                              whole
//   pmap     body       mapped   sliced along in_axes, or whole     sliced along out_axes, or whole
//   cond     branches   one_of   choice, whole                      whole
//   scan     body       counted  whole, carried, sliced             carried, sliced
//   while    condition,          whole of the one, whole of the     carried
//            body       looped   other, carried
#pragma once

#include "ir/op.h"

namespace shardax {

enum class ExecutionKind : std::uint8_t {
  once,     // a call: compiled in place
  mapped,   // once for each index of a device axis; compiled by batching
  mesh,     // once for each device of several axes; compiled as what the op expands to
  one_of,   // the program that operand 0, an int32 scalar, chooses; clamped
  counted,  // `length` times, one after the other
  looped,   // as long as the first program, the condition, gives true: the second
};

// The way in which an operand reaches the programs, or a result comes out of them.
enum class PortKind : std::uint8_t {
  choice,  // operand 0 of ExecutionKind::one_of; no program sees it
  // As it is, the same in each run. Results: that of the run; of ExecutionKind::mapped the first's.
  whole,
  carried,  // the operand in the first run, then what the run before gave. Results: the last run's
  sliced,   // the slice along `axis` that belongs to the run. Results: stacked along it
};

struct RegionPort {
  PortKind flow = PortKind::whole;
  std::int64_t axis = 0;  // of PortKind::sliced
  int program = -1;       // the only program that takes it; -1: all do
  int source = -1;        // its position before a description is changed; -1: it is new
};

// Each program takes its operands, and gives its results, in the order in which they stand here.
// The n-th carried operand belongs to the n-th carried result.
struct Regions {
  ExecutionKind runs = ExecutionKind::once;
  Programs programs;
  std::vector<RegionPort> operands;
  std::vector<RegionPort> results;
  std::int64_t length = 1;  // the number of runs, if known
  bool reverse = false;     // ExecutionKind::counted from the last slice to the first
  AxisName axis = -1;       // of ExecutionKind::mapped
  // Over whose devices the programs run: of ExecutionKind::mapped one, of ExecutionKind::mesh all.
  std::vector<AxisExtent> axes = {};
  bool devices = false;  // each run of ExecutionKind::counted is a device
  // Rules of the user's own depend on the operands and results: programs may be replaced by others
  // of the same inputs and outputs only.
  bool fixed = false;
  // Programs may still drop results: the op's `with_regions` sees to the rules.
  bool sheds_results = false;

  // Does program k give the results? The condition of a loop gives one boolean.
  bool gives_results(std::size_t k) const { return runs != ExecutionKind::looped || k == 1; }
  // The operands that program k takes, by position.
  std::vector<std::size_t> taken_by(std::size_t k) const;
  // Positions of the operands, or results, of one flow.
  std::vector<std::size_t> operands_of(PortKind flow) const;
  std::vector<std::size_t> results_of(PortKind flow) const;
};

// Throws ValueError unless operands of these types fit the programs. Results must fit as well, and
// carries the next run.
void check_regions(const Op& op, const Regions& regions, const Types& in);

// A call: every operand and every result whole.
Regions call_of(const ProgramPtr& program, bool fixed = false);

// The regions that the op's record gives for these params, with every port's `source`.
Regions regions_of(const Op& op, const Params& params);

// The program that an op calls, where it does nothing else; else null.
ProgramPtr called_program(const Op& op, const Params& params);

// The program of whole operands that an op of ExecutionKind::mesh expands to; null for other ops.
ProgramPtr mesh_program(const Op& op, const Params& params);

// The type of an operand or result, where each run has `type`.
Type type_at(const Regions& regions, const RegionPort& port, Type type);

}  // namespace shardax
