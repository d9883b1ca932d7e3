// compile/remat/remat_tiled_groups.cpp - copies of the equations that make a group's large results.
#include "compile/remat/remat_tiled_groups.h"

#include <algorithm>
#include <unordered_map>

#include "base/index.h"
#include "compile/fusion/masked_columns.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "ir/remat.h"

namespace shardax {
namespace {

bool goes_by_rows(const Equation& eqn) {
  return eqn.op->kind == Kind::elementwise || eqn.op->kind == Kind::reduction || eqn.op->view ||
         eqn.op == &core_ops().dot_general;
}

class Recomputer {
 public:
  Recomputer(const Program& program, const std::vector<TileGroup>& groups)
      : program_(program),
        groups_(groups),
        remat_(program),
        group_of_(program.equations.size(), -1),
        users_(program.types.size()),
        is_result_(program.types.size(), false) {
    for (std::size_t e = 0; e < program.equations.size(); ++e) {
      for (Var v : program.equations[e].inputs) users_[index(v)].push_back(static_cast<int>(e));
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (int e : groups[g].equations) group_of_[index(e)] = static_cast<int>(g);
    }
    for (Var v : program.outputs) is_result_[index(v)] = true;
  }

  // The program with copies; null where there is nothing to copy. `copies`: which these are in it.
  MutableProgram run(Copies& copies) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].products) copy_results(static_cast<int>(g));
    }
    if (before_.empty()) return nullptr;
    MutableProgram out = copy_of(program_);
    out->equations.clear();
    std::vector<int> places(program_.equations.size());
    for (std::size_t e = 0; e < program_.equations.size(); ++e) {
      const auto [first, last] = before_.equal_range(static_cast<int>(e));
      for (auto it = first; it != last; ++it) {
        const Results& made = made_[it->second];
        Renamed renamed;
        for (int original : made.slice.equations) {
          copies.emplace(static_cast<int>(out->equations.size()), places[index(original)]);
          append_copy(*out, program_.equations[index(original)], renamed);
        }
        for (Var v : made.results) replaced_[v] = {renamed.at(v), group_of_maker(v)};
      }
      places[e] = static_cast<int>(out->equations.size());
      Equation eqn = program_.equations[e];
      for (Var& v : eqn.inputs) {
        const auto found = replaced_.find(v);
        if (found != replaced_.end() && found->second.second != group_of_[e])
          v = found->second.first;
      }
      out->equations.push_back(std::move(eqn));
    }
    return out;
  }

 private:
  struct Results {
    RematSlice slice;
    std::vector<Var> results;
    int first_user = 0;  // the copies stand before it
  };

  int group_of_maker(Var v) const {
    const int e = remat_.maker(v);
    return e < 0 ? -1 : group_of_[index(e)];
  }
  bool is_large(Var v, const TileGroup& group) const {
    std::int64_t rows = 1;
    for (std::int64_t n : group.rows) rows *= n;
    return program_.type(v).size() > rows;
  }

  void copy_results(int g) {
    const TileGroup& group = groups_[index(g)];
    std::int64_t largest = 0;
    for (int e : group.equations)
      largest = std::max(largest, program_.type(program_.equations[index(e)].outputs[0]).size());
    std::vector<Results> all;
    std::int64_t bytes = 0;
    for (int e : group.equations) {
      const Var v = program_.equations[index(e)].outputs[0];
      int user = static_cast<int>(program_.equations.size());
      if (2 * program_.type(v).size() < largest || 2 * memory_of(v) < program_.type(v).bytes() ||
          !is_used_outside(v, g, user))
        continue;
      if ((all.empty() || !extend(all.back(), v, user, g)) &&
          !extend(all.emplace_back(), v, user, g)) {
        all.pop_back();
        continue;
      }
      bytes += program_.type(v).bytes();
    }
    if (all.empty() || bytes < tuning::remat_tiled_groups::least_freed_masked ||
        (bytes < tuning::remat_tiled_groups::least_freed && !may_skip_columns(program_, group)))
      return;
    for (Results& made : all) {
      for (Var v : made.slice.reads)
        bytes -= tuning::remat_tiled_groups::least_ratio * memory_of(v);
      if (made.slice.equations.size() > tuning::remat_tiled_groups::most_copies) return;
      std::sort(made.slice.equations.begin(), made.slice.equations.end());
    }
    if (bytes < 0) return;
    for (Results& made : all) {
      before_.emplace(made.first_user, made_.size());
      made_.push_back(std::move(made));
    }
  }

  // Adds `v`, which `user` reads first, to the results of one place. The copies stand before the
  // first user of any of them, and all that they read must exist there.
  bool extend(Results& made, Var v, int user, int g) const {
    RematSlice slice = made.slice;
    const auto source_of = [&](Var x) { return source_in_group(x, g); };
    const int first = made.results.empty() ? user : std::min(made.first_user, user);
    if (!remat_.collect(v, source_of, SIZE_MAX, slice) ||
        std::any_of(slice.reads.begin(), slice.reads.end(),
                    [&](Var x) { return remat_.maker(x) >= first; }))
      return false;
    made.slice = std::move(slice);
    made.results.push_back(v);
    made.first_user = first;
    return true;
  }

  // Bytes that have to be kept for it.
  std::int64_t memory_of(Var v) const {
    std::int64_t least = program_.type(v).bytes();
    for (v = remat_.viewed(v); v >= 0; v = remat_.viewed(v))
      least = std::min(least, program_.type(v).bytes());
    return least;
  }

  // By equations that go by rows alone; `first`: the first of them.
  bool is_used_outside(Var v, int g, int& first) const {
    bool outside = false;
    if (is_result_[index(v)]) return false;
    for (int user : users_[index(v)]) {
      if (group_of_[index(user)] == g) continue;
      if (!goes_by_rows(program_.equations[index(user)])) return false;
      outside = true;
      first = std::min(first, user);
    }
    return outside;
  }

  // A large value of the group is recomputed from small ones and from values outside of it.
  RematSource source_in_group(Var v, int g) const {
    if (group_of_maker(v) != g || !is_large(v, groups_[index(g)])) return RematSource::read;
    const Equation& eqn = program_.equations[index(remat_.maker(v))];
    const bool again = eqn.op->kind != Kind::reduction && goes_by_rows(eqn);
    return again ? RematSource::made : RematSource::out_of_reach;
  }

  const Program& program_;
  const std::vector<TileGroup>& groups_;
  const Rematerializer remat_;
  std::vector<int> group_of_;
  std::vector<std::vector<int>> users_;
  std::vector<bool> is_result_;
  std::vector<Results> made_;
  std::unordered_multimap<int, std::size_t> before_;  // by equation: copies that stand before it
  std::unordered_map<Var, std::pair<Var, int>> replaced_;  // by copied result: its copy, its group
};

