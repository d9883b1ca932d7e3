// codegen/scalar/function.cpp - loops, branches, and numbers that change places all at once.
#include "codegen/scalar/function.h"

#include <algorithm>

namespace shardax::codegen {

bool ScalarFunction::write_body() {
  for (const Item& item : schedule_.items) {
    if (item.event >= 0) {
      happen(item.event);
    } else if (item.spreads) {
      spread(item.node);
    } else if (place(item.node).none()) {
      continue;
    } else if (const Access* access = program_.loaded(item.node)) {
      load(item.node, *access);
    } else if (!compute(item.node)) {
      return false;
    }
  }
  return true;
}

void ScalarFunction::happen(int e) {
  const Event& event = program_.events()[index(e)];
  switch (event.mark) {
    case Mark::store: store(event.node, program_.access(event.place)); break;
    case Mark::call: call(program_.call_at(event.place)); break;
    case Mark::loop:
      move(event.moves);
      open_.push_back({here(), {}});
      break;
    case Mark::branch: open_.emplace_back(); [[fallthrough]];
    case Mark::test: open_.back().jumps.push_back(jump_unless(event.node)); break;
    case Mark::again:
      move(event.moves);
      turn_again(open_.back().head);
      close();
      move(event.leaving);
      break;
    case Mark::otherwise: {
      move(program_.events()[index(schedule_.partner[index(e)])].leaving);
      const std::size_t end = jump();
      close();
      open_.push_back({0, {end}});
      break;
    }
    case Mark::join:
      move(event.moves);
      close();
      break;
  }
}

void ScalarFunction::close() {
  for (const std::size_t jump : open_.back().jumps) land(jump);
  open_.pop_back();
}

// A number is read before its place is written.
void ScalarFunction::move(const std::vector<Move>& moves) {
  std::vector<Pending> pending;
  for (const Move& m : moves) {
    const Pending p{place(m.to), is_general(m.to), m.from};
    const bool there = p.to == place(m.from) && p.general == is_general(m.from);
    if (!p.to.none() && !there) pending.push_back(p);
  }
  const auto read = [&](const Pending& p, const Pending& other) {  // by another number
    return &other != &p && !other.aside && place(other.from) == p.to &&
           is_general(other.from) == p.general;
  };
  while (!pending.empty()) {
    const auto free = std::find_if(pending.begin(), pending.end(), [&](const Pending& p) {
      return std::none_of(pending.begin(), pending.end(),
                          [&](const Pending& other) { return read(p, other); });
    });
    if (free == pending.end()) {  // a cycle: one of its numbers steps aside
      step_aside(pending[0]);
      pending[0].aside = true;
      continue;
    }
    bring(*free);
    pending.erase(free);
  }
}

}  // namespace shardax::codegen
