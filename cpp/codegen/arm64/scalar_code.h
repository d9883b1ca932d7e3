// codegen/arm64/scalar_code.h - the machine code of a scalar program for AArch64.
#pragma once

#include "codegen/scalar/code.h"

namespace shardax::codegen::arm64 {

// As codegen::scalar_code(), with NEON.
std::vector<std::uint8_t> scalar_code(const ScalarProgram& program, Poll poll,
                                      std::string* listing);

}  // namespace shardax::codegen::arm64
