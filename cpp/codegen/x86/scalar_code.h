// codegen/x86/scalar_code.h - the machine code of a scalar program for x86-64.
#pragma once

#include "codegen/scalar/code.h"

namespace shardax::codegen {

// As scalar_code(), with AVX2.
std::vector<std::uint8_t> scalar_code_x86(const ScalarProgram& program, Poll poll,
                                          std::string* listing);

}  // namespace shardax::codegen
