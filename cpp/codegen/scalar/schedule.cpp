// codegen/scalar/schedule.cpp - order, lives and places of numbers.
#include "codegen/scalar/schedule.h"

#include <algorithm>

#include "base/index.h"

namespace shardax::codegen {
namespace {

class Scheduler {
 public:
  Scheduler(const ScalarProgram& program, int vectors, int general)
      : program_(program), nodes_(program.nodes), registers_{vectors, general} {}

  Schedule run() {
    out_.homes = select_register_banks(program_);
    find_partners();
    find_needed();
    order();
    find_lives();
    allocate();
    return std::move(out_);
  }

 private:
  const Event& event(int e) const { return program_.events()[index(e)]; }
  int events() const { return static_cast<int>(program_.events().size()); }

  void find_partners() {
    out_.partner.assign(program_.events().size(), -1);
    std::vector<std::vector<int>> open;
    for (int e = 0; e < events(); ++e) {
      switch (event(e).mark) {
        case Mark::loop:
        case Mark::branch: open.push_back({e}); break;
        case Mark::test:
        case Mark::otherwise: open.back().push_back(e); break;
        case Mark::again:
        case Mark::join:
          for (const int inside : open.back()) out_.partner[index(inside)] = e;
          open.pop_back();
          break;
        case Mark::store:
        case Mark::call: break;
      }
    }
  }

  // Marks the values that are stored or decide, and their sources. A carry has its initial value
  // and the result of each turn as sources.
  void find_needed() {
    std::vector<std::vector<int>> made_of(index(nodes_.size()));
    std::vector<int> work;
    for (const Event& e : program_.events()) {
      for (const auto* moves : {&e.moves, &e.leaving}) {
        for (const Move& move : *moves) made_of[index(move.to)].push_back(move.from);
      }
      if (e.node >= 0) work.push_back(e.node);
      if (e.mark == Mark::store) work.push_back(program_.access(e.place).index);
    }
    needed_.assign(index(nodes_.size()), false);
    while (!work.empty()) {
      const int node = work.back();
      work.pop_back();
      if (node < 0 || needed_[index(node)]) continue;
      needed_[index(node)] = true;
      for (const int in : nodes_.node(node).in) work.push_back(in);
      for (const int in : made_of[index(node)]) work.push_back(in);
      if (const Access* access = program_.loaded(node)) work.push_back(access->index);
    }
  }

  // ---- order --------------------------------------------------------------------------------

  struct Region {
    bool loop;
    std::vector<Item> items;
  };

  // Places a node in the outermost loop that has all its operands, or outside of loops.
  void place(int node) {
    int depth = static_cast<int>(regions_.size()) - 1;
    const Access* access = program_.loaded(node);
    int least = access && access->changes ? depth : 0;
    for (const int in : nodes_.node(node).in) {
      if (in >= 0) least = std::max(least, depth_[index(in)]);
    }
    if (access && access->index >= 0) least = std::max(least, depth_[index(access->index)]);
    while (depth > least && regions_[index(depth)].loop) --depth;
    depth_[index(node)] = depth;
    if (out_.homes.flags[index(node)]) return;
    regions_[index(depth)].items.push_back({node, -1});
    spread(node, depth);
  }
  void spread(int node, int depth) {
    if (out_.homes.spread[index(node)]) regions_[index(depth)].items.push_back({node, -1, true});
  }

  void close() {
    std::vector<Item> inner = std::move(regions_.back().items);
    regions_.pop_back();
    auto& items = regions_.back().items;
    items.insert(items.end(), inner.begin(), inner.end());
  }

  void order() {
    depth_.assign(index(nodes_.size()), 0);
    regions_.push_back({false, {}});
    int e = 0;
    for (int node = 0; node <= nodes_.size(); ++node) {
      for (; e < events() && event(e).before == node; ++e) happen(e);
      if (node == nodes_.size() || !needed_[index(node)]) continue;
      const Code code = nodes_.node(node).code;
      if (code == Code::constant) continue;
      if (code == Code::view) {
        depth_[index(node)] = depth_[index(nodes_.node(node).in[0])];
      } else if (code == Code::unique && !program_.loaded(node)) {
        depth_[index(node)] = static_cast<int>(regions_.size()) - 1;
      } else {
        place(node);
      }
    }
    out_.items = std::move(regions_.back().items);
  }

  void happen(int e) {
    const Mark mark = event(e).mark;
    if (mark == Mark::again || mark == Mark::otherwise || mark == Mark::join) close();
    // Nodes that move out of a loop come before its event.
    if (mark == Mark::loop) regions_.push_back({true, {}});
    regions_.back().items.push_back({-1, e});
    const auto& made = mark == Mark::again ? event(e).leaving : event(e).moves;
    for (const Move& move : made) spread(move.to, static_cast<int>(regions_.size()) - 1);
    if (mark == Mark::branch || mark == Mark::otherwise) regions_.push_back({false, {}});
  }

  // ---- lives --------------------------------------------------------------------------------

  struct Life {
    int place, start, end;
    double weight;
    bool called;  // over a call
  };

  // The places of node v are v and, the second one, this.
  int second(int v) const { return nodes_.size() + v; }
  void define(int place, int at) { start_[index(place)] = at; }

