// compile/remat/remat_into_consumers.cpp - selection of cheap values and of the loops that
// recompute them.
#include "compile/remat/remat_into_consumers.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/index.h"
#include "base/lists.h"
#include "compile/lower/liveness.h"
#include "compile/tuning.h"
#include "ir/remat.h"
#include "runtime/interrupt.h"

namespace shardax {
namespace {

class Remaker {
 public:
  Remaker(const ProgramPtr& program, std::vector<FusionGroup> units,
          const std::vector<bool>& overwritten)
      : source_(program),
        units_(std::move(units)),
        loops_(units_.size()),
        remat_(*program),
        unit_of_(program->types.size(), -1),
        users_(program->types.size()),
        stored_(stored_variables(*program, units_)),
        is_overwritten_(program->types.size(), false),
        is_result_(program->types.size(), false) {
    for (std::size_t u = 0; u < units_.size(); ++u) {
      for (int e : units_[u].equations) {
        const Equation& eqn = equation(e);
        for (Var v : eqn.outputs) unit_of_[index(v)] = static_cast<int>(u);
        for (Var v : eqn.inputs) {
          std::vector<int>& users = users_[index(v)];
          if (users.empty() || users.back() != static_cast<int>(u))
            users.push_back(static_cast<int>(u));
        }
      }
    }
    for (std::size_t i = 0; i < program->inputs.size(); ++i)
      is_overwritten_[index(program->inputs[i])] = overwritten[i];
    for (Var v : program->outputs) is_result_[index(v)] = true;
  }

  FusedProgram run() {
    for (std::size_t u = 0; u < units_.size(); ++u) {
      runtime::poll_caller();
      if (!units_[u].loop) continue;
      for (int e : units_[u].equations) {
        if (equation(e).outputs.size() == 1) consider(e);
      }
    }
    if (!changed_) return {source_, std::move(units_)};
    for (std::size_t u = 0; u < units_.size(); ++u) arrange(u);
    drop_unused();
    number_equations();
    return {program_, std::move(units_)};
  }

 private:
  // The values that a loop recomputes, by variable.
  struct Loop {
    std::unordered_map<Var, int> equations;
    Renamed names;
    std::set<Var> reads;  // beside what its own equations read
  };

  const Program& program() const { return program_ ? *program_ : *source_; }
  const Equation& equation(int e) const { return program().equations[index(e)]; }
  const Type& type(Var v) const { return program().type(v); }

  void consider(int e) {
    const Var v = equation(e).outputs[0];
    const std::int64_t bytes = type(v).bytes();
    if (bytes < tuning::remat_into_consumers::least_made || !stored_[index(v)] ||
        is_result_[index(v)] || !remat_.maker_within(v, RematEffort::cheap))
      return;
    std::vector<std::pair<int, RematSlice>> attempts;
    std::int64_t moved = -bytes;  // less than now: it is not written
    for (int u : users_[index(v)]) {
      if (u == unit_of_[index(v)]) continue;
      const FusionGroup& unit = units_[index(u)];
      if (!unit.loop || unit.shape != type(v).shape) return;
      RematSlice slice;
      const auto source_of = [&](Var x) {
        return x == v ? RematSource::made : source_in_unit(x, u, bytes);
      };
      if (!remat_.collect(v, source_of, tuning::remat_into_consumers::most_equations, slice))
        return;
      const Loop& loop = loops_[index(u)];
      if (unit.equations.size() + loop.equations.size() + slice.equations.size() >
          tuning::remat_into_consumers::most_of_loop)
        return;
      for (Var x : slice.reads) moved += moved_by_read(x, u, bytes);
      moved -= bytes;
      attempts.emplace_back(u, std::move(slice));
    }
    if (moved >= 0) return;
    for (const auto& [u, slice] : attempts) apply(u, slice);
    stored_[index(v)] = false;
  }

