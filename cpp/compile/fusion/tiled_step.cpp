// compile/fusion/tiled_step.cpp - the plans of blocks, and the memory that they use.
#include "compile/fusion/tiled_step.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/index.h"
#include "compile/fusion/block_loop.h"
#include "compile/fusion/masked_columns.h"
#include "compile/fusion/tile_blocks.h"
#include "compile/lower/lower.h"
#include "compile/remat/remat_into_consumers.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

std::size_t maker_of(const Program& program, const TileGroup& group, Var result) {
  std::size_t n = 0;
  while (program.equations[index(group.equations[n])].outputs[0] != result) ++n;
  return n;
}

// The numbers of columns that blocks have: as many as their rows need, or a few more.
std::vector<std::int64_t> widths_of(const MaskedColumns& columns, const Blocks& blocks) {
  std::vector<std::int64_t> out;
  constexpr std::int64_t many = tuning::masked_columns::widths;
  constexpr std::int64_t multiple = tuning::masked_columns::width_multiple;
  for (std::int64_t k = 1; k < many; ++k) {
    const std::int64_t width = (columns.count * k / many + multiple - 1) / multiple * multiple;
    const bool is_new = out.empty() || width > out.back();
    if (is_new && width < columns.count && width >= blocks.size + columns.offset)
      out.push_back(width);
  }
  out.push_back(columns.count);
  return out;
}

