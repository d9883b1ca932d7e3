// control/checkify.h - checkify: the checks of a program as values that it computes.
//
// Its equations are evaluated with a Failure at their side: an equation `check` joins it, and so do
// the automatic checks. Programs that equations carry take the Failure as further inputs and give
// it as further outputs; loops carry it:
//   c = f(a, b)   ->   number, payload..., c = f'(number, payload..., a, b)
#pragma once

#include "control/check.h"

namespace shardax {

struct Checked {
  CheckTablePtr table;  // the checks of the numbers
  Failure failure;
  Values out;
};
// Runs `program` on values with its checks of the `enabled` kinds; the others are left out.
Checked checkify(const ProgramPtr& program, CheckKinds enabled, const Values& in);

}  // namespace shardax