  // The source of an operand in unit `u`, from which a value of `bytes` is recomputed.
  RematSource source_in_unit(Var v, int u, std::int64_t bytes) const {
    const Loop& loop = loops_[index(u)];
    if (loop.names.contains(v) || loop.reads.contains(v)) return RematSource::present;
    const int made_in = unit_of_[index(v)];
    const bool in_memory = made_in < 0 || !units_[index(made_in)].loop || stored_[index(v)];
    if (!in_memory)
      return remat_.maker_within(v, RematEffort::cheap) ? RematSource::made
                                                        : RematSource::out_of_reach;
    const bool costs = moved_by_read(v, u, bytes) > 0;
    return costs && is_overwritten_[index(v)] ? RematSource::out_of_reach : RematSource::read;
  }
  // Nothing where the unit reads it anyway, or where it is small or a broadcast of something small.
  std::int64_t moved_by_read(Var v, int u, std::int64_t bytes) const {
    const auto is_small = [&](Var x) {
      return x >= 0 && type(x).bytes() * tuning::remat_into_consumers::small_ratio <= bytes;
    };
    const bool free = has(users_[index(v)], u) || is_small(v) || is_small(remat_.viewed(v));
    return free ? 0 : type(v).bytes();
  }

  void apply(int u, const RematSlice& slice) {
    if (!program_) program_ = copy_of(*source_);
    changed_ = true;
    Loop& loop = loops_[index(u)];
    for (const int e : slice.equations) {
      const auto place = static_cast<int>(program_->equations.size());
      loop.equations.emplace(append_copy(*program_, equation(e), loop.names), place);
    }
    loop.reads.insert(slice.reads.begin(), slice.reads.end());
  }

  // Moves recomputed equations before their first use.
  void arrange(std::size_t u) {
    Loop& loop = loops_[u];
    if (loop.equations.empty()) return;
    std::vector<int> order;
    std::unordered_set<int> placed;
    const auto place = [&](const auto& self, int e) -> void {
      if (!placed.insert(e).second) return;
      for (Var v : equation(e).inputs) {
        if (const auto made = loop.equations.find(v); made != loop.equations.end())
          self(self, made->second);
      }
      order.push_back(e);
    };
    for (int e : units_[u].equations) {
      rename_inputs(program_->equations[index(e)], loop.names);
      place(place, e);
    }
    units_[u].equations = std::move(order);
  }

  // Equations whose results nobody reads any more.
  void drop_unused() {
    const std::vector<bool> stored = stored_variables(*program_, units_);
    for (FusionGroup& unit : units_) {
      if (!unit.loop) continue;
      std::unordered_set<Var> read;
      std::vector<int> kept;
      for (std::size_t i = unit.equations.size(); i-- > 0;) {
        const Equation& eqn = equation(unit.equations[i]);
        const bool needed = std::any_of(eqn.outputs.begin(), eqn.outputs.end(), [&](Var v) {
          return index(v) < stored.size() && (stored[index(v)] || read.count(v) > 0);
        });
        if (!needed && eqn.op->effect.empty()) continue;
        kept.push_back(unit.equations[i]);
        read.insert(eqn.inputs.begin(), eqn.inputs.end());
      }
      unit.equations.assign(kept.rbegin(), kept.rend());
    }
    std::erase_if(units_, [](const FusionGroup& unit) { return unit.equations.empty(); });
  }

  // The program's equations are those of the units, in their order.
  void number_equations() {
    std::vector<Equation> ordered;
    std::vector<int> position(program_->equations.size(), -1);
    for (const FusionGroup& unit : units_) {
      for (const int e : unit.equations) {
        position[index(e)] = static_cast<int>(ordered.size());
        ordered.push_back(std::move(program_->equations[index(e)]));
      }
    }
    const auto renumber = [&](std::vector<int>& equations) {
      for (int& e : equations) e = position[index(e)];
    };
    for (FusionGroup& unit : units_) {
      renumber(unit.equations);
      if (!unit.rows) continue;
      const auto rows = std::make_shared<TileGroup>(*unit.rows);
      renumber(rows->equations);
      unit.rows = rows;
    }
    program_->equations = std::move(ordered);
  }

  ProgramPtr source_;
  MutableProgram program_;  // once there is a change
  std::vector<FusionGroup> units_;
  std::vector<Loop> loops_;  // per unit
  Rematerializer remat_;
  std::vector<int> unit_of_;             // per variable: the unit that makes it, or -1
  std::vector<std::vector<int>> users_;  // per variable: units
  std::vector<bool> stored_, is_overwritten_, is_result_;
  bool changed_ = false;
};

}  // namespace

FusedProgram remat_into_consumers(const ProgramPtr& program, std::vector<FusionGroup> units,
                                  const std::vector<bool>& overwritten) {
  return Remaker(program, std::move(units), overwritten).run();
}

}  // namespace shardax
