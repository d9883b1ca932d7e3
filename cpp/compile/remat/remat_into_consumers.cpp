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
#include "ir/op.h"
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
        maker_(makers(*program)),
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
  // What a loop makes again, by the value that it is.
  struct Loop {
    std::unordered_map<Var, int> equations;
    std::unordered_map<Var, Var> names;
    std::unordered_set<Var> reads;  // beside what its own equations read
  };
  struct Attempt {
    std::vector<int> equations;  // in order
    std::unordered_set<Var> made, reads;
    std::int64_t bytes = 0;  // that are read
  };

  const Program& program() const { return program_ ? *program_ : *source_; }
  const Equation& equation(int e) const { return program().equations[index(e)]; }
  const Type& type(Var v) const { return program().type(v); }

  void consider(int e) {
    const Var v = equation(e).outputs[0];
    const std::int64_t bytes = type(v).bytes();
    if (bytes < tuning::remat_into_consumers::least_made || !stored_[index(v)] ||
        is_result_[index(v)] || !is_made_of(e))
      return;
    std::vector<std::pair<int, Attempt>> attempts;
    std::int64_t moved = -bytes;  // less than now: it is not written
    for (int u : users_[index(v)]) {
      if (u == unit_of_[index(v)]) continue;
      const FusionGroup& unit = units_[index(u)];
      if (!unit.loop || unit.shape != type(v).shape) return;
      Attempt attempt;
      if (!remake(e, u, bytes, attempt)) return;
      const Loop& loop = loops_[index(u)];
      if (unit.equations.size() + loop.equations.size() + attempt.equations.size() >
          tuning::remat_into_consumers::most_of_loop)
        return;
      moved += attempt.bytes - bytes;
      attempts.emplace_back(u, std::move(attempt));
    }
    if (moved >= 0) return;
    for (auto& [u, attempt] : attempts) apply(u, attempt);
    stored_[index(v)] = false;
  }
  bool is_made_of(int e) const {
    const Equation& eqn = equation(e);
    return eqn.op->cheap;
  }

  // The equation, and what it needs, in unit `u`.
  bool remake(int e, int u, std::int64_t bytes, Attempt& attempt) {
    if (attempt.equations.size() + attempt.made.size() >
        4 * tuning::remat_into_consumers::most_equations)
      return false;
    for (Var v : equation(e).inputs) {
      if (!find(v, u, bytes, attempt)) return false;
    }
    attempt.equations.push_back(e);
    attempt.made.insert(equation(e).outputs[0]);
    return attempt.equations.size() <= tuning::remat_into_consumers::most_equations;
  }
  bool find(Var v, int u, std::int64_t bytes, Attempt& attempt) {
    const Loop& loop = loops_[index(u)];
    if (loop.names.count(v) > 0 || loop.reads.count(v) > 0 || attempt.made.count(v) > 0 ||
        attempt.reads.count(v) > 0)
      return true;
    const int maker = unit_of_[index(v)];
    const bool in_memory = maker < 0 || !units_[index(maker)].loop || stored_[index(v)];
    if (in_memory) {
      const bool is_read = has(users_[index(v)], u);
      const bool is_small =
          type(v).bytes() * tuning::remat_into_consumers::small_ratio <= bytes || repeats(v, bytes);
      if (!is_read && !is_small && is_overwritten_[index(v)]) return false;
      if (!is_read && !is_small) attempt.bytes += type(v).bytes();
      attempt.reads.insert(v);
      return true;
    }
    const int e = maker_[index(v)];
    return is_made_of(e) && remake(e, u, bytes, attempt);
  }
  // A broadcast of something small.
  bool repeats(Var v, std::int64_t bytes) const {
    const int e = maker_[index(v)];
    return e >= 0 && equation(e).op->view && equation(e).inputs.size() == 1 &&
           type(equation(e).inputs[0]).bytes() * tuning::remat_into_consumers::small_ratio <= bytes;
  }

  void apply(int u, const Attempt& attempt) {
    if (!program_) program_ = copy_of(*source_);
    changed_ = true;
    Loop& loop = loops_[index(u)];
    for (int e : attempt.equations) {
      Equation eqn = equation(e);
      const Var v = eqn.outputs[0];
      for (Var& x : eqn.inputs) {
        if (const auto found = loop.names.find(x); found != loop.names.end()) x = found->second;
      }
      eqn.outputs[0] = program_->add(type(v));
      loop.names.emplace(v, eqn.outputs[0]);
      loop.equations.emplace(eqn.outputs[0], static_cast<int>(program_->equations.size()));
      program_->equations.push_back(std::move(eqn));
    }
    loop.reads.insert(attempt.reads.begin(), attempt.reads.end());
  }

  // What a loop makes again comes before its first use.
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
      for (Var& v : program_->equations[index(e)].inputs) {
        if (const auto found = loop.names.find(v); found != loop.names.end()) v = found->second;
      }
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
  std::vector<Loop> loops_;              // per unit
  std::vector<int> maker_, unit_of_;     // per variable: equation and unit that make it, or -1
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
