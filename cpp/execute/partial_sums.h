// execute/partial_sums.h - each device's term of results that are sums over a mesh.
#pragma once

#include <optional>

#include "ir/program.h"

namespace shardax {

// After a program has run and its results are labelled: those that are unreduced get their terms.
// If terms are unknown (an operand was donated, devices are mapped over by hand), they get none,
// and the first device counts as having all.
void keep_partial_sums(const Program& program, const Values& in, const Values& out);

// The results of a program that takes sums apart, on the devices' parts. Null if devices cannot be
// told apart: the program then uses the known terms of such sums.
std::optional<Values> run_on_parts(const ProgramPtr& program, const Values& in);

// Is one of them labelled as a sum that is still to be done?
bool any_unreduced(const Values& arrays);

}  // namespace shardax