// Is each copy read by its group alone? Then none of them is in memory as a whole.
bool stay_in_groups(const Program& program, const std::vector<TileGroup>& groups,
                    const Copies& copies) {
  std::vector<int> group_of(program.equations.size(), -1);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const int e : groups[g].equations) group_of[index(e)] = static_cast<int>(g);
  }
  std::unordered_map<Var, int> copied;  // by copy, or view of one: its group
  for (std::size_t e = 0; e < program.equations.size(); ++e) {
    const Equation& eqn = program.equations[e];
    for (const Var v : eqn.inputs) {
      const auto found = copied.find(v);
      if (found == copied.end()) continue;
      if (eqn.op->view) {
        copied.emplace(eqn.outputs[0], found->second);
      } else if (found->second != group_of[e]) {
        return false;
      }
    }
    if (!copies.contains(static_cast<int>(e)) || eqn.op->view) continue;
    if (group_of[e] < 0) return false;
    copied.emplace(eqn.outputs[0], group_of[e]);
  }
  return true;
}

}  // namespace

GroupedProgram form_tile_groups(const ProgramPtr& program) {
  GroupedProgram out{program, find_tile_groups(*program)};
  const bool products = std::any_of(out.groups.begin(), out.groups.end(),
                                    [](const TileGroup& group) { return group.products; });
  if (!products) return out;
  Copies copies;
  const MutableProgram again = Recomputer(*program, out.groups).run(copies);
  if (!again) return out;
  std::vector<TileGroup> groups = find_tile_groups(*again, copies);
  return stay_in_groups(*again, groups, copies) ? GroupedProgram{again, std::move(groups)} : out;
}

}  // namespace shardax
