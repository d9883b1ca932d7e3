// codegen/arm64/node_writer.h - the NEON instructions of a node.
#pragma once

#include <array>

#include "codegen/arm64/encoder.h"
#include "codegen/vector/program.h"

namespace shardax::codegen::arm64 {

// Registers that no value has, for sequences of instructions: one follows the other.
inline constexpr Vector scratch0{30}, scratch1{31};

// A node and its operands. `a`: how vectors of its kind are divided (of comparisons, of its
// operands' kind), `from`: the kind of its first operand.
struct Instruction {
  const Node& node;
  Kind from;
  Arrangement a;
  Vector to;
  std::array<Vector, 3> in;
};

// Writes it; the result may lie where an operand does, but fma's not where a factor does. False
// where there is no instruction.
bool write_node(Encoder& encoder, const Instruction& i, const std::vector<Table>& tables);

// Brings a constant's bits into all lanes.
void write_constant(Encoder& encoder, Vector to, const Node& constant);

}  // namespace shardax::codegen::arm64
