// codegen/tile_code.h - the machine code of a vector program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/program.h"

namespace shardax::codegen {

// Computes elements [0, n), n a multiple of the program's lanes, of operands at `pointers`.
using TileCode = void (*)(std::byte* const* pointers, std::int64_t n);

// Elements of a vector register: 8 of 32 bits, 4 of 64.
constexpr int lanes_of(int width) { return 32 / width; }

// Bytes of a TileCode for this program. All loads of an element come before its stores, so that an
// output may lie where an input does. `item_bytes`: of an element of each operand. Empty where a
// node has no instruction or numbers of several widths meet.
// `listing`, where given, gets the instructions as text.
std::vector<std::uint8_t> tile_code(const VectorProgram& program, std::span<const int> item_bytes,
                                    std::string* listing = nullptr);

}  // namespace shardax::codegen
