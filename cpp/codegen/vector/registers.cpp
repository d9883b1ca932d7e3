// codegen/vector/registers.cpp - uses of values, and choosing the eviction victim.
#include "codegen/vector/registers.h"

#include <algorithm>
#include <bit>

namespace shardax::codegen {

Registers::Registers(const VectorProgram& program, int vectors, int masks)
    : program_(&program),
      vectors_(vectors),
      masks_(masks),
      free_vectors_((std::uint32_t{1} << vectors) - 1),
      free_masks_((std::uint32_t{2} << masks) - 2) {
  vector_holds_.fill(-1);
  mask_holds_.fill(-1);
  find_uses();
}

// Goes from the end, whose position is that of outputs. A node without uses yet is dead, and uses
// nothing.
void Registers::find_uses() {
  const auto n = index(program_->size());
  place_.resize(n);
  stored_.resize(n);
  uses_of_.resize(n);
  uses_.reserve(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const Node& own = node(static_cast<int>(i));
    stored_[i] = own.code == Code::view ? stored_[index(own.in[0])] : static_cast<int>(i);
  }
  const auto use = [&](int v, std::size_t position) {
    Uses& uses = uses_of_[index(stored_[index(v)])];
    if (uses.next < 0) uses.last = static_cast<int>(position);
    uses_.push_back({static_cast<int>(position), uses.next});
    uses.next = static_cast<int>(uses_.size()) - 1;
  };
  for (const Output& output : program_->outputs) use(output.node, n);
  for (std::size_t i = n; i-- > 0;) {
    if (uses_of_[i].next < 0) continue;
    for (int in : node(static_cast<int>(i)).in) {
      if (in >= 0) use(in, i);
    }
  }
}

// The next use after the current position, or -1.
int Registers::next_use(int v) const {
  int& next = uses_of_[index(v)].next;
  while (next >= 0 && uses_[index(next)].position <= position_) next = uses_[index(next)].next;
  return next < 0 ? -1 : uses_[index(next)].position;
}

Registers::Pressures Registers::pressures() const {
  const auto n = index(program_->size());
  std::vector<int> vectors(n + 2), masks(n + 2);  // by how many there are more at a position
  for (int v = 0; v < program_->size(); ++v) {
    const Node& own = node(v);
    const auto [next, last] = uses_of_[index(v)];
    if (next < 0 || own.code == Code::constant) continue;
    const int first = uses_[index(next)].position;
    const bool input = own.code == Code::input;
    if (input && !is_truth(own.kind) && first == last) continue;  // read by its instruction
    auto& counts = is_mask(v) ? masks : vectors;
    ++counts[index(input ? first : v)];
    --counts[index(last)];
  }
  Pressures most;
  int vector_count = 0, mask_count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    vector_count += vectors[i];
    mask_count += masks[i];
    most.vectors = std::max(most.vectors, vector_count);
    most.masks = std::max(most.masks, mask_count);
  }
  return most;
}

bool Registers::fits(int copies, int spilled) const {
  const auto [vectors, masks] = pressures();
  // A constant and an operand in memory may need a register each.
  return copies * vectors + 2 <= vectors_ + spilled && copies * masks <= masks_ + spilled;
}

void Registers::advance(int position) {
  position_ = position;
  pinned_.clear();
}

void Registers::give(int v, std::uint8_t reg) {
  (is_mask(v) ? mask_holds_[reg] : vector_holds_[reg]) = v;
  (is_mask(v) ? free_masks_ : free_vectors_) &= ~(std::uint32_t{1} << reg);
  place_[index(v)].reg = reg;
}
void Registers::release(int v) {
  if (!in_place(v)) return;
  (is_mask(v) ? free_masks_ : free_vectors_) |= std::uint32_t{1} << number(v);
  place_[index(v)].reg = -1;
}

Registers::Choice Registers::choose(bool mask) {
  const std::uint32_t free = mask ? free_masks_ : free_vectors_;
  if (free != 0) return {static_cast<std::uint8_t>(std::countr_zero(free)), -1};
  const int first = mask ? 1 : 0, last = mask ? masks_ : vectors_ - 1;
  int worst = -1, furthest = -2;
  for (int r = first; r <= last; ++r) {
    const int v = mask ? mask_holds_[index(r)] : vector_holds_[index(r)];
    if (std::find(pinned_.begin(), pinned_.end(), v) != pinned_.end()) continue;
    const int next = next_use(v);
    if (next > furthest) {
      worst = r;
      furthest = next;
    }
  }
  const int v = mask ? mask_holds_[index(worst)] : vector_holds_[index(worst)];
  const bool kept = reread(v) || slot(v) >= 0 || furthest < 0;
  if (kept) release(v);
  return {static_cast<std::uint8_t>(worst), kept ? -1 : v};
}

}  // namespace shardax::codegen
