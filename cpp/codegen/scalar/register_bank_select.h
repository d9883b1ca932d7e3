// codegen/scalar/register_bank_select.h - the choice between general and vector registers for each
// value.
//
// Integers that all lanes share can be computed in general registers. There products take 3 cycles
// in place of up to 10, 64-bit products, shifts and quotients exist, and choices are moves.
// Conditions and indices are then in the register that needs them. Sources of floats and of lanes
// stay in vectors: moving a number from a general register to all lanes, or back, takes 5 cycles.
// So integers that depend on each other go together, if the gain is more than the cost of moves.
#pragma once

#include <vector>

#include "codegen/scalar/program.h"

namespace shardax::codegen {

struct RegisterBanks {
  std::vector<bool> general;  // of each node
  // The general ones that are also brought to a vector register, as soon as they are computed.
  std::vector<bool> spread;
  // Comparisons that are made where something is decided on them, and need no place.
  std::vector<bool> flags;
};

RegisterBanks select_register_banks(const ScalarProgram& program);

// Views are their operand's bits.
int stored(const VectorProgram& nodes, int node);

// An integer becomes a float: an instruction of both kinds of registers.
bool integer_to_float(const VectorProgram& nodes, int node);

}  // namespace shardax::codegen
