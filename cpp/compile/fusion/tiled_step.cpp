// compile/fusion/tiled_step.cpp - programs over blocks of rows, and the loop over blocks.
#include "compile/fusion/tiled_step.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "base/index.h"
#include "compile/lower/lower.h"
#include "compile/remat/remat_into_consumers.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "kernels/aligned_buffer.h"
#include "runtime/pool.h"

namespace shardax {
namespace {

using Memory = kernels::AlignedBuffer<std::byte>;

// Blocks take `size` indices of dimension `split` and all of the dimensions after it, for one index
// of each dimension before.
struct Blocks {
  std::size_t split = 0;
  std::int64_t size = 1;
  std::int64_t per_line = 1;  // blocks along `split`, the last of which may be shorter
  std::int64_t count = 1;
};

Blocks choose_blocks(const TileGroup& group) {
  const std::int64_t budget =
      group.products ? tuning::tiled_step::product_block_bytes : tuning::tiled_step::block_bytes;
  std::int64_t wanted =
      std::max<std::int64_t>(group.products ? tuning::tiled_step::least_product_rows : 1,
                             budget / std::max<std::int64_t>(1, group.tile_footprint));
  Blocks out;
  out.split = group.rows.size() - 1;
  // The rows that a sum has are run through one by one.
  const std::size_t first = group.kept;
  while (out.split > first && group.rows[out.split] <= wanted) {
    wanted /= group.rows[out.split];
    --out.split;
  }
  const std::int64_t rows = group.rows[out.split];
  out.size = std::min(rows, wanted);
  // Without a shorter block at the end, if that takes little.
  for (std::int64_t d = out.size; d > out.size * 3 / 4; --d) {
    if (rows % d == 0) {
      out.size = d;
      break;
    }
  }
  out.per_line = (rows + out.size - 1) / out.size;
  out.count = out.per_line;
  for (std::size_t k = 0; k < out.split; ++k) out.count *= group.rows[k];
  return out;
}

// An operand of the group, with the rows that its users need of it.
struct Operand {
  Var var;
  TileDims dims;
};

// The group's equations over a block of `size` rows along the split dimension.
class BlockProgram {
 public:
  BlockProgram(const Program& program, const TileGroup& group, const Blocks& blocks)
      : program_(program), group_(group), blocks_(blocks) {}

  // `first`: operands that come first.
  ProgramPtr make(const std::vector<Var>& results, std::int64_t size,
                  const std::vector<Operand>& first) {
    operands_.clear();
    inputs_.clear();
    made_.clear();
    out_ = MutableProgram(new Program);
    out_->name = program_.name;
    size_ = size;
    for (const Operand& o : first) operand(o.var, o.dims);
    for (std::size_t i = 0; i < group_.equations.size(); ++i)
      add(program_.equations[index(group_.equations[i])], group_.maps[i]);
    for (Var v : results) out_->outputs.push_back(made_.at(v));
    return out_;
  }
  const std::vector<Operand>& operands() const { return operands_; }

 private:
  std::int64_t rows_at(std::size_t k) const {
    return k < blocks_.split ? 1 : k == blocks_.split ? size_ : group_.rows[k];
  }

  Var operand(Var v, const TileDims& dims) {
    const auto [first, last] = inputs_.equal_range(v);
    for (auto it = first; it != last; ++it) {
      if (operands_[it->second].dims == dims) return out_->inputs[it->second];
    }
    inputs_.emplace(v, operands_.size());
    operands_.push_back({v, dims});
    const Type& type = program_.type(v);
    out_->inputs.push_back(out_->add(with_shape(type, part_of(type.shape, dims))));
    return out_->inputs.back();
  }

