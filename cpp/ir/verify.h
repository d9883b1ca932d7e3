// ir/verify.h - checks that a program is one: for passes, and for programs that others wrote.
//
// Checks the assumptions of rules, passes and kernels. Variables lie in the table of types, and are
// defined once, before their use. An equation has as many operands and results as its op. Its
// params have the kinds and ranges that the op's type rule expects, and its results the types that
// the rule gives. Operands of an op that carries programs fit these programs. Axes that a
// collective names are in scope, of the sizes that it expects.
#pragma once

#include <string>

#include "ir/program.h"

namespace shardax {

// The deepest nesting of programs in a file.
inline constexpr int max_nesting = 1000;

// Throws InternalError with the program and `stage`, the pass that made it.
void verify(const Program& program, const std::string& stage);

// The same for programs from outside: throws ValueError that begins with `user` and shows the
// equation. `closed`: axes that are not bound within the program are bound nowhere.
void check_program(const Program& program, const std::string& user, bool closed);

}  // namespace shardax