  template <class F>
  void each_use(const Item& item, F&& use) const {
    // A number is read where it is computed or, by `lanes`, in a vector register.
    const auto held = [&](int node) {  // -1: it has no place
      const int v = node < 0 ? -1 : stored(nodes_, node);
      return v < 0 || nodes_.node(v).code == Code::constant ? -1 : v;
    };
    const auto number = [&](int node, bool lanes) {
      const int v = held(node);
      if (v < 0) return;
      if (!out_.homes.flags[index(v)])
        return use(lanes && out_.homes.general[index(v)] ? second(v) : v);
      for (const int in : nodes_.node(v).in) {
        if (const int operand = held(in); operand >= 0) use(operand);
      }
    };
    if (item.spreads) return number(item.node, false);
    if (item.node >= 0) {
      const bool lanes =
          !out_.homes.general[index(item.node)] && !integer_to_float(nodes_, item.node);
      for (const int in : nodes_.node(item.node).in) number(in, lanes);
      if (const Access* access = program_.loaded(item.node)) number(access->index, false);
      return;
    }
    const Event& e = event(item.event);
    const auto moved = [&](const std::vector<Move>& moves) {
      for (const Move& move : moves) {
        if (needed_[index(move.to)]) number(move.from, false);
      }
    };
    number(e.node, false);
    moved(e.moves);
    const int partner = out_.partner[index(item.event)];
    if (e.mark == Mark::test || e.mark == Mark::otherwise) moved(event(partner).leaving);
    if (e.mark == Mark::store) number(program_.access(e.place).index, false);
  }

  void find_lives() {
    const int n = static_cast<int>(out_.items.size());
    start_.assign(2 * index(nodes_.size()), -1);
    std::vector<std::pair<int, int>> loops;  // from the loop to `again`
    std::vector<int> place_of(program_.events().size(), -1), calls;
    for (int at = 0; at < n; ++at) {
      const Item& item = out_.items[index(at)];
      if (item.node >= 0) {
        define(item.spreads ? second(item.node) : item.node, at);
        continue;
      }
      const Event& e = event(item.event);
      place_of[index(item.event)] = at;
      if (e.mark == Mark::call) calls.push_back(at);
      if (e.mark == Mark::loop || e.mark == Mark::join) {
        for (const Move& move : e.moves) define(move.to, at);
      } else if (e.mark == Mark::again) {
        for (const Move& move : e.leaving) define(move.to, at);
      }
    }
    for (int e = 0; e < events(); ++e) {
      if (event(e).mark == Mark::loop)
        loops.push_back({place_of[index(e)], place_of[index(out_.partner[index(e)])]});
    }
    std::vector<int> end(start_.size(), -1);
    std::vector<double> weight(start_.size(), 0);
    double now = 1;
    for (int at = 0; at < n; ++at) {
      const Item& item = out_.items[index(at)];
      if (item.event >= 0 && event(item.event).mark == Mark::again) now /= 10;
      each_use(item, [&](int v) {
        weight[index(v)] += now;
        int last = at;
        for (const auto& [from, to] : loops) {
          if (start_[index(v)] < from && from < at && at <= to) last = std::max(last, to);
        }
        end[index(v)] = std::max(end[index(v)], last);
      });
      if (item.event >= 0 && event(item.event).mark == Mark::loop) now *= 10;
    }
    for (int v = 0; v < 2 * nodes_.size(); ++v) {
      const int from = start_[index(v)], to = end[index(v)];
      if (from < 0 || to < 0 || !needed_[index(v % nodes_.size())]) continue;
      const auto call = std::upper_bound(calls.begin(), calls.end(), from);
      const bool called = call != calls.end() && *call < to;
      lives_.push_back({v, from, to, weight[index(v)] / (to - from + 1), called});
    }
    std::stable_sort(lives_.begin(), lives_.end(),
                     [](const Life& a, const Life& b) { return a.start < b.start; });
  }

  // ---- places -------------------------------------------------------------------------------

  Place& place_of(const Life& life) {
    const std::size_t v = index(life.place), n = out_.places.size();
    return v < n ? out_.places[v] : out_.spread[v - n];
  }
  void to_memory(const Life& life) { place_of(life) = {-1, out_.slots++}; }

  void allocate() {
    out_.places.resize(index(nodes_.size()));
    out_.spread.resize(index(nodes_.size()));
    std::vector<const Life*> held[2];
    for (const int kind : {0, 1}) held[kind].resize(index(registers_[kind]), nullptr);
    for (const Life& life : lives_) {
      if (life.called) {
        to_memory(life);
        continue;
      }
      const bool general = life.place < nodes_.size() && out_.homes.general[index(life.place)];
      std::vector<const Life*>& holds = held[general ? 1 : 0];
      int found = -1, worst = -1;
      for (int r = 0; r < static_cast<int>(holds.size()); ++r) {
        const Life* in = holds[index(r)];
        if (in && in->end <= life.start) holds[index(r)] = in = nullptr;
        if (!in) {
          if (found < 0) found = r;
        } else if (worst < 0 || in->weight < holds[index(worst)]->weight) {
          worst = r;
        }
      }
      if (found < 0 && holds[index(worst)]->weight < life.weight) {
        to_memory(*holds[index(worst)]);
        found = worst;
      }
      if (found < 0) {
        to_memory(life);
      } else {
        holds[index(found)] = &life;
        place_of(life) = {found, -1};
      }
    }
  }

  const ScalarProgram& program_;
  const VectorProgram& nodes_;
  const int registers_[2];  // of vectors, general ones
  Schedule out_;
  std::vector<bool> needed_;
  std::vector<Region> regions_;
  std::vector<int> depth_;  // of regions, where each node is computed
  std::vector<int> start_;  // position in the order
  std::vector<Life> lives_;
};

}  // namespace

Schedule schedule(const ScalarProgram& program, int vectors, int general) {
  return Scheduler(program, vectors, general).run();
}

}  // namespace shardax::codegen
