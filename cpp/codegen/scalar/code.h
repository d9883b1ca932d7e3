// codegen/scalar/code.h - the machine code of a scalar program.
#pragma once

#include <string>

#include "codegen/scalar/program.h"

namespace shardax::codegen {

// Runs a scalar program on memory at `pointers`. Returns the nonzero result of a checked call or a
// poll, else 0.
using ScalarCode = int (*)(std::byte* const* pointers);

// Called about once a millisecond while a program loops; a nonzero result ends it.
using Poll = int (*)(std::byte* const* pointers);

// Bytes of a ScalarCode. Empty where a node has no instruction.
std::vector<std::uint8_t> scalar_code(const ScalarProgram& program, Poll poll,
                                      std::string* listing = nullptr);

// About how many nanoseconds one pass over the program takes, each loop turning once.
double scalar_cost(const ScalarProgram& program);
// After how many turns of loops, so, a millisecond is over.
std::int32_t turns_between_polls(const ScalarProgram& program);

}  // namespace shardax::codegen
