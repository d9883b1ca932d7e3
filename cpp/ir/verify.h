// ir/verify.h - checks that a program is one: for passes, and for programs that others wrote.
//
// Rules, passes and kernels take for granted what is checked here: variables lie in the table of
// types and are defined once, before they are used; an equation has as many operands and results
// as its op; its params are of the kinds and in the ranges that the op's type rule expects, and its
// results have the types that the rule gives; the operands of an op that carries programs are what
// these programs take; axes that a collective names are in scope, of the sizes that it expects.
#pragma once

#include <string>

#include "ir/program.h"

namespace shardax {

// How deeply programs of a file may lie within each other.
inline constexpr int max_nesting = 1000;

// Throws InternalError with the program and `stage`, the pass that made it.
void verify(const Program& program, const std::string& stage);

// The same for programs from outside: throws ValueError that begins with `user` and shows the
// equation. `closed`: axes that are not bound within the program are bound nowhere.
void check_program(const Program& program, const std::string& user, bool closed);

}  // namespace shardax
