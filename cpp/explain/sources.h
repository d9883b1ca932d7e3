// explain/sources.h - the equations of a user's program, each recognisable in what becomes of it.
//
// Passes keep the locations of equations. In a tagged program every equation has a Location of its
// own. An equation of the compiled program thus names the user's equation that it comes from.
#pragma once

#include <unordered_map>

#include "ir/regions.h"

namespace shardax {

struct MappedAxis {
  AxisName name;
  std::int64_t size;
};

// An equation of the user's program: one device's, where it is mapped.
struct Source {
  const Op* op;
  Params params;
  LocationPtr location;  // the user's line, or null
  Types in_types, out_types;

  // The results of variation.h. Operands and results: the axes over which they vary.
  std::vector<MappedAxis> axes;  // in scope, outermost first
  std::vector<AxisSet> in, out;
  std::vector<int> needs;      // per operand: the source that gives it, or -1
  std::vector<int> arguments;  // per operand: the argument of the whole program that it is, or -1
  double times = 1;            // number of runs by loops
  int loop = -1;               // the source of the innermost loop or branch that contains it
  bool called = false;         // a call, which stands for the equations of its program
  bool dead = false;           // nothing needs its results
};

struct TaggedProgram {
  ProgramPtr program;
  std::vector<Source> sources;  // in program order
  std::unordered_map<const Location*, int> numbers;

  // The source that an equation comes from; -1: none.
  int source_of(const Equation& eqn) const {
    const auto it = numbers.find(eqn.location.get());
    return it == numbers.end() ? -1 : it->second;
  }
};
TaggedProgram tagged(const ProgramPtr& program);

}  // namespace shardax
