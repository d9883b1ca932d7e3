// codegen/arm64/assembly.h - the NEON code of a vector program.
//
// One pass over the nodes: each brings its operands into registers (vector/registers.h) and writes
// its instructions (node_writer.h). Constants, and operands of one element, stay in registers
// during the loop as far as there are some to spare.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "codegen/arm64/node_writer.h"
#include "codegen/tile_code.h"
#include "codegen/vector/registers.h"

namespace shardax::codegen::arm64 {

class Assembly {
 public:
  // Of a program of legalize_neon().
  Assembly(const VectorProgram& program, std::span<const OperandForm> operands, bool lists);
  // As tile_code(); empty where a node has no instruction.
  std::vector<std::uint8_t> run(std::string* listing);
  // Elements of a turn of the loop, once the code is there.
  int step() const { return vectors_ * lanes_; }

 private:
  // A node with the same value in every turn, and its register.
  struct Hoisted {
    int node;
    std::uint8_t reg;
  };

  const Node& node(int i) const { return program_->node(i); }
  int stored(int v) const { return registers_.stored(v); }
  bool repeats(int v) const {
    return node(v).code == Code::input && operands_[index(operand_of(node(v)))].repeats;
  }
  bool is_hoisted(int v) const { return hoisted_of_[index(v)] >= 0; }
  Vector vector(int v) const;
  int bytes(Kind kind) const;  // of a lane
  Arrangement arrangement(Kind kind) const;
  int memory_bytes(Kind kind) const;  // of a vector

  // ---- the function
  std::vector<Node> invariants() const;
  void choose_registers();
  void find_pointers();
  bool loop();
  Encoder start() const;
  void end();

  // ---- values
  std::uint8_t free_register();
  Vector need(int v);
  Vector result(int i);
  void release_dying(int i);
  void fetch(int v, Vector to);
  void fetch_truth(Kind kind, const Address& from, Vector to);
  Address element(int operand, Kind kind, int vector);
  void bring(General to, int operand);
  bool emit(int i);
  bool store_outputs();
  void store_truth(Kind kind, Vector from, const Address& to);

  const VectorProgram* program_;
  VectorProgram interleaved_;
  const std::span<const OperandForm> operands_;
  const int width_, lanes_;  // bytes of the widest numbers, elements of a vector
  int vectors_ = 1;          // of a turn
  Registers registers_;
  Encoder encoder_;
  std::vector<Hoisted> hoisted_;
  std::vector<int> hoisted_of_;  // of each node, in hoisted_; -1: none
  std::vector<int> held_;        // operands whose addresses are in registers
  std::uint32_t used_ = 0;       // bits of vector registers
};

}  // namespace shardax::codegen::arm64
