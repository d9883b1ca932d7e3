// codegen/x86/encoder_text.h - operands as the listings of instructions show them, in Intel's
// syntax.
#pragma once

#include <string>

#include "codegen/x86/encoder.h"

namespace shardax::codegen {

constexpr std::uint8_t low(std::uint8_t number) { return number & 7; }
constexpr std::uint8_t number(General r) { return static_cast<std::uint8_t>(r); }

std::string text(std::int64_t value);  // "0x10", "-0x10"
std::string text(General r, bool wide = true);
std::string text(const Address& a);

}  // namespace shardax::codegen
