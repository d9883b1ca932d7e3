// codegen/scalar/register_bank_select.h - the choice between general and vector registers for each
// value.
//
// Integers that stand in all lanes alike can be computed there, and often should: products take 3
// cycles in place of up to 10, there are those of 64 bits, shifts and quotients, choices are moves,
// and what loops and branches are decided on, and indices, are where they are asked for. What
// floats are made of, or lanes, had better stay in vectors: bringing a number from one kind of
// register to all lanes of the other takes 5 cycles. So integers that depend on each other go
// together, where what is gained is more than what their ways to and fro cost.
#pragma once

#include <vector>

#include "codegen/scalar/program.h"

namespace shardax::codegen {

struct RegisterBanks {
  std::vector<bool> general;  // of each node
  // Of those: also brought to a vector register, as soon as it is there.
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
