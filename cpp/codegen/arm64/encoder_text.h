// codegen/arm64/encoder_text.h - operands as the system's assembler reads them.
#pragma once

#include <string>

#include "codegen/arm64/encoder.h"

namespace shardax::codegen::arm64 {

std::string text(Vector v, Arrangement a);      // "v1.4s"
std::string scalar_text(Vector v, int size);    // "s1", by the logarithm of its bytes
std::string text(General r, bool wide = true);  // "x1" or "w1"
std::string address_text(General r);            // the same, where 31 is the stack's address
std::string text(const Address& a);             // "[x1, #16]"
std::string text(Condition c);

}  // namespace shardax::codegen::arm64
