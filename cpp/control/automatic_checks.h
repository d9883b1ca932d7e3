// control/automatic_checks.h - checks of what an op computes: NaN, division by zero, indices.
#pragma once

#include "control/check.h"

namespace shardax {

// The checks of the `enabled` kinds that apply to an equation, in the order in which they are made.
std::vector<Check> automatic_checks(const Program& program, const Equation& eqn,
                                    CheckKinds enabled);

struct Finding {
  Value failed;  // a bool scalar
  Values payload;
};
// Makes a check of an op's inputs and outputs.
Finding make_check(const Check& check, const Op& op, const Params& params, const Values& in,
                   const Values& out);

}  // namespace shardax