  void add(const Equation& eqn, const DimMap& map) {
    Equation made = eqn;
    for (std::size_t i = 0; i < eqn.inputs.size(); ++i) {
      const auto own = made_.find(eqn.inputs[i]);
      made.inputs[i] = own != made_.end() ? own->second : operand(eqn.inputs[i], map.operands[i]);
    }
    const Type& type = program_.type(eqn.outputs[0]);
    const Shape shape = part_of(type.shape, map.result);
    made.params = resized(*eqn.op, eqn.params, shape);
    made.outputs[0] = out_->add(with_shape(type, shape));
    made_[eqn.outputs[0]] = made.outputs[0];
    out_->equations.push_back(std::move(made));
  }
  Shape part_of(Shape shape, const TileDims& dims) const {
    for (std::size_t k = 0; k < group_.rows.size(); ++k) {
      if (dims[k] >= 0) shape[index(dims[k])] = rows_at(k);
    }
    return shape;
  }

  const Program& program_;
  const TileGroup& group_;
  const Blocks& blocks_;
  std::int64_t size_ = 1;
  MutableProgram out_;
  std::vector<Operand> operands_;
  std::unordered_multimap<Var, std::size_t> inputs_;
  std::unordered_map<Var, Var> made_;
};

// A window of which each block sees a part.
struct BlockedWindow {
  int slot = -1;
  std::int64_t start = 0;  // in bytes
  Shape steps;             // bytes from one index of each row dimension up to `split` to the next
};

// A result that is added up over the rows but the first `kept` dimensions of them.
struct RowSum {
  kernels::ReduceKernels kernels;
  std::size_t output;  // of the block's program
  std::int64_t count;
  BlockedWindow to;
  std::int64_t accumulator_bytes() const {
    return (count * itemsize(kernels.accumulator) + 63) / 64 * 64;
  }
};

// Blocks are dealt to parts. Sums over rows have an accumulator for each line of blocks that they
// add, or for each piece of a line if lines are few. A part takes whole pieces.
class RowStep final : public Step {
 public:
  RowStep(const TileGroup& group, const Blocks& blocks, PlanPtr block, PlanPtr tail,
          std::vector<BlockedWindow> in, std::vector<BlockedWindow> out, std::vector<RowSum> sums)
      : rows_(group.rows),
        blocks_(blocks),
        block_(std::move(block)),
        tail_(std::move(tail)),
        in_(std::move(in)),
        out_(std::move(out)),
        sums_(std::move(sums)) {
    for (const RowSum& sum : sums_) {
      sum_bytes_ += sum.accumulator_bytes();
      scratch_bytes_ += scratch_of(sum);
    }
    if (sums_.empty()) {
      pieces_ = blocks_.count;
    } else {
      for (std::size_t k = 0; k < group.kept; ++k) lines_ *= rows_[k];
      const std::int64_t most =
          std::max<std::int64_t>(1, tuning::tiled_step::part_bytes / (sum_bytes_ * lines_));
      pieces_ = std::clamp((tuning::tiled_step::sum_pieces + lines_ - 1) / lines_, std::int64_t{1},
                           std::min(most, blocks_.count / lines_));
    }
    parts_ = std::min(lines_ * pieces_, tuning::tiled_step::most_parts);
  }

  void run(std::byte* const* base) const override {
    const std::int64_t pieces = lines_ * pieces_;
    const Memory sums(pieces_ > 1 ? pieces * sum_bytes_ : 0);
    runtime::parallel_for(parts_, [&](std::int64_t part) {
      const Memory memory(arena_bytes() + scratch_bytes_ + sum_bytes_);
      const std::int64_t end = (part + 1) * pieces / parts_;
      for (std::int64_t piece = part * pieces / parts_; piece < end; ++piece) {
        std::byte* own = memory.data() + arena_bytes() + scratch_bytes_;
        run_piece(piece, base, memory.data(), shares() ? sums.data() + piece * sum_bytes_ : own);
        if (!shares()) finish(piece, own, base);
      }
    });
    for (std::int64_t line = 0; shares() && line < lines_; ++line) {
      std::byte* total = sums.data() + line * pieces_ * sum_bytes_;
      for (std::int64_t piece = 1; piece < pieces_; ++piece)
        merge(total, total + piece * sum_bytes_);
      finish(line, total, base);
    }
  }
  std::string text() const override {
    std::string out = concat("rows ", to_string(rows_), " in ", blocks_.count, " blocks, ",
                             arena_bytes(), " bytes each");
    for (const auto& step : block_->steps) out += "\n    " + step->text();
    return out;
  }
  double cost() const override { return static_cast<double>(blocks_.count) * block_->cost; }
  std::int64_t workspace() const override {
    return parts_ * (sum_bytes_ + scratch_bytes_ + block_->memory()) +
           (shares() ? lines_ * pieces_ * sum_bytes_ : 0);
  }

