// compile/fusion/block_loop.cpp - blocks on several threads, and their sums.
#include "compile/fusion/block_loop.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/index.h"
#include "compile/tuning.h"
#include "kernels/aligned_buffer.h"
#include "runtime/pool.h"

namespace shardax {
namespace {

using Memory = kernels::AlignedBuffer<std::byte>;

// Does test(run, count) hold for each run of elements? `shape` and `strides` from dimension d on.
template <class Test>
bool all_runs(const std::byte* at, std::int64_t width, const Shape& shape, const Shape& strides,
              std::size_t d, Test test) {
  if (d == shape.size()) return test(at, 1);
  if (d + 1 == shape.size() && (strides[d] == 1 || shape[d] == 1)) return test(at, shape[d]);
  const std::int64_t count = strides[d] == 0 ? std::min<std::int64_t>(shape[d], 1) : shape[d];
  for (std::int64_t i = 0; i < count; ++i) {
    if (!all_runs(at + i * strides[d] * width, width, shape, strides, d + 1, test)) return false;
  }
  return true;
}

// The elements of a window in the order of memory, as pieces that threads take.
class Elements {
 public:
  Elements(const Window& w, const std::byte* base)
      : dtype_(w.type.dtype), at_(base + w.offset * itemsize(w.type.dtype)) {
    for (std::size_t d = 0; d < w.type.shape.size(); ++d) {
      const std::int64_t size = w.type.shape[d], stride = w.strides[d];
      empty_ = empty_ || size == 0;
      if (size > 1 && stride != 0) dims_.push_back({size, stride});
    }
    std::ranges::sort(
        dims_, [](const Dim& a, const Dim& b) { return std::abs(a.stride) > std::abs(b.stride); });
    // Dimensions that follow each other in memory are one.
    for (std::size_t d = dims_.size(); d-- > 1;) {
      if (dims_[d - 1].stride != dims_[d].stride * dims_[d].size) continue;
      dims_[d - 1] = {dims_[d - 1].size * dims_[d].size, dims_[d].stride};
      dims_.erase(dims_.begin() + static_cast<std::ptrdiff_t>(d));
    }
    if (dims_.empty() || dims_.back().stride != 1) dims_.push_back({1, 1});
    std::int64_t inner = 1;
    for (std::size_t d = 1; d < dims_.size(); ++d) inner *= dims_[d].size;
    each_ = std::max<std::int64_t>(1, most / inner);
  }

  std::int64_t pieces() const { return empty_ ? 0 : (dims_[0].size + each_ - 1) / each_; }
  // Are all elements of a piece smaller than the limit? Without one: finite.
  bool are_within(std::int64_t piece, double limit) const {
    const std::int64_t first = piece * each_;
    return holds(at_ + first * dims_[0].stride * width(), std::min(each_, dims_[0].size - first), 0,
                 limit);
  }

 private:
  static constexpr std::int64_t most = 1 << 16;  // elements of a piece of several indices
  struct Dim {
    std::int64_t size, stride;
  };
  std::int64_t width() const { return itemsize(dtype_); }
  // Of `count` indices of dimension d.
  bool holds(const std::byte* at, std::int64_t count, std::size_t d, double limit) const {
    if (d + 1 == dims_.size()) return test(at, count, limit);
    for (std::int64_t i = 0; i < count; ++i) {
      if (!holds(at + i * dims_[d].stride * width(), dims_[d + 1].size, d + 1, limit)) return false;
    }
    return true;
  }
  bool test(const std::byte* run, std::int64_t n, double limit) const {
    return std::isfinite(limit) ? kernels::all_within(dtype_, run, n, {-limit, limit, false})
                                : kernels::all_finite(dtype_, run, n);
  }

  DType dtype_;
  const std::byte* at_;
  std::vector<Dim> dims_;  // the last one of stride 1
  std::int64_t each_ = 1;  // indices of the first one in a piece
  bool empty_ = false;
};

class BlockLoopStep final : public Step {
 public:
  explicit BlockLoopStep(BlockLoop loop) : loop_(std::move(loop)) {
    for (const RowSum& sum : loop_.sums) {
      sum_bytes_ += sum.accumulator_bytes();
      scratch_bytes_ += sum.scratch_bytes();
    }
    for (const BlockCondition& condition : loop_.conditions)
      scratch_bytes_ += condition.scratch_bytes();
    const std::int64_t count = loop_.blocks.count;
    if (loop_.sums.empty()) {
      pieces_ = count;
    } else {
      for (std::size_t k = 0; k < loop_.kept; ++k) lines_ *= loop_.rows[k];
      const std::int64_t most =
          std::max<std::int64_t>(1, tuning::tiled_step::part_bytes / (sum_bytes_ * lines_));
      pieces_ = std::clamp((tuning::tiled_step::sum_pieces + lines_ - 1) / lines_, std::int64_t{1},
                           std::min(most, count / lines_));
    }
    parts_ = std::min(lines_ * pieces_, tuning::tiled_step::most_parts);
  }

