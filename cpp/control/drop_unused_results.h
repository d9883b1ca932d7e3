// control/drop_unused_results.h - rules of the user's own for calls that lost some of their
// results.
#pragma once

#include "ir/op.h"

namespace shardax {

// `rule`, whose first `groups` of results (values, tangents) are those that `left` selects.
FunctionPtr without_results(const FunctionPtr& rule, const std::vector<bool>& left,
                            std::size_t groups);
// A backward rule whose last operands are the cotangents of the differentiable `results`. It is
// given those that `left` selects; the others are zero, null where `symbolic`.
FunctionPtr without_cotangents(const FunctionPtr& rule, const Types& results,
                               const std::vector<bool>& left, bool symbolic);

}  // namespace shardax