 private:
  std::int64_t arena_bytes() const {
    return tail_ ? std::max(block_->arena_bytes, tail_->arena_bytes) : block_->arena_bytes;
  }
  static std::int64_t scratch_of(const RowSum& sum) { return (sum.count * 16 + 63) / 64 * 64; }
  // Do several pieces add up one result?
  bool shares() const { return !sums_.empty() && pieces_ > 1; }

  void run_piece(std::int64_t piece, std::byte* const* base, std::byte* arena,
                 std::byte* totals) const {
    std::byte* scratch = arena + arena_bytes();
    std::vector<std::byte*> in(in_.size()), out(out_.size());
    std::byte* at = totals;
    for (const RowSum& sum : sums_) {
      sum.kernels.init(at, sum.count);
      at += sum.accumulator_bytes();
      out[sum.output] = scratch;
      scratch += scratch_of(sum);
    }
    const std::int64_t per_line = blocks_.count / lines_, first = piece / pieces_ * per_line;
    const std::int64_t end = first + (piece % pieces_ + 1) * per_line / pieces_;
    for (std::int64_t i = first + piece % pieces_ * per_line / pieces_; i < end; ++i) {
      for (std::size_t k = 0; k < in.size(); ++k) in[k] = address(in_[k], i, base);
      for (std::size_t k = 0; k < out.size(); ++k) {
        if (out_[k].slot >= 0) out[k] = address(out_[k], i, base);
      }
      const bool last = (i + 1) % blocks_.per_line == 0;
      (last && tail_ ? tail_ : block_)->run_raw(in.data(), out.data(), arena);
      at = totals;
      for (const RowSum& sum : sums_) {
        sum.kernels.zip(at, out[sum.output], sum.count, 1, 0);
        at += sum.accumulator_bytes();
      }
    }
  }
  void merge(std::byte* total, const std::byte* other) const {
    for (const RowSum& sum : sums_) {
      sum.kernels.merge(total, other, sum.count);
      total += sum.accumulator_bytes();
      other += sum.accumulator_bytes();
    }
  }
  void finish(std::int64_t line, const std::byte* total, std::byte* const* base) const {
    for (const RowSum& sum : sums_) {
      const std::int64_t first = line * (blocks_.count / lines_);
      sum.kernels.finish(address(sum.to, first, base), 1, total, sum.count);
      total += sum.accumulator_bytes();
    }
  }

  std::byte* address(const BlockedWindow& w, std::int64_t block, std::byte* const* base) const {
    std::int64_t at = w.start + block % blocks_.per_line * blocks_.size * w.steps[blocks_.split];
    std::int64_t rest = block / blocks_.per_line;
    for (std::size_t k = blocks_.split; k-- > 0;) {
      at += rest % rows_[k] * w.steps[k];
      rest /= rows_[k];
    }
    return base[w.slot] + at;
  }

