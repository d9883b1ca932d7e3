// compile/fusion/tile_footprint.cpp - memory of a tile group for each leading index.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/index.h"
#include "compile/fusion/tile_groups.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

class RowMeasure {
 public:
  RowMeasure(const Program& program, TileGroup& group) : program_(program), group_(group) {
    for (std::int64_t n : group.rows) rows_ *= n;
  }

  void run() {
    for (std::size_t i = 0; i < group_.equations.size(); ++i) {
      find_uses(i);
      add_sum(i);
    }
    std::int64_t now = 0;
    std::unordered_set<Var> kept;
    const auto keep = [&](Var v) {
      if (last_.count(v) > 0 && kept.insert(v).second) now += bytes(v);
    };
    for (int e : group_.equations) {
      const Equation& eqn = program_.equations[index(e)];
      if (eqn.op->view) continue;
      for (Var v : eqn.inputs) keep(memory_of(v));
      // Loops write over their last reads.
      if (eqn.op->kind != Kind::elementwise) keep(eqn.outputs[0]);
      group_.tile_footprint = std::max(group_.tile_footprint, now);
      for (Var v : eqn.inputs) {
        const auto found = last_.find(memory_of(v));
        if (found != last_.end() && found->second == e && kept.erase(found->first) > 0)
          now -= bytes(found->first);
      }
      keep(eqn.outputs[0]);
      group_.tile_footprint = std::max(group_.tile_footprint, now);
    }
  }

 private:
  std::int64_t bytes(Var v) const { return program_.type(v).bytes() / rows_; }
  // The variable whose memory a view shows.
  Var memory_of(Var v) const {
    const auto found = viewed_.find(v);
    return found == viewed_.end() ? v : found->second;
  }

  // Notes the uses by equation i of values that cross from one loop to another, come from outside
  // or are a product's.
  void find_uses(std::size_t i) {
    const int e = group_.equations[i];
    const Equation& eqn = program_.equations[index(e)];
    const Var out = eqn.outputs[0];
    int level = 0;
    for (Var v : eqn.inputs) {
      if (const auto found = levels_.find(v); found != levels_.end())
        level = std::max(level, found->second);
    }
    const bool product = eqn.op == &core_ops().dot_general;
    const bool member = group_.maps[i].kept(group_.rows.size()) == group_.rows.size();
    if (member) levels_.emplace(out, level + (product || eqn.op->kind == Kind::reduction ? 1 : 0));
    if (eqn.op->view) {
      viewed_[out] = memory_of(eqn.inputs[0]);
      return;
    }
    group_.products = group_.products || product;
    for (std::size_t k = 0; k < eqn.inputs.size(); ++k) {
      const Var v = eqn.inputs[k], shown = memory_of(v);
      const auto made = levels_.find(v);
      const bool outside = made == levels_.end();
      if ((outside && !by_rows(group_.maps[i].operands[k])) || program_.type(shown).size() <= rows_)
        continue;
      if (const auto found = last_.find(shown); found != last_.end()) {
        found->second = e;
      } else if (outside || product || made->second < level) {
        last_.emplace(shown, e);
      }
    }
    if (product && member) last_.emplace(out, e);
  }
  void add_sum(std::size_t i) {
    if (group_.maps[i].kept(group_.rows.size()) == group_.rows.size()) return;
    const Equation& eqn = program_.equations[index(group_.equations[i])];
    std::int64_t bytes = program_.type(eqn.outputs[0]).bytes();
    for (std::size_t k = 0; k < group_.kept; ++k) bytes /= group_.rows[k];
    group_.sum_bytes += bytes;
  }
  bool by_rows(const TileDims& dims) const {
    for (std::size_t k = 0; k < group_.rows.size(); ++k) {
      if (dims[k] < 0) return false;
    }
    return true;
  }

  const Program& program_;
  TileGroup& group_;
  std::int64_t rows_ = 1;
  std::unordered_map<Var, int> levels_;  // by what the group makes: how many loops come before it
  std::unordered_map<Var, Var> viewed_;  // by view: the value that it shows
  std::unordered_map<Var, int> last_;    // by what is counted: the equation that uses it last
};

}  // namespace

void measure_footprint(const Program& program, TileGroup& group) {
  RowMeasure(program, group).run();
}

}  // namespace shardax
