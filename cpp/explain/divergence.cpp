// explain/divergence.cpp - walking back from results, from each equation to those it needs.
#include "explain/divergence.h"

#include <algorithm>
#include <deque>
#include <set>

#include "base/index.h"
#include "ops/collectives/collective.h"

namespace shardax {
namespace {

class Graph {
 public:
  Graph(const TaggedProgram& program, const AxisSet& axes)
      : sources_(program.sources), axes_(axes) {}

  const Source& at(int s) const { return sources_[index(s)]; }

  bool varies(const AxisSet& axes) const {
    return std::any_of(axes.begin(), axes.end(), [&](AxisName a) { return contains(axes_, a); });
  }
  bool varies(const Source& source) const {
    return std::any_of(source.out.begin(), source.out.end(),
                       [&](const AxisSet& axes) { return varies(axes); });
  }
  static bool is_elementwise(const Source& source) {
    return source.op->kind == Kind::elementwise || source.op->kind == Kind::layout ||
           source.op->regions != nullptr;
  }

  // Is operand k the argument, or made of it alone by elementwise work?
  bool comes_from(const Source& source, std::size_t k, int input) const {
    if (source.arguments[k] == input) return true;
    for (int s = source.needs[k]; s >= 0;) {
      const Source& before = at(s);
      if (!is_elementwise(before)) return false;
      int next = -1;
      for (std::size_t i = 0; i < before.arguments.size(); ++i) {
        if (before.arguments[i] == input) return true;
        if (before.needs[i] >= 0) next = before.needs[i];
      }
      s = next;
    }
    return false;
  }

  // Behind elementwise work, the equation that makes a value differ.
  int origin(int s) const {
    while (s >= 0 && is_elementwise(at(s))) {
      const Source& source = at(s);
      int next = -1;
      for (std::size_t k = 0; k < source.in.size(); ++k) {
        if (varies(source.in[k]) && source.needs[k] >= 0) next = source.needs[k];
      }
      if (next < 0) break;
      s = next;
    }
    return s;
  }

  // Visits the needs of `start`, nearest first, as long as `visit` says so.
  template <class Visit>
  void back(int start, Visit&& visit) const {
    std::deque<int> frontier{start};
    std::set<int> seen{start};
    while (!frontier.empty()) {
      const int s = frontier.front();
      frontier.pop_front();
      if (s < 0 || !visit(s)) continue;
      for (int need : at(s).needs) {
        if (seen.insert(need).second) frontier.push_back(need);
      }
    }
  }

  // The collective whose result a value is made of; -1: there is none.
  int collective_before(int start) const {
    int found = -1;
    back(start, [&](int s) {
      const Source& source = at(s);
      if (found >= 0 || varies(source)) return false;
      if (source.op->kind == Kind::collective && !ops::stays_local(*source.op)) found = s;
      return found < 0;
    });
    return found;
  }

 private:
  const std::vector<Source>& sources_;
  const AxisSet& axes_;
};

}  // namespace

Meeting where_it_diverges(const TaggedProgram& program, const Variation& found, std::size_t input,
                          std::size_t output) {
  const Graph graph(program, found.outputs[output].varying);
  Meeting out;
  graph.back(found.outputs[output].source, [&](int s) {
    const Source& source = graph.at(s);
    if (out.where >= 0 || !graph.varies(source) || !Graph::is_elementwise(source)) return false;
    for (std::size_t k = 0; k < source.in.size(); ++k) {
      if (graph.varies(source.in[k]) || !graph.comes_from(source, k, static_cast<int>(input)))
        continue;
      out.where = s;
      for (std::size_t i = 0; i < source.in.size(); ++i) {
        if (graph.varies(source.in[i])) out.other = graph.origin(source.needs[i]);
      }
      return false;
    }
    return true;
  });
  return out;
}

Meeting updated_alike(const TaggedProgram& program, const Variation& found, std::size_t input) {
  const Boundary& argument = found.inputs[input];
  const Graph graph(program, argument.varying);
  Meeting out;
  for (const Boundary& result : found.outputs) {
    if (!same_shape_and_dtype(result.device, argument.device)) continue;
    graph.back(result.source, [&](int s) {
      const Source& source = graph.at(s);
      if (out.where >= 0 || !graph.varies(source) || !Graph::is_elementwise(source)) return false;
      for (std::size_t k = 0; k < source.in.size(); ++k) {
        if (!graph.varies(source.in[k]) || !graph.comes_from(source, k, static_cast<int>(input)))
          continue;
        for (std::size_t i = 0; i < source.in.size(); ++i) {
          if (graph.varies(source.in[i])) continue;
          const int collective = graph.collective_before(source.needs[i]);
          if (collective >= 0) out = {s, collective};
        }
      }
      return out.where < 0;
    });
  }
  return out;
}

int drawn_apart(const TaggedProgram& program, const Variation& found, std::size_t output) {
  const Boundary& result = found.outputs[output];
  const Graph graph(program, result.varying);
  int drawn = -1;
  bool other = false;
  graph.back(result.source, [&](int s) {
    const Source& source = graph.at(s);
    if (!graph.varies(source)) return false;
    if (source.op && source.op->draws) {
      drawn = s;
      return false;
    }
    for (std::size_t k = 0; k < source.in.size(); ++k)
      other = other || (source.arguments[k] >= 0 && graph.varies(source.in[k]));
    return true;
  });
  return other ? -1 : drawn;
}

}  // namespace shardax
