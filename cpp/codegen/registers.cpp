// codegen/registers.cpp - uses of values, and the choice of the one that leaves.
#include "codegen/registers.h"

#include <algorithm>

namespace shardax::codegen {

Registers::Registers(const VectorProgram& program, int vectors, int masks)
    : program_(program), vectors_(vectors), masks_(masks) {
  vector_holds_.fill(-1);
  mask_holds_.fill(-1);
  find_uses();
}

int Registers::stored(int v) const {
  while (node(v).code == Code::view) v = node(v).in[0];
  return v;
}

// Positions at which each value is used, that of an output being the end; without dead nodes.
void Registers::find_uses() {
  const auto n = index(program_.size());
  uses_.resize(n);
  place_.resize(n);
  for (const Output& output : program_.outputs)
    uses_[index(stored(output.node))].push_back(program_.size());
  for (int i = program_.size(); i-- > 0;) {
    if (uses_[index(i)].empty()) continue;
    for (int in : node(i).in) {
      if (in >= 0) uses_[index(stored(in))].push_back(i);
    }
  }
}

// The next use after the current position, or -1.
int Registers::next_use(int v) const {
  const auto& uses = uses_[index(v)];
  const auto end =
      std::partition_point(uses.begin(), uses.end(), [&](int use) { return use > position_; });
  return end == uses.begin() ? -1 : *(end - 1);
}

void Registers::advance(int position) {
  position_ = position;
  pinned_.clear();
}

void Registers::give(int v, std::uint8_t reg) {
  (is_mask(v) ? mask_holds_[reg] : vector_holds_[reg]) = v;
  place_[index(v)].reg = reg;
}
void Registers::release(int v) {
  if (!in_place(v)) return;
  (is_mask(v) ? mask_holds_[number(v)] : vector_holds_[number(v)]) = -1;
  place_[index(v)].reg = -1;
}

Registers::Choice Registers::choose(bool mask) {
  const int first = mask ? 1 : 0, last = mask ? masks_ : vectors_ - 1;
  int worst = -1, furthest = -2;
  for (int r = first; r <= last; ++r) {
    const int v = mask ? mask_holds_[index(r)] : vector_holds_[index(r)];
    if (v < 0) return {static_cast<std::uint8_t>(r), -1};
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
