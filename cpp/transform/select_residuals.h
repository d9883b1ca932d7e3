// transform/select_residuals.h - residuals of loops: recomputed if cheaper than kept.
//
//   known:   s = logistic x; d = mul s (sub 1.0 s); b = broadcast_in_dim w     keeps s, d, b
// becomes
//   known:   s = logistic x                                                    keeps s, w
//   linear:  d = mul s (sub 1.0 s); b = broadcast_in_dim w; ...
// Residuals of a loop's turns lie in stacks as long as the loop.
#pragma once

#include "transform/jvp.h"

namespace shardax {

// The same halves, with the residuals, each once. `free_inputs`, `free_results`: which of them can
// be kept at no cost.
LinearizedProgram select_residuals(const LinearizedProgram& halves,
                                   const std::vector<bool>& free_inputs,
                                   const std::vector<bool>& free_results);

}  // namespace shardax