  void run(std::byte* const* base) const override {
    const std::int64_t pieces = lines_ * pieces_;
    const Memory sums(pieces_ > 1 ? pieces * sum_bytes_ : 0);
    const bool skips = loop_.plans.size() > 1 && operands_are_finite(base);
    const Memory packed(loop_.packed_bytes);
    pack_operands(base, packed.data());
    const Run now{base, packed.data(), skips};
    runtime::parallel_for(parts_, [&](std::int64_t part) {
      const Memory memory(arena_bytes() + scratch_bytes_ + sum_bytes_);
      const std::int64_t end = (part + 1) * pieces / parts_;
      for (std::int64_t piece = part * pieces / parts_; piece < end; ++piece) {
        std::byte* own = memory.data() + arena_bytes() + scratch_bytes_;
        run_piece(piece, now, memory.data(), shares() ? sums.data() + piece * sum_bytes_ : own);
        if (!shares()) finish(piece, own, now);
      }
    });
    for (std::int64_t line = 0; shares() && line < lines_; ++line) {
      std::byte* total = sums.data() + line * pieces_ * sum_bytes_;
      for (std::int64_t piece = 1; piece < pieces_; ++piece)
        merge(total, total + piece * sum_bytes_);
      finish(line, total, now);
    }
  }
  std::string text() const override {
    std::string out = concat("rows ", to_string(loop_.rows), " in ", loop_.blocks.count,
                             " blocks, ", arena_bytes(), " bytes each");
    if (loop_.plans.size() > 1)
      out += concat(", without columns after the row's index + ", loop_.offset);
    for (const auto& step : whole().steps) out += "\n    " + step->text();
    return out;
  }
  double cost() const override {
    double all = 0;
    for (const BlockPlan& own : loop_.plans) all += own.plan->cost;
    return static_cast<double>(loop_.blocks.count) * all / static_cast<double>(loop_.plans.size());
  }
  std::int64_t workspace() const override {
    return loop_.packed_bytes + parts_ * (sum_bytes_ + scratch_bytes_ + whole().memory()) +
           (shares() ? lines_ * pieces_ * sum_bytes_ : 0);
  }

 private:
  // The things that all blocks of a run share.
  struct Run {
    std::byte* const* base;
    std::byte* packed;
    bool skips;  // columns that are masked
  };

  // The program with all columns; none needs more memory.
  const Plan& whole() const { return *loop_.plans.back().plan; }
  std::int64_t all_columns() const { return loop_.plans.back().columns; }
  std::int64_t arena_bytes() const {
    std::int64_t most = loop_.tail ? loop_.tail->arena_bytes : 0;
    for (const BlockPlan& own : loop_.plans) most = std::max(most, own.plan->arena_bytes);
    return most;
  }
  // Do several pieces add up one result?
  bool shares() const { return !loop_.sums.empty() && pieces_ > 1; }

  void pack_operands(std::byte* const* base, std::byte* to) const {
    for (const BlockLoop::Packed& own : loop_.packed) {
      const Memory arena(own.packing.plan->arena_bytes);
      const std::byte* in = base[own.from.slot] + own.from.offset * itemsize(own.from.type.dtype);
      std::byte* out = to + own.start;
      own.packing.plan->run_raw(&in, &out, arena.data());
    }
  }
  bool operands_are_finite(std::byte* const* base) const {
    struct Checked {
      Elements elements;
      double limit;
      std::int64_t first;  // of the pieces of all
    };
    std::vector<Checked> all;
    std::int64_t pieces = 0;
    const auto add = [&](const std::vector<Window>& windows, double limit) {
      for (const Window& w : windows) {
        all.push_back({Elements(w, base[w.slot]), limit, pieces});
        pieces += all.back().elements.pieces();
      }
    };
    add(loop_.finite, std::numeric_limits<double>::infinity());
    add(loop_.bounded, largest_bounded);
    std::atomic<bool> finite = true;
    runtime::parallel_for(pieces, [&](std::int64_t i) {
      if (!finite) return;
      const auto after = std::ranges::upper_bound(all, i, {}, &Checked::first);
      const Checked& own = *std::prev(after);
      if (!own.elements.are_within(i - own.first, own.limit)) finite = false;
    });
    return finite;
  }

  void run_piece(std::int64_t piece, const Run& run, std::byte* arena, std::byte* totals) const {
    std::byte* scratch = arena + arena_bytes();
    std::vector<std::byte*> in(loop_.in.size()), out(loop_.out.size());
    std::byte* at = totals;
    for (const RowSum& sum : loop_.sums) {
      sum.kernels.init(at, sum.count);
      at += sum.accumulator_bytes();
      out[sum.output] = scratch;
      scratch += sum.scratch_bytes();
    }
    for (const BlockCondition& condition : loop_.conditions) {
      if (condition.output && loop_.out[*condition.output].slot < 0)
        out[*condition.output] = scratch;
      scratch += condition.scratch_bytes();
    }
    const std::int64_t per_line = loop_.blocks.count / lines_, first = piece / pieces_ * per_line;
    const std::int64_t end = first + (piece % pieces_ + 1) * per_line / pieces_;
    for (std::int64_t i = first + piece % pieces_ * per_line / pieces_; i < end; ++i) {
      for (std::size_t k = 0; k < in.size(); ++k) in[k] = address(loop_.in[k], i, run);
      for (std::size_t k = 0; k < out.size(); ++k) {
        if (loop_.out[k].slot >= 0) out[k] = address(loop_.out[k], i, run);
      }
      const std::int64_t columns = run_block(i, in, out, arena, run);
      at = totals;
      for (const RowSum& sum : loop_.sums) {
        sum.add(at, out[sum.output], columns, all_columns());
        at += sum.accumulator_bytes();
      }
    }
  }

