// compile/remat/remat_tiled_groups.cpp - copies of the equations that make a group's large results.
#include "compile/remat/remat_tiled_groups.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/index.h"
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
        for (int original : made.equations) {
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
    std::vector<int> equations;  // in program order
    std::vector<Var> results;
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
    Results made;
    RematSlice slice;
    std::int64_t bytes = 0;
    int first_user = static_cast<int>(program_.equations.size());
    std::int64_t largest = 0;
    for (int e : group.equations) {
      const Var v = program_.equations[index(e)].outputs[0];
      largest = std::max(largest, program_.type(v).size());
    }
    for (int e : group.equations) {
      const Var v = program_.equations[index(e)].outputs[0];
      int user = first_user;
      if (2 * program_.type(v).size() < largest || 2 * memory_of(v) < program_.type(v).bytes() ||
          !is_used_outside(v, g, user))
        continue;
      RematSlice more = slice;
      const auto source_of = [&](Var x) { return source_in_group(x, g); };
      if (!remat_.collect(v, source_of, SIZE_MAX, more)) continue;
      slice = std::move(more);
      made.results.push_back(v);
      bytes += program_.type(v).bytes();
      first_user = std::min(first_user, user);
    }
    if (bytes < tuning::remat_tiled_groups::least_freed) return;
    for (Var v : slice.reads) bytes -= tuning::remat_tiled_groups::least_ratio * memory_of(v);
    if (made.results.empty() || bytes < 0 ||
        slice.equations.size() > tuning::remat_tiled_groups::most_copies)
      return;
    made.equations = std::move(slice.equations);
    std::sort(made.equations.begin(), made.equations.end());
    before_.emplace(first_user, made_.size());
    made_.push_back(std::move(made));
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
  std::unordered_set<int> grouped;
  for (const TileGroup& group : groups)
    grouped.insert(group.equations.begin(), group.equations.end());
  const bool all = std::all_of(copies.begin(), copies.end(), [&](const auto& copy) {
    const Equation& eqn = again->equations[index(copy.first)];
    return eqn.op->view || grouped.count(copy.first) > 0;
  });
  return all ? GroupedProgram{again, std::move(groups)} : out;
}

}  // namespace shardax
