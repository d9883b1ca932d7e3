// compile/simplify/fold_transposes.h - transposes merged, moved and folded into products.
#pragma once

#include "compile/simplify/pattern_driver.h"

namespace shardax {

// transpose(x), in order   ->   x
std::optional<Vars> drop_transpose(const PatternContext& m);
// transpose(transpose(x))   ->   transpose(x)
std::optional<Vars> join_transposes(const PatternContext& m);
// A product whose factors change places is the same, element by element.
std::optional<Vars> transpose_into_dot(const PatternContext& m);
// Elementwise values are computed in the order of their use, if operands have that order or are
// made in it as easily.
std::optional<Vars> transpose_operands(const PatternContext& m);

}  // namespace shardax
