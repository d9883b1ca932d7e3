// codegen/tile_code.h - the machine code of a vector program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/vector/program.h"

namespace shardax::codegen {

// Computes elements [0, n) of operands at `pointers`.
using TileCode = void (*)(std::byte* const* pointers, std::int64_t n);

// The instructions of the code: AVX2, FMA and F16C with registers of 32 bytes, AVX-512 (F, BW, DQ,
// VL; BMI2) with masks and 64, NEON with 16.
enum class Instructions : std::uint8_t { avx2, avx512, neon };

// The form in which code reads an operand's elements.
struct OperandForm {
  int bytes = 0;         // of an element
  bool repeats = false;  // one element stands for all
};

// The bytes of a TileCode, which takes multiples of so many elements. Unless it streams, it takes
// any larger number too: the last turn then goes over some elements again. Empty: there is none.
struct MachineCode {
  std::vector<std::uint8_t> bytes;
  int multiple = 1;
};

// The code of this program. All loads of an element come before its stores. An output may therefore
// overlap an input, unless elements are gone over again. Empty where a node has no instruction.
// With AVX-512 any number of elements is computed. `streams`: stores of whole vectors go past the
// caches, to addresses that are multiples of 64 bytes. The code then takes multiples of its
// vectors; NEON has no such code. `listing`, where given, gets the instructions as text.
MachineCode tile_code(const VectorProgram& program, std::span<const OperandForm> operands,
                      Instructions instructions, bool streams = false,
                      std::string* listing = nullptr);

}  // namespace shardax::codegen
