// codegen/scalar/range_analysis.cpp - intervals of integers, from node to node.
#include "codegen/scalar/range_analysis.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "base/index.h"

namespace shardax::codegen {
namespace {

struct Interval {
  std::int64_t low, high;
  bool is(std::int64_t value) const { return low == value && high == value; }
};

// All that a number of the kind can be, and be said here: of u64 no more than int64 holds.
std::optional<Interval> all_of(Kind kind) {
  switch (kind) {
    case Kind::i32:
      return Interval{std::numeric_limits<std::int32_t>::min(),
                      std::numeric_limits<std::int32_t>::max()};
    case Kind::u32: return Interval{0, std::numeric_limits<std::uint32_t>::max()};
    case Kind::i64:
      return Interval{std::numeric_limits<std::int64_t>::min(),
                      std::numeric_limits<std::int64_t>::max()};
    case Kind::truth: return Interval{0, 1};
    default: return {};
  }
}

using Wide = __int128;

class Folding {
 public:
  explicit Folding(ScalarProgram& program)
      : program_(program),
        bounds_(index(program.nodes.size())),
        decided_(index(program.nodes.size())) {}

  void run() {
    for (const Event& e : program_.events()) {
      if (e.mark == Mark::test || e.mark == Mark::branch) decided_[index(e.node)] = true;
    }
    const auto& events = program_.events();
    std::size_t at = 0;
    for (int node = 0; node < program_.nodes.size(); ++node) {
      for (; at < events.size() && events[at].before == node; ++at) happen(at);
      // A carry has been given bounds where its loop starts.
      const auto all = all_of(this->node(node).kind);
      if (all && !bounds_[index(node)]) bounds_[index(node)] = known(node).value_or(*all);
      fold(node);
    }
  }

 private:
  const Node& node(int i) const { return program_.nodes.node(i); }
  std::optional<Interval> bounds(int i) const { return i < 0 ? std::nullopt : bounds_[index(i)]; }

