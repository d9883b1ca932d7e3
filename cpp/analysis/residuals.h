// analysis/residuals.h - residuals of a program, and the source of each.
#pragma once

#include "control/control.h"

namespace shardax {

struct Residual {
  enum class Source { literal, constant, input, output };
  Type type;
  Source source;
  std::size_t input = 0;             // an input: its position
  const Op* op = nullptr;            // an output: the op that made it,
  std::string checkpoint_name = {};  // the name that checkpoint_name gave it, else "",
  LocationPtr location = {};         // and the user's line, which may be null
};

// The residuals that linearizing `program` keeps for the linear part, each once. Literals,
// constants and inputs come first, then results in the order of their computation. Calls are looked
// into: a residual is said to come from the equation of the called body that made it.
std::vector<Residual> saved_residuals(const ProgramPtr& program, const std::vector<bool>& nonzero);

}  // namespace shardax
