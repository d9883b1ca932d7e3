// codegen/scalar/register_bank_select.cpp - groups of integers and their gain from general
// registers.
#include "codegen/scalar/register_bank_select.h"

#include <algorithm>
#include <numeric>

#include "base/index.h"

namespace shardax::codegen {
namespace {

// Cycles, about, in turns of a loop ten times as many.
constexpr double to_lanes = 4, from_lanes = 2, decision = 2, as_index = 3;
constexpr int deepest = 6;

class Finder {
 public:
  explicit Finder(const ScalarProgram& program)
      : program_(program), nodes_(program.nodes), n_(index(program.nodes.size())) {}

  RegisterBanks run() {
    find_weights();
    find_uniform();
    can_be_.resize(n_);
    for (int i = 0; i < nodes_.size(); ++i) can_be_[index(i)] = can_be(i);
    unite();
    weigh();
    out_.general.assign(n_, false);
    for (int i = 0; i < nodes_.size(); ++i)
      out_.general[index(i)] = can_be_[index(i)] && gain_[index(group(i))] > 0;
    find_spread();
    find_flags();
    return std::move(out_);
  }

 private:
  const Node& node(int i) const { return nodes_.node(i); }
  int root(int i) const { return stored(nodes_, i); }
  bool is_constant(int i) const { return node(root(i)).code == Code::constant; }

  template <class F>
  void each_operand(int i, F&& f) const {
    for (const int in : node(i).in) {
      if (in >= 0) f(root(in));
    }
  }
  // Numbers that take the value of another, by loops and branches.
  template <class F>
  void each_move(F&& f) const {
    for (std::size_t e = 0; e < program_.events().size(); ++e) {
      const Event& event = program_.events()[e];
      for (const auto* moves : {&event.moves, &event.leaving}) {
        for (const Move& move : *moves) f(move.to, root(move.from), event_weights_[e]);
      }
    }
  }

  // The weights of nodes and events by frequency: ten times in each loop.
  void find_weights() {
    weights_.resize(n_);
    event_weights_.resize(program_.events().size());
    std::size_t e = 0;
    int depth = 0;
    const auto weight = [&] {
      double out = 1;
      for (int d = 0; d < std::min(depth, deepest); ++d) out *= 10;
      return out;
    };
    for (int i = 0; i <= nodes_.size(); ++i) {
      for (; e < program_.events().size() && program_.events()[e].before == i; ++e) {
        event_weights_[e] = weight();
        const Mark mark = program_.events()[e].mark;
        depth += mark == Mark::loop ? 1 : mark == Mark::again ? -1 : 0;
      }
      if (i < nodes_.size()) weights_[index(i)] = weight();
    }
  }

  // Is it the same in all lanes? A carry is uniform if its initial value and the values that it
  // becomes are.
  void find_uniform() {
    uniform_.assign(n_, true);
    bool changed = true;
    const auto follow = [&](int to, int from) {
      if (!uniform_[index(to)] || uniform_[index(from)]) return;
      uniform_[index(to)] = false;
      changed = true;
    };
    for (int i = 0; i < nodes_.size(); ++i) {
      const Access* access = program_.loaded(i);
      if (access && access->bytes == scalar_vector_bytes()) uniform_[index(i)] = false;
    }
    while (changed) {
      changed = false;
      for (int i = 0; i < nodes_.size(); ++i) each_operand(i, [&](int in) { follow(i, in); });
      each_move([&](int to, int from, double) { follow(to, from); });
    }
  }

  // Is there an instruction for it? Floats become integers in vectors, which say the same of NaN
  // for all widths.
  bool can_be(int i) const {
    const Node& n = node(i);
    const bool whole = is_integer(n.kind);
    if (!uniform_[index(i)] || !(whole || n.kind == Kind::truth)) return false;
    switch (n.code) {
      case Code::unique: {
        const Access* access = program_.loaded(i);
        return !access || (whole && access->bytes == width_of(n.kind));
      }
      case Code::bit_and:
      case Code::bit_or:
      case Code::bit_xor:
      case Code::select: return true;
      case Code::equal:
      case Code::less: return is_integer(node(n.in[0]).kind);
      case Code::convert: return whole && is_integer(node(n.in[0]).kind);
      case Code::max:
      case Code::min: return n.kind == Kind::i32;
      case Code::mul_high: return is_constant(n.in[1]);
      case Code::add:
      case Code::sub:
      case Code::mul:
      case Code::mul_words:
      case Code::shift_left:
      case Code::shift_right:
      case Code::shift_right_arithmetic:
      case Code::quotient:
      case Code::remainder: return whole;
      default: return false;
    }
  }

  // ---- groups ---------------------------------------------------------------------------------