  Shape rows_;
  Blocks blocks_;
  PlanPtr block_, tail_;                 // tail: of the last block of a line, where it is shorter
  std::vector<BlockedWindow> in_, out_;  // slot -1: a sum
  std::vector<RowSum> sums_;
  std::int64_t lines_ = 1, pieces_ = 1, parts_ = 1, sum_bytes_ = 0, scratch_bytes_ = 0;
};

BlockedWindow blocked(const Window& w, const TileDims& dims) {
  const std::int64_t width = itemsize(w.type.dtype);
  BlockedWindow out{w.slot, w.offset * width, {}};
  for (std::int32_t d : dims) out.steps.push_back(d < 0 ? 0 : w.strides[index(d)] * width);
  return out;
}

std::size_t maker_of(const Program& program, const TileGroup& group, Var result) {
  std::size_t n = 0;
  while (program.equations[index(group.equations[n])].outputs[0] != result) ++n;
  return n;
}

// The programs of a block and of the last one of a line, where that is shorter.
struct BlockPlans {
  PlanPtr block, tail;
  std::vector<Operand> operands;
};

BlockPlans plans_of(const Program& program, const TileGroup& group, const Blocks& blocks,
                    const std::vector<std::unique_ptr<Window>>& windows,
                    const std::vector<Var>& results, const std::vector<Operand>& given) {
  BlockProgram maker(program, group, blocks);
  const auto plan_of = [&](std::int64_t size) {
    const ProgramPtr made = maker.make(results, size, given);
    CompileOptions options;
    options.dense_outputs = true;
    options.carry = given.size();
    options.donated.assign(given.size(), true);
    for (const Operand& operand : maker.operands())
      options.input_strides.push_back(windows[index(operand.var)]->strides);
    std::vector<bool> overwritten(made->inputs.size(), false);
    std::fill_n(overwritten.begin(), given.size(), true);
    const FusedProgram fused = remat_into_consumers(made, fuse(*made), overwritten);
    return lower(fused.program, fused.units, options, made->output_types());
  };
  BlockPlans out{plan_of(blocks.size), {}, maker.operands()};
  const std::int64_t rest = group.rows[blocks.split] % blocks.size;
  if (rest > 0) out.tail = plan_of(rest);
  return out;
}

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
  const Blocks blocks = choose_blocks(group);
  // Results that take over memory come first, as do the operands that lie there.
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return taken[i] >= 0; });
  std::vector<Var> results;
  std::vector<Operand> given;
  for (std::size_t i : order) {
    results.push_back(wanted[i]);
    if (taken[i] >= 0)
      given.push_back({taken[i], group.maps[maker_of(program, group, wanted[i])].result});
  }
  BlockPlans plans = plans_of(program, group, blocks, windows, results, given);
  const auto in_place = [&](const PlanPtr& plan) {
    return !plan || std::all_of(plan->in_place.begin(),
                                plan->in_place.begin() + static_cast<std::ptrdiff_t>(given.size()),
                                [](bool b) { return b; });
  };
  if (!in_place(plans.block) || !in_place(plans.tail)) {
    given.clear();
    plans = plans_of(program, group, blocks, windows, results, given);
  }
  std::vector<Window> to;
  for (std::size_t i = 0; i < order.size(); ++i) to.push_back(place(order[i], i < given.size()));
  std::vector<BlockedWindow> in, out(results.size());
  for (const Operand& operand : plans.operands)
    in.push_back(blocked(*windows[index(operand.var)], operand.dims));

  std::vector<RowSum> sums;
  for (std::size_t i = 0; i < group.equations.size(); ++i) {
    const Equation& eqn = program.equations[index(group.equations[i])];
    const auto found = std::find(results.begin(), results.end(), eqn.outputs[0]);
    if (found == results.end()) continue;
    const auto k = index(found - results.begin());
    out[k] = blocked(to[k], group.maps[i].result);
    if (group.maps[i].kept(group.rows.size()) == group.rows.size()) continue;
    std::int64_t count = to[k].type.size();
    for (std::size_t d = 0; d < group.kept; ++d) count /= group.rows[d];
    const Op& op = eqn.op->kind == Kind::reduction ? *eqn.op : core_ops().reduce_sum;
    sums.push_back({op.reduce(to[k].type.dtype), k, count, out[k]});
    out[k].slot = -1;
  }
  return std::make_unique<RowStep>(group, blocks, plans.block, plans.tail, std::move(in),
                                   std::move(out), std::move(sums));
}

}  // namespace shardax
