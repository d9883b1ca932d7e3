// compile/arena.cpp - the memory plan of temporaries.
#include "compile/arena.h"

#include <algorithm>

#include "runtime/interrupt.h"

namespace shardax {

void place_arena(Plan& plan, const std::vector<std::pair<int, int>>& uses) {
  struct Placed {
    int first, last;
    std::int64_t offset, end;
  };
  std::vector<Placed> placed;
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < plan.slots.size(); ++s) {
    if (plan.slots[s].kind == Slot::Kind::arena) order.push_back(s);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return plan.slots[a].bytes > plan.slots[b].bytes;
  });
  for (std::size_t s : order) {
    runtime::poll_caller();
    Slot& slot = plan.slots[s];
    const auto [first, last] = uses[s];
    std::vector<std::pair<std::int64_t, std::int64_t>> busy;
    for (const Placed& p : placed) {
      if (p.last >= first && p.first <= last) busy.emplace_back(p.offset, p.end);
    }
    std::sort(busy.begin(), busy.end());
    std::int64_t offset = 0;
    for (const auto& [from, to] : busy) {
      if (offset + slot.bytes <= from) break;
      offset = std::max(offset, to);
    }
    slot.offset = offset;
    const std::int64_t end = offset + (slot.bytes + 63) / 64 * 64;
    placed.push_back({first, last, offset, end});
    plan.arena_bytes = std::max(plan.arena_bytes, end);
  }
}

}  // namespace shardax