  int group(int i) {
    while (parents_[index(i)] != i) {
      int& parent = parents_[index(i)];
      i = parent = parents_[index(parent)];
    }
    return i;
  }
  void unite(int a, int b) {
    if (can_be_[index(a)] && can_be_[index(b)]) parents_[index(group(a))] = group(b);
  }
  void unite() {
    parents_.resize(n_);
    std::iota(parents_.begin(), parents_.end(), 0);
    for (int i = 0; i < nodes_.size(); ++i) each_operand(i, [&](int in) { unite(i, in); });
    each_move([&](int to, int from, double) { unite(to, from); });
  }

  double gain_of(const Node& n) const {
    const bool wide = width_of(n.kind) == 8;
    switch (n.code) {
      case Code::mul: return wide ? 8 : 5;
      case Code::shift_right_arithmetic: return wide ? 6 : 0.25;
      case Code::mul_high:
      case Code::quotient:
      case Code::remainder: return 4;
      case Code::select: return 2;
      case Code::unique: return 0;
      default: return 0.25;
    }
  }

  void weigh() {
    gain_.assign(n_, 0);
    const auto gain = [&](int i, double cycles) {
      if (can_be_[index(i)]) gain_[index(group(i))] += cycles;
    };
    std::vector<bool> brought(n_);
    for (int i = 0; i < nodes_.size(); ++i) {
      const double weight = weights_[index(i)];
      gain(i, gain_of(node(i)) * weight);
      each_operand(i, [&](int in) {
        if (can_be_[index(i)]) {
          if (!can_be_[index(in)] && !is_constant(in)) gain(i, -from_lanes * weight);
        } else if (integer_to_float(nodes_, i)) {
          gain(in, (node(in).kind == Kind::i32 ? -2 : 1) * weight);
        } else if (!brought[index(in)] && node(i).code != Code::view) {
          brought[index(in)] = true;
          gain(in, -to_lanes * weights_[index(in)]);
        }
      });
      const Access* access = program_.loaded(i);
      if (access && access->index >= 0) gain(root(access->index), as_index * weight);
    }
    each_move([&](int to, int from, double weight) {
      if (is_constant(from) || can_be_[index(to)] == can_be_[index(from)]) return;
      gain(to, -from_lanes * weight);
      gain(from, -to_lanes * weight);
    });
    for (std::size_t e = 0; e < program_.events().size(); ++e) {
      const Event& event = program_.events()[e];
      if (event.mark == Mark::store) {
        const Access& access = program_.access(event.place);
        if (access.index >= 0) gain(root(access.index), as_index * event_weights_[e]);
      } else if (event.node >= 0) {
        gain(root(event.node), decision * event_weights_[e]);
      }
    }
  }

  // ---- where numbers are wanted ---------------------------------------------------------------

  void find_spread() {
    out_.spread.assign(n_, false);
    for (int i = 0; i < nodes_.size(); ++i) {
      if (out_.general[index(i)] || node(i).code == Code::view || integer_to_float(nodes_, i))
        continue;
      each_operand(i, [&](int in) {
        if (out_.general[index(in)]) out_.spread[index(in)] = true;
      });
    }
  }

  void find_flags() {
    constexpr int most_decisions = 2;
    out_.flags.assign(n_, false);
    std::vector<int> decisions(n_), others(n_);
    for (int i = 0; i < nodes_.size(); ++i) {
      if (node(i).code == Code::view) continue;
      const bool chooses = node(i).code == Code::select && out_.general[index(i)];
      int place = 0;
      for (const int in : node(i).in) {
        if (in >= 0) ++(chooses && place == 0 ? decisions : others)[index(root(in))];
        ++place;
      }
    }
    each_move([&](int, int from, double) { ++others[index(from)]; });
    for (const Event& event : program_.events()) {
      if (event.node >= 0)
        ++(event.mark == Mark::store ? others : decisions)[index(root(event.node))];
    }
    for (int i = 0; i < nodes_.size(); ++i) {
      const Code code = node(i).code;
      out_.flags[index(i)] = out_.general[index(i)] &&
                             (code == Code::equal || code == Code::less) && others[index(i)] == 0 &&
                             decisions[index(i)] <= most_decisions;
    }
  }

  const ScalarProgram& program_;
  const VectorProgram& nodes_;
  const std::size_t n_;
  RegisterBanks out_;
  std::vector<double> weights_, event_weights_;
  std::vector<bool> uniform_, can_be_;
  std::vector<int> parents_;
  std::vector<double> gain_;  // of groups
};

}  // namespace

int stored(const VectorProgram& nodes, int node) {
  while (nodes.node(node).code == Code::view) node = nodes.node(node).in[0];
  return node;
}

bool integer_to_float(const VectorProgram& nodes, int node) {
  const Node& n = nodes.node(node);
  return n.code == Code::convert && is_float(n.kind) && is_integer(nodes.node(n.in[0]).kind);
}

RegisterBanks select_register_banks(const ScalarProgram& program) { return Finder(program).run(); }

}  // namespace shardax::codegen