  // The interval of a value, if its kind holds it without wrapping.
  static std::optional<Interval> in_kind(Kind kind, Wide low, Wide high) {
    const auto all = all_of(kind);
    if (!all || low < all->low || high > all->high) return {};
    return Interval{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
  }

  // ---- one node from its operands -------------------------------------------------------------

  std::optional<Interval> known(int i) const {
    const Node& n = program_.nodes.meaning(i);
    const auto a = bounds(n.in[0]), b = bounds(n.in[1]), c = bounds(n.in[2]);
    switch (n.code) {
      case Code::constant: {
        if (n.kind == Kind::truth) return Interval{n.bits != 0, n.bits != 0};
        const auto wide = static_cast<std::int64_t>(n.bits);
        const std::int64_t value = n.kind == Kind::i32   ? static_cast<std::int32_t>(n.bits)
                                   : n.kind == Kind::u32 ? static_cast<std::uint32_t>(n.bits)
                                                         : wide;
        return Interval{value, value};
      }
      case Code::select: {
        if (!a || !b || !c) return {};
        if (a->is(1)) return b;
        if (a->is(0)) return c;
        return Interval{std::min(b->low, c->low), std::max(b->high, c->high)};
      }
      case Code::view: {
        const bool alike = is_integer(node(n.in[0]).kind) || n.kind == node(n.in[0]).kind;
        return a && alike ? in_kind(n.kind, a->low, a->high) : std::nullopt;
      }
      case Code::convert:
        return a && is_integer(node(n.in[0]).kind) ? in_kind(n.kind, a->low, a->high)
                                                   : std::nullopt;
      default: break;
    }
    if (!a || !b) return {};
    const Wide al = a->low, ah = a->high, bl = b->low, bh = b->high;
    switch (n.code) {
      case Code::add: return in_kind(n.kind, al + bl, ah + bh);
      case Code::sub: return in_kind(n.kind, al - bh, ah - bl);
      case Code::mul: {
        const auto [low, high] = std::minmax({al * bl, al * bh, ah * bl, ah * bh});
        return in_kind(n.kind, low, high);
      }
      case Code::max: return Interval{std::max(a->low, b->low), std::max(a->high, b->high)};
      case Code::min: return Interval{std::min(a->low, b->low), std::min(a->high, b->high)};
      case Code::remainder: {
        if (bl != bh || bl == 0) return {};
        const Wide most = (bl < 0 ? -bl : bl) - 1;
        return in_kind(n.kind, al >= 0 ? 0 : std::max(al, -most), ah <= 0 ? 0 : std::min(ah, most));
      }
      case Code::quotient:
        return bl == bh && bl > 0 ? in_kind(n.kind, al / bl, ah / bl) : std::nullopt;
      case Code::less:
        if (ah < bl) return Interval{1, 1};
        if (al >= bh) return Interval{0, 0};
        return {};
      case Code::equal:
        if (a->low == a->high && b->is(a->low)) return Interval{1, 1};
        if (ah < bl || bh < al) return Interval{0, 0};
        return {};
      case Code::bit_and:
        if (n.kind == Kind::truth)
          return Interval{std::min(a->low, b->low), std::min(a->high, b->high)};
        return al >= 0 && bl >= 0 ? in_kind(n.kind, 0, std::min(ah, bh)) : std::nullopt;
      case Code::bit_or:
        if (n.kind != Kind::truth) return {};
        return Interval{std::max(a->low, b->low), std::max(a->high, b->high)};
      case Code::bit_xor: {
        const bool both = n.kind == Kind::truth && a->low == a->high && b->low == b->high;
        return both ? std::optional(Interval{a->low != b->low, a->low != b->low}) : std::nullopt;
      }
      default: return {};
    }
  }

  void fold(int i) {
    const Node n = node(i);
    if (n.code == Code::select) {
      const auto condition = bounds(n.in[0]);
      if (condition && condition->low == condition->high)
        program_.nodes.replace(i, {Code::view, n.kind, {n.in[condition->is(1) ? 1 : 2]}});
      return;
    }
    if ((n.code == Code::max || n.code == Code::min) && n.kind == Kind::i32)
      return fold_extreme(i, n);
    if (n.kind != Kind::truth || decided_[index(i)]) return;
    const Interval& own = *bounds_[index(i)];
    if (own.low == own.high && n.code != Code::constant && n.code != Code::view) {
      program_.nodes.replace(i, {Code::constant, n.kind, {}, own.is(1) ? ~std::uint64_t{0} : 0});
    } else if (n.code == Code::bit_and || n.code == Code::bit_or) {
      // The operand that decides, beside one that does not.
      for (const int k : {0, 1}) {
        const auto side = bounds(n.in[index(k)]);
        if (side && side->is(n.code == Code::bit_and ? 1 : 0))
          return program_.nodes.replace(i, {Code::view, n.kind, {n.in[index(1 - k)]}});
      }
    }
  }

  // One operand is never beyond the other.
  void fold_extreme(int i, const Node& n) {
    const auto a = bounds(n.in[0]), b = bounds(n.in[1]);
    if (!a || !b) return;
    const bool max = n.code == Code::max;
    if (max ? a->low >= b->high : a->high <= b->low)
      program_.nodes.replace(i, {Code::view, n.kind, {n.in[0]}});
    else if (max ? b->low >= a->high : b->high <= a->low)
      program_.nodes.replace(i, {Code::view, n.kind, {n.in[1]}});
  }

  // ---- counters -------------------------------------------------------------------------------

  void happen(std::size_t at) {
    const Event& e = program_.events()[at];
    if (e.mark == Mark::loop) enter(at);
    if (e.mark == Mark::test) within();
  }

  // The `again` and the `test` of the loop that starts at an event.
  std::pair<const Event*, const Event*> ends_of(std::size_t start) const {
    const auto& events = program_.events();
    int depth = 0;
    const Event* test = nullptr;
    for (std::size_t e = start + 1; e < events.size(); ++e) {
      if (events[e].mark == Mark::loop) ++depth;
      if (events[e].mark == Mark::test && depth == 0) test = &events[e];
      if (events[e].mark == Mark::again && depth-- == 0) return {&events[e], test};
    }
    return {nullptr, nullptr};
  }

  struct Counter {
    int carry;
    Interval start;
    std::int64_t step;
  };
  struct Loop {
    std::vector<Counter> counters = {};
    std::optional<Wide> turns = {};  // at most
  };
  // A carry that grows by the same constant in each turn.
  std::optional<Counter> counter_of(const Move& initial, const Event& again) const {
    const auto start = bounds(initial.from);
    if (!start || !is_integer(node(initial.to).kind)) return {};
    for (const Move& move : again.moves) {
      if (move.to != initial.to) continue;
      const Node& next = node(move.from);
      if (next.code != Code::add) return {};
      for (const int k : {0, 1}) {
        const Node& by = node(next.in[index(1 - k)]);
        if (next.in[index(k)] != initial.to || by.code != Code::constant) continue;
        const auto step = known(next.in[index(1 - k)]);
        if (step && step->low > 0) return Counter{initial.to, *start, step->low};
      }
    }
    return {};
  }

  // The interval of a counter from turn 0 to turn `turns`.
  std::optional<Interval> counted(const Counter& c, Wide turns) const {
    return in_kind(node(c.carry).kind, c.start.low, c.start.high + c.step * turns);
  }

  // Carries before the condition: counters have gone one turn further than the last one.
  void enter(std::size_t start) {
    const auto [again, test] = ends_of(start);
    Loop& loop = loops_.emplace_back();
    const Event& entry = program_.events()[start];
    if (again && test) {
      for (const Move& move : entry.moves) {
        if (const auto counter = counter_of(move, *again)) loop.counters.push_back(*counter);
      }
      loop.turns = turns_of(loop, node(test->node));
    }
    for (const Counter& c : loop.counters)
      if (loop.turns) bounds_[index(c.carry)] = counted(c, *loop.turns);
    for (const Move& move : entry.moves)
      if (!bounds_[index(move.to)]) bounds_[index(move.to)] = all_of(node(move.to).kind);
  }

  // The most turns, if the condition compares a counter with a number known before the loop.
  std::optional<Wide> turns_of(const Loop& loop, const Node& condition) const {
    if (condition.code != Code::less) return {};
    for (const Counter& c : loop.counters) {
      if (condition.in[0] != c.carry) continue;
      const Node& end = node(condition.in[1]);
      const auto limit =
          end.code == Code::constant ? known(condition.in[1]) : bounds(condition.in[1]);
      if (!limit) return {};
      return std::max<Wide>(0, (Wide{limit->high} - c.start.low + c.step - 1) / c.step);
    }
    return {};
  }

  // In the turn: the condition has held.
  void within() {
    const Loop& loop = loops_.back();
    for (const Counter& c : loop.counters) {
      if (!loop.turns || *loop.turns == 0) continue;
      if (const auto b = counted(c, *loop.turns - 1)) bounds_[index(c.carry)] = b;
    }
    loops_.pop_back();
  }

  ScalarProgram& program_;
  std::vector<std::optional<Interval>> bounds_;
  std::vector<bool> decided_;  // conditions of loops and branches
  std::vector<Loop> loops_;    // those whose condition is ahead
};

}  // namespace

void fold_ranges(ScalarProgram& program) { Folding(program).run(); }

}  // namespace shardax::codegen