class LoopMaker {
 public:
  using Windows = std::vector<std::unique_ptr<Window>>;
  LoopMaker(const Program& program, const TileGroup& group, const Windows& windows,
            const std::vector<Var>& wanted, const std::vector<Var>& taken)
      : program_(program), group_(group), windows_(windows), blocks_(choose_blocks(group)) {
    // Results that take over memory come first, as do the operands that lie there.
    order_.resize(wanted.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_partition(order_.begin(), order_.end(),
                          [&](std::size_t i) { return taken[i] >= 0; });
    for (std::size_t i : order_) {
      results_.push_back(wanted[i]);
      if (taken[i] >= 0)
        given_.push_back({taken[i], group.maps[maker_of(program, group, wanted[i])].result});
    }
    wanted_ = results_.size();
  }

  std::unique_ptr<Step> run(FunctionRef<Window(std::size_t, bool)> place) {
    find_columns();
    make_plans();
    if (!in_place()) {
      given_.clear();
      make_plans();
    }
    loop_.rows = group_.rows;
    loop_.kept = group_.kept;
    loop_.blocks = blocks_;
    for (const BlockOperand& operand : operands_)
      loop_.in.push_back(operand.panels ? loop_.pack(window(operand.var), operand)
                                        : blocked(window(operand.var), operand.dims));
    place_results(place);
    for (const RowCondition& condition : columns_.conditions)
      loop_.conditions.push_back(block_condition(condition));
    for (const Var v : columns_.finite) loop_.finite.push_back(window(v));
    for (const Var v : columns_.bounded) loop_.bounded.push_back(window(v));
    return block_loop(std::move(loop_));
  }

 private:
  const Window& window(Var v) const { return *windows_[index(v)]; }

  void find_columns() {
    std::optional<MaskedColumns> masked = find_masked_columns(program_, group_, results_, blocks_);
    if (!masked) {
      columns_.dims = without_columns(program_, group_);
      return;
    }
    columns_ = std::move(*masked);
    loop_.offset = columns_.offset;
    given_.clear();  // a block that does not meet the conditions is computed again
    for (const RowCondition& condition : columns_.conditions) {
      if (!condition.outside && std::ranges::find(results_, condition.var) == results_.end())
        results_.push_back(condition.var);
    }
  }

  // The programs of a block with the first columns or all, and of the last one of a line, where
  // that is shorter.
  void make_plans() {
    loop_.plans.clear();
    for (const std::int64_t width : widths_of(columns_, blocks_))
      loop_.plans.push_back({width, plan_of(blocks_.size, width)});
    const std::int64_t rest = group_.rows[blocks_.split] % blocks_.size;
    loop_.tail = rest > 0 ? plan_of(rest, columns_.count) : nullptr;
  }
  PlanPtr plan_of(std::int64_t size, std::int64_t width) {
    BlockProgram maker(program_, group_, blocks_, columns_.dims);
    const ProgramPtr made = maker.make(results_, size, width, given_);
    operands_ = maker.operands();
    CompileOptions options;
    options.dense_outputs = true;
    options.carry = given_.size();
    options.donated.assign(given_.size(), true);
    for (const BlockOperand& operand : operands_)
      options.input_strides.push_back(strides_of(operand));
    std::vector<bool> overwritten(made->inputs.size(), false);
    std::fill_n(overwritten.begin(), given_.size(), true);
    const FusedProgram fused = remat_into_consumers(made, fuse(*made), overwritten);
    return lower(fused.program, fused.units, options, made->output_types());
  }
  Shape strides_of(const BlockOperand& operand) const {
    if (!operand.panels) return window(operand.var).strides;
    const std::int64_t rows = program_.type(operand.var).shape[index(operand.panels->rows)];
    return {rows * operand.panels->width, operand.panels->width, 1};
  }
  bool in_place() const {
    const auto all = [&](const PlanPtr& plan) {
      return !plan ||
             std::all_of(plan->in_place.begin(),
                         plan->in_place.begin() + static_cast<std::ptrdiff_t>(given_.size()),
                         [](bool b) { return b; });
    };
    return all(loop_.plans.back().plan) && all(loop_.tail);
  }

  void place_results(FunctionRef<Window(std::size_t, bool)> place) {
    std::vector<Window> to;
    for (std::size_t i = 0; i < wanted_; ++i) to.push_back(place(order_[i], i < given_.size()));
    loop_.out.resize(results_.size());
    for (std::size_t i = 0; i < group_.equations.size(); ++i) {
      const Equation& eqn = program_.equations[index(group_.equations[i])];
      const auto end = results_.begin() + static_cast<std::ptrdiff_t>(wanted_);
      const auto found = std::find(results_.begin(), end, eqn.outputs[0]);
      if (found == end) continue;
      const auto k = index(found - results_.begin());
      loop_.out[k] = blocked(to[k], group_.maps[i].result);
      if (group_.maps[i].kept(group_.rows.size()) == group_.rows.size()) continue;
      const Op& op = eqn.op->kind == Kind::reduction ? *eqn.op : core_ops().reduce_sum;
      loop_.sums.push_back(row_sum(op, k, loop_.out[k], to[k].type, columns_.dims[i].result));
      loop_.out[k].slot = -1;
    }
  }
  // A sum over rows of which each block adds a part.
  RowSum row_sum(const Op& op, std::size_t output, const BlockedWindow& to, const Type& type,
                 std::int32_t column) const {
    RowSum sum{op.reduce(type.dtype), output, type.size(), to, itemsize(type.dtype)};
    for (std::size_t d = 0; d < group_.kept; ++d) sum.count /= group_.rows[d];
    if (column == no_dim) return sum;
    sum.inner = 1;
    for (std::size_t d = index(column) + 1; d < type.rank(); ++d) sum.inner *= type.shape[d];
    sum.outer = sum.count / (sum.inner * type.shape[index(column)]);
    return sum;
  }

  BlockCondition block_condition(const RowCondition& from) const {
    const Type& whole = program_.type(from.var);
    BlockCondition out;
    out.type =
        with_shape(whole, rows_of_block(whole.shape, group_, blocks_, from.dims, blocks_.size));
    out.range = from.range;
    if (from.outside) {
      out.operand = blocked(window(from.var), from.dims);
      out.strides = window(from.var).strides;
    } else {
      out.output = index(std::ranges::find(results_, from.var) - results_.begin());
      out.strides = row_major_strides(out.type.shape);
    }
    return out;
  }

  const Program& program_;
  const TileGroup& group_;
  const Windows& windows_;
  Blocks blocks_;
  std::vector<std::size_t> order_;  // of results, by their place among those wanted
  std::vector<Var> results_;        // those wanted, then those that conditions look at
  std::size_t wanted_ = 0;
  std::vector<BlockOperand> given_;  // operands that results take over
  MaskedColumns columns_;
  std::vector<BlockOperand> operands_;
  BlockLoop loop_;
};

}  // namespace

bool may_take_over(const Program& program, const TileGroup& group, Var result, Var v) {
  const std::size_t n = maker_of(program, group, result);
  const TileDims& dims = group.maps[n].result;
  bool reads = std::find(dims.begin(), dims.end(), no_dim) == dims.end();
  for (std::size_t k = 0; reads && k < group.equations.size(); ++k) {
    const Equation& eqn = program.equations[index(group.equations[k])];
    for (std::size_t i = 0; i < eqn.inputs.size(); ++i) {
      if (eqn.inputs[i] != v) continue;
      reads =
          reads && k <= n && eqn.op->kind == Kind::elementwise && group.maps[k].operands[i] == dims;
    }
  }
  return reads;
}

std::unique_ptr<Step> row_step(const Program& program, const TileGroup& group,
                               const std::vector<std::unique_ptr<Window>>& windows,
                               const std::vector<Var>& wanted, const std::vector<Var>& taken,
                               FunctionRef<Window(std::size_t, bool)> place) {
  return LoopMaker(program, group, windows, wanted, taken).run(place);
}

}  // namespace shardax
