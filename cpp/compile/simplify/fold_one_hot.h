// compile/simplify/fold_one_hot.h - one-hot rows become comparisons with iota.
#pragma once

#include "compile/simplify/pattern_driver.h"

namespace shardax {

// iota over one of several dimensions -> broadcast(iota)
std::optional<Vars> narrow_iota(const PatternContext& m);
// With one number for each row: scatter_add(zeros, i, x) -> where(iota == i, x, 0)
std::optional<Vars> scatter_into_select(const PatternContext& m);
// With such rows: reduce_sum(where(iota == i, x, 0)) -> where(0 <= i < n, x, 0)
std::optional<Vars> sum_of_one_hot(const PatternContext& m);

}  // namespace shardax
