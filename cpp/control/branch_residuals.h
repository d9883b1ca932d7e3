// control/branch_residuals.h - values that the programs of a choice hand on, each its own.
#pragma once

#include "ir/program.h"

namespace shardax {

// The residuals of all branches, which every branch gives and takes: those of the first branch,
// then those of the second, ...
struct BranchResiduals {
  Types types;
  std::vector<std::size_t> first;  // by branch, where its own begin
  void add(const Types& own);
  std::size_t own(std::size_t branch) const;
  // The branch, which gives its own after `outputs` others, with zeros for those of the others.
  ProgramPtr giving(const ProgramPtr& program, std::size_t branch, std::size_t outputs) const;
  // The branch, which takes its own as inputs from `at` on, where it takes those of all.
  ProgramPtr taking(const ProgramPtr& program, std::size_t branch, std::size_t at) const;
};

}  // namespace shardax
