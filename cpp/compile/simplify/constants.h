// compile/simplify/constants.h - scalar constants of programs, by their numbers.
#pragma once

#include <optional>

#include "compile/builder.h"

namespace shardax {

// Is it a real number of that value? A zero has either sign.
bool holds_number(const Array& scalar, double wanted);

// Is it a constant scalar of 4 bytes or more that holds the number, or that repeated?
bool is_scalar_constant(const Builder& builder, Var v, double wanted);

// The number that a constant of rank 0 holds, or one that repeats it.
std::optional<double> repeated_number(const Builder& builder, Var v);

// Is it the constant 0, or that repeated? `made_by`: the makers of the program's variables.
bool is_zero(const Program& program, Var v, const std::vector<int>& made_by);

}  // namespace shardax
