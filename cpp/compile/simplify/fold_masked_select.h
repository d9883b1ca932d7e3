// compile/simplify/fold_masked_select.h - masked selects become slices of one row.
#pragma once

#include "compile/simplify/pattern_driver.h"

namespace shardax {

// select(iota == 0, concatenate(x, z), y), where x has one element along that dimension, is
// concatenate(y[0], z). No select of a concatenation is left.
std::optional<Vars> fold_masked_concat(const PatternContext& m);
// A slice of select(iota == 0, x, y) that leaves out that index, or is that index, is one of x or
// y.
std::optional<Vars> slice_of_masked_select(const PatternContext& m);
// sum(select(iota == 7, 0, x)) over that dimension is x[7], and x itself is reduced to row 7 as
// well. The other devices thus compute nothing of a loss that one device has.
std::optional<Vars> sum_of_masked_row(const PatternContext& m);

// x[:, 2] = where(iota == 7, y, x[:, 2]) writes y[7] alone: only the device with a new value writes
// it.
std::optional<Vars> update_by_masked_select(const PatternContext& m);

}  // namespace shardax
