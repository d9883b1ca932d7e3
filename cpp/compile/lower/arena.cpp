// compile/lower/arena.cpp - the memory plan of temporaries.
#include "compile/lower/arena.h"

#include <algorithm>
#include <map>
#include <set>

#include "compile/tuning.h"
#include "runtime/interrupt.h"

namespace shardax {
namespace {

using Uses = std::vector<std::pair<int, int>>;

std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// The largest first, each at the lowest offset that is free while it is in use.
void place_by_size(Plan& plan, const Uses& uses, std::vector<std::size_t> order) {
  struct Placed {
    int first, last;
    std::int64_t offset, end;
  };
  std::vector<Placed> placed;
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
    const std::int64_t end = offset + rounded(slot.bytes);
    placed.push_back({first, last, offset, end});
    plan.arena_bytes = std::max(plan.arena_bytes, end);
  }
}

// Free memory between slots in use, by place and by size.
class Gaps {
 public:
  // The smallest gap that is large enough, at its start; else at the end of all.
  std::int64_t take(std::int64_t bytes) {
    const auto found = by_size_.lower_bound({bytes, 0});
    if (found == by_size_.end()) {
      // The last gap, if it reaches the end, is made larger.
      const auto last = by_place_.empty() ? by_place_.end() : std::prev(by_place_.end());
      const bool reaches = last != by_place_.end() && last->first + last->second == end_;
      const std::int64_t at = reaches ? last->first : end_;
      if (reaches) remove(last);
      end_ = at + bytes;
      return at;
    }
    const auto [size, at] = *found;
    remove(by_place_.find(at));
    if (size > bytes) add(at + bytes, size - bytes);
    return at;
  }
  void give(std::int64_t at, std::int64_t bytes) {
    auto next = by_place_.lower_bound(at);
    if (next != by_place_.end() && at + bytes == next->first) {
      bytes += next->second;
      next = remove(next);
    }
    if (next != by_place_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == at) {
        at = before->first;
        bytes += before->second;
        remove(before);
      }
    }
    add(at, bytes);
  }
  std::int64_t end() const { return end_; }

 private:
  using Places = std::map<std::int64_t, std::int64_t>;
  void add(std::int64_t at, std::int64_t bytes) {
    by_place_.emplace(at, bytes);
    by_size_.emplace(bytes, at);
  }
  Places::iterator remove(Places::iterator gap) {
    by_size_.erase({gap->second, gap->first});
    return by_place_.erase(gap);
  }

  Places by_place_;
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;
  std::int64_t end_ = 0;
};

void place_by_use(Plan& plan, const Uses& uses, std::vector<std::size_t> order) {
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return uses[a].first < uses[b].first; });
  Gaps gaps;
  std::multimap<int, std::size_t> in_use;  // by last use
  for (std::size_t s : order) {
    runtime::poll_caller();
    const auto [first, last] = uses[s];
    while (!in_use.empty() && in_use.begin()->first < first) {
      const Slot& done = plan.slots[in_use.begin()->second];
      gaps.give(done.offset, rounded(done.bytes));
      in_use.erase(in_use.begin());
    }
    Slot& slot = plan.slots[s];
    if (slot.bytes == 0) continue;
    slot.offset = gaps.take(rounded(slot.bytes));
    in_use.emplace(last, s);
  }
  plan.arena_bytes = std::max(plan.arena_bytes, gaps.end());
}

}  // namespace

void place_arena(Plan& plan, const Uses& uses) {
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < plan.slots.size(); ++s) {
    if (plan.slots[s].kind == Slot::Kind::arena) order.push_back(s);
  }
  order.size() <= tuning::arena::most_compared ? place_by_size(plan, uses, std::move(order))
                                               : place_by_use(plan, uses, std::move(order));
}

}  // namespace shardax