  // Returns the number of columns that it had.
  std::int64_t run_block(std::int64_t i, const std::vector<std::byte*>& in,
                         const std::vector<std::byte*>& out, std::byte* arena,
                         const Run& run) const {
    const bool last = (i + 1) % loop_.blocks.per_line == 0;
    if (last && loop_.tail) {
      loop_.tail->run_raw(in.data(), out.data(), arena);
      return all_columns();
    }
    const BlockPlan* own = &loop_.plans.back();
    if (run.skips && hold(i, false, out, run)) {
      const std::int64_t end = (i % loop_.blocks.per_line + 1) * loop_.blocks.size;
      own = &*std::ranges::find_if(loop_.plans, [&](const BlockPlan& p) {
        return p.columns >= std::min(end + loop_.offset, all_columns());
      });
    }
    own->plan->run_raw(in.data(), out.data(), arena);
    if (own->columns == all_columns() || hold(i, true, out, run)) return own->columns;
    loop_.plans.back().plan->run_raw(in.data(), out.data(), arena);
    return all_columns();
  }
  // The conditions on results of a block, or those on operands.
  bool hold(std::int64_t i, bool results, const std::vector<std::byte*>& out,
            const Run& run) const {
    return std::ranges::all_of(loop_.conditions, [&](const BlockCondition& c) {
      if (c.output.has_value() != results) return true;
      return c.holds(results ? out[*c.output] : address(c.operand, i, run));
    });
  }

  void merge(std::byte* total, const std::byte* other) const {
    for (const RowSum& sum : loop_.sums) {
      sum.kernels.merge(total, other, sum.count);
      total += sum.accumulator_bytes();
      other += sum.accumulator_bytes();
    }
  }
  void finish(std::int64_t line, const std::byte* total, const Run& run) const {
    for (const RowSum& sum : loop_.sums) {
      const std::int64_t first = line * (loop_.blocks.count / lines_);
      sum.kernels.finish(address(sum.to, first, run), 1, total, sum.count);
      total += sum.accumulator_bytes();
    }
  }

  std::byte* address(const BlockedWindow& w, std::int64_t block, const Run& run) const {
    const Blocks& blocks = loop_.blocks;
    std::int64_t at = w.start + block % blocks.per_line * blocks.size * w.steps[blocks.split];
    std::int64_t rest = block / blocks.per_line;
    for (std::size_t k = blocks.split; k-- > 0;) {
      at += rest % loop_.rows[k] * w.steps[k];
      rest /= loop_.rows[k];
    }
    return (w.packed ? run.packed : run.base[w.slot]) + at;
  }

  BlockLoop loop_;
  std::int64_t lines_ = 1, pieces_ = 1, parts_ = 1, sum_bytes_ = 0, scratch_bytes_ = 0;
};

}  // namespace

BlockedWindow blocked(const Window& w, const TileDims& dims) {
  const std::int64_t width = itemsize(w.type.dtype);
  BlockedWindow out{.slot = w.slot, .start = w.offset * width, .steps = {}};
  for (std::int32_t d : dims) out.steps.push_back(d < 0 ? 0 : w.strides[index(d)] * width);
  return out;
}

BlockedWindow BlockLoop::pack(const Window& w, const BlockOperand& operand) {
  BlockedWindow out{.packed = true, .start = packed_bytes, .steps = {}};
  packed.push_back({w, packing(w.type, w.strides, blocks, operand), packed_bytes});
  const Packing& own = packed.back().packing;
  for (const std::int64_t step : own.steps) out.steps.push_back(step * itemsize(w.type.dtype));
  packed_bytes += (own.bytes + 63) / 64 * 64;
  return out;
}

void RowSum::add(std::byte* total, const std::byte* block, std::int64_t columns,
                 std::int64_t all) const {
  if (inner == 0 || columns == all) return kernels.zip(total, block, count, 1, 0);
  const std::int64_t n = columns * inner;
  for (std::int64_t i = 0; i < outer; ++i)
    kernels.zip(total + i * all * inner * itemsize(kernels.accumulator), block + i * n * width, n,
                1, 0);
}

bool BlockCondition::holds(const std::byte* at) const {
  return all_runs(at, itemsize(type.dtype), type.shape, strides, 0,
                  [&](const std::byte* run, std::int64_t n) {
                    return kernels::all_within(type.dtype, run, n, range);
                  });
}

std::unique_ptr<Step> block_loop(BlockLoop loop) {
  return std::make_unique<BlockLoopStep>(std::move(loop));
}

}  // namespace shardax
