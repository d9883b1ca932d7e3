// compile/lower/buffer_assignment.h - slots, windows and aliases of a plan's values.
#pragma once

#include <memory>
#include <unordered_set>

#include "base/index.h"
#include "compile/fusion/tile_groups.h"
#include "compile/lower/lower.h"

namespace shardax {

class BufferAssignment {
 public:
  BufferAssignment(const ProgramPtr& program, const std::vector<FusionGroup>& units,
                   const CompileOptions& options);

 protected:
  using Windows = std::vector<std::unique_ptr<Window>>;
  const Type& type(Var v) const { return program_.type(v); }
  const Window& window(Var v) const { return *windows_[index(v)]; }

  // ---- slots and windows
  int add_slot(Slot slot);
  // New row-major memory; whether it is a buffer of its own is decided at the end.
  Window fresh(const Type& t);
  void set(Var v, Window w);
  void place_inputs();

  // ---- what is known of memory
  bool is_result(Var v) const;
  bool is_carry(const Slot& slot) const;
  bool is_given(const Slot& slot) const;
  void overwrite(int slot);
  // Does a unit after this one, or the result, need what lies in the slot?
  bool used_later(int slot) const;
  // All the memory of its slot, in order?
  bool covers_slot(const Window& w) const;
  // Memory of this plan's own, or given to it, of which the window shows all.
  bool is_ours(const Window& w) const;
  // May the equation write its result over its first operand? Then nothing else needs that memory,
  // now or later.
  bool overwrites(const Equation& eqn) const;
  // The same for any operand.
  bool is_free(const Equation& eqn, std::size_t operand) const;

  // ---- steps, which use memory
  void use(const Window& w);
  void add_step(std::unique_ptr<Step> step);

  // May equation `n` of a loop leave its result `v` in the memory of that slot? The loop goes from
  // tile to tile, and within one from equation to equation. The slot's content must be read in the
  // same order, by this equation or earlier ones, and never afterwards.
  bool takes_over(const FusionGroup& unit, std::size_t n, Var v, int slot) const;
  // A donated input that the result `v` of the program can take over; -1: none.
  int given_memory(const FusionGroup& unit, std::size_t n, Var v) const;
  // The memory of the input that the result `v` of the program replaces; -1: none.
  int replaced_memory(const FusionGroup& unit, std::size_t n, Var v) const;
  // A temporary that is read here for the last time; -1: none.
  int dead_memory(const FusionGroup& unit, std::size_t n, Var v) const;
  // The memory for a result of a loop: new, or that of a donated input or a temporary without
  // further use.
  Window result_memory(const FusionGroup& unit, std::size_t n, Var v);
  // A donated input that a result of a row group can take over, none of `others`; -1: none.
  Var given_rows(const TileGroup& group, Var v, const std::vector<Var>& others) const;
  bool whole(const Window& w) const;
  // The other result of a loop's body that equals its result for carry `k`; -1: none.
  int stacked_as(std::size_t k) const;
  // Does result `i` lie where the carry that it replaces was?
  bool replaces_carry(std::size_t i, const Window& w) const;
  void claim_output(int slot, std::int64_t bytes);

  const Program& program_;
  const std::vector<FusionGroup>& units_;
  const CompileOptions& options_;
  Shared<Plan> plan_;
  Windows windows_;
  std::vector<const Window*> seen_;        // the same
  std::vector<bool> stored_;               // per variable
  std::vector<int> last_unit_;             // per variable
  std::unordered_set<Var> results_;        // of the program, and what views among them show
  int unit_ = -1;                          // the one being lowered
  LocationPtr location_;                   // of that one
  std::vector<std::pair<int, int>> uses_;  // per slot: first and last step
  std::vector<Vars> variables_;            // per slot: those that lie in it
  std::vector<int> step_units_;
};

}  // namespace shardax
