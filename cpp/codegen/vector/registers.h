// codegen/vector/registers.h - register allocation of vector programs.
//
// Linear scan in one pass: where no register is free, the value whose next use lies furthest away
// leaves its own (Belady 1966). Truth values have registers of their own kind where the machine has
// masks. The assembler asks here for registers, and writes the loads and stores.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/index.h"
#include "codegen/vector/program.h"

namespace shardax::codegen {

class Registers {
 public:
  // Vector registers 0 to vectors - 1 and mask registers 1 to masks are given to values.
  Registers(const VectorProgram& program, int vectors, int masks);

  int vectors() const { return vectors_; }
  // The node whose register a value has.
  int stored(int v) const { return stored_[index(v)]; }
  bool needed(int v) const { return uses_of_[index(v)].next >= 0; }
  // Can it be read again from where it came?
  bool reread(int v) const { return node(v).code == Code::input || node(v).code == Code::constant; }
  bool is_mask(int v) const { return masks_ > 0 && node(v).kind == Kind::truth; }

  // The most values alive at a time. Constants are left out, and so are values read just once,
  // which an instruction may take from memory.
  int pressure() const { return pressures().vectors; }
  // Would so many copies of the program do with `spilled` registers of each kind more?
  bool fits(int copies, int spilled) const;

  // Goes to the next node (in the end, to the outputs), whose operands are brought one by one.
  void advance(int position);
  int position() const { return position_; }
  bool dies(int v) const { return next_use(v) < 0; }
  // The value keeps its register during the current node.
  void pin(int v) { pinned_.push_back(v); }
  std::size_t pinned() const { return pinned_.size(); }
  void unpin(std::size_t left) { pinned_.resize(left); }

  bool in_place(int v) const { return place_[index(v)].reg >= 0; }
  std::uint8_t number(int v) const { return static_cast<std::uint8_t>(place_[index(v)].reg); }
  void give(int v, std::uint8_t reg);
  void release(int v);

  // A register that is free, or whose value has to leave; `evicted` (-1: none) must be written to
  // its slot first.
  struct Choice {
    std::uint8_t reg;
    int evicted;
  };
  Choice choose(bool mask);

  // The place of a value on the stack, or -1.
  int slot(int v) const { return place_[index(v)].slot; }
  void give_slot(int v) { place_[index(v)].slot = slots_++; }
  int slots() const { return slots_; }

 private:
  const Node& node(int i) const { return program_->node(i); }
  void find_uses();
  struct Pressures {
    int vectors = 0, masks = 0;
  };
  Pressures pressures() const;
  int next_use(int v) const;

  struct Place {
    int reg = -1;
    int slot = -1;
  };
  // Uses of a value are a list, of which those up to the current position are dropped on the way.
  struct Use {
    int position;
    int next;
  };
  struct Uses {
    int next = -1;  // the first of the list
    int last = -1;  // the position of the last
  };
  const VectorProgram* program_;
  int vectors_, masks_;
  int position_ = 0, slots_ = 0;
  std::vector<int> stored_;
  std::vector<Use> uses_;
  mutable std::vector<Uses> uses_of_;
  std::vector<Place> place_;
  std::array<int, 32> vector_holds_;
  std::array<int, 8> mask_holds_;
  std::uint32_t free_vectors_, free_masks_;  // bits of registers
  std::vector<int> pinned_;
};

}  // namespace shardax::codegen
