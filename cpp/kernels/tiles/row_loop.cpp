// kernels/tiles/row_loop.cpp - machine code and folds, row by row.
#include "kernels/tiles/row_loop.h"

#include <algorithm>
#include <cstring>

#include "base/index.h"
#include "kernels/tiles/accumulators.h"
#include "kernels/tiles/tile_iterator.h"

namespace shardax::kernels {
namespace {

// Longer rows are folded in pieces.
constexpr std::int64_t most_row = chunk_elements;
// As many short rows are folded side by side.
constexpr std::int64_t side_by_side = 8;

bool is_reduced(const TileLoop& loop, std::size_t operand) {
  return std::ranges::any_of(loop.reductions,
                             [&](const TileReduction& r) { return index(r.in) == operand; });
}

}  // namespace

bool has_rows(const TileLoop& loop) {
  if (loop.shape.size() != 2 || loop.shape[0] == 0 || loop.shape[1] == 0 ||
      loop.shape[1] > most_row || !loop.native.parts_in.empty() || !loop.native.parts_out.empty() ||
      (!loop.reductions.empty() && (!loop.reduce_inner || loop.reduced != loop.shape[1])))
    return false;
  for (std::size_t i = 0; i < loop.loads.size(); ++i) {
    const TileAccess& load = loop.loads[i];
    const bool repeats = load.strides[1] == 0 && codegen::width_of(load.kind) >= 4;
    if (load.known && !is_reduced(loop, i)) continue;
    if (load.strides[1] != 1 && (!repeats || is_reduced(loop, i))) return false;
  }
  return std::ranges::all_of(loop.stores,
                             [](const TileAccess& store) { return store.strides[1] == 1; });
}

std::unique_ptr<const RowLoop> RowLoop::of(const TileLoop& loop) {
  const NativeTile& native = loop.native;
  if (!has_rows(loop) || native.streams) return {};
  if (native.code ? !native.by_rows && loop.shape[1] < long_row
                  : !loop.instructions.empty() || !loop.copies.empty())
    return {};
  return std::unique_ptr<const RowLoop>(new RowLoop(loop));
}

RowLoop::RowLoop(const TileLoop& loop) : loop_(loop), rows_(loop.shape[0]), length_(loop.shape[1]) {
  const auto place = [&](const TileAccess& access) {
    places_.push_back(
        {access.pointer, access.offset * access.itemsize, access.strides[0] * access.itemsize});
  };
  bool apart = false;  // rows that are reduced do not follow each other
  const auto reduced = [&](const TileAccess& access) {
    apart = apart || (is_reduced(loop, places_.size() - 1) && access.strides[0] != length_);
  };
  for (const TileAccess& load : loop.loads) {
    place(load);
    reduced(load);
  }
  for (int r = 0; r < loop.registers; ++r) {
    const std::int64_t bytes = loop.native.code ? loop.native.operands[places_.size()].bytes : 0;
    places_.push_back({-1, scratch_bytes_, length_ * bytes});
    scratch_bytes_ += (side_by_side * length_ * bytes + 63) / 64 * 64;
  }
  for (const TileAccess& store : loop.stores) {
    place(store);
    reduced(store);
  }
  // Adjacent rows are folded together, all of them if there is no machine code.
  if (!apart) together_ = !loop.native.code ? rows_ : length_ < long_row ? side_by_side : 1;
}

void RowLoop::run(std::byte* const* base, ParallelFor parallel_for) const {
  const std::int64_t each =
      std::max<std::int64_t>(1, free_chunk_elements(loop_, rows_ * length_) / length_);
  parallel_for((rows_ + each - 1) / each, [&](std::int64_t chunk) {
    run_rows(base, chunk * each, std::min(rows_, (chunk + 1) * each));
  });
}

// The rows of one thread.
class RowLoop::Rows {
 public:
  Rows(const RowLoop& rows, std::byte* const* base, std::int64_t first, std::byte* scratch)
      : rows_(rows), native_(rows.loop_.native), starts_(rows.places_.size()) {
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      const Place& p = rows.places_[i];
      starts_[i] = p.pointer < 0 ? scratch + p.offset : base[p.pointer] + p.offset + first * p.step;
      if (p.step != 0) moving_.push_back(i);
    }
    if (!native_.code || rows.length_ % native_.code->multiple() == 0) return;
    std::byte* block = scratch + rows.scratch_bytes_;
    for (std::size_t i = 0; i < rows.loop_.loads.size(); ++i) {
      if (native_.operands[i].repeats || !is_written(starts_[i])) continue;
      overwritten_.push_back({i, block});
      block += rest_bytes;
    }
  }

  const std::byte* start(std::int32_t operand) const { return starts_[index(operand)]; }
  void run(std::int64_t some) {
    pointers_ = starts_;
    if (!overwritten_.empty()) return run_over(some);
    const codegen::TileCode code = native_.code->code();
    for (std::int64_t k = 0; k < some; ++k) {
      code(pointers_.data(), rows_.length_);
      next(pointers_);
    }
  }
  void advance(std::int64_t some) {
    for (const std::size_t i : moving_) {
      if (rows_.places_[i].pointer >= 0) starts_[i] += some * rows_.places_[i].step;
    }
  }

 private:
  using Pointers = SmallVector<std::byte*, 16>;

  bool is_written(const std::byte* at) const {
    return std::ranges::any_of(native_.outputs,
                               [&](std::int32_t output) { return starts_[index(output)] == at; });
  }
  void next(Pointers& pointers) const {
    for (const std::size_t i : moving_) pointers[i] += rows_.places_[i].step;
  }
  // The last turn goes over elements again, and reads those that are overwritten from a copy.
  void run_over(std::int64_t some) {
    const codegen::TileCode code = native_.code->code();
    const std::int64_t turn = native_.code->multiple(), whole = rows_.length_ / turn * turn;
    last_ = starts_;
    for (std::size_t i = 0; i < last_.size(); ++i) {
      const auto [bytes, repeats] = native_.operands[i];
      if (!repeats) last_[i] += (rows_.length_ - turn) * bytes;
    }
    for (std::int64_t k = 0; k < some; ++k) {
      Pointers last = last_;
      for (const auto& [load, block] : overwritten_) {
        std::memcpy(block, last[load], index(turn * native_.operands[load].bytes));
        last[load] = block;
      }
      code(pointers_.data(), whole);
      code(last.data(), turn);
      next(pointers_);
      next(last_);
    }
  }

  const RowLoop& rows_;
  const NativeTile& native_;
  Pointers starts_, pointers_, last_;
  SmallVector<std::size_t, 16> moving_;  // operands whose rows lie apart
  struct Overwritten {
    std::size_t load;
    std::byte* block;
  };
  SmallVector<Overwritten, 4> overwritten_;  // the code goes over their elements twice
};

void RowLoop::run_rows(std::byte* const* base, std::int64_t first, std::int64_t last) const {
  const auto registers = index(scratch_bytes_);
  const std::size_t blocks = loop_.loads.size() * index(rest_bytes);
  const ScratchBlock scratch(registers + blocks + Accumulators::bytes(loop_, last - first));
  Accumulators acc(loop_, scratch.data() + registers + blocks, last - first);
  acc.init();
  Rows rows(*this, base, first, scratch.data());
  for (std::int64_t row = first; row < last; row += together_) {
    const std::int64_t some = std::min(together_, last - row);
    if (loop_.native.code) rows.run(some);
    for (std::size_t i = 0; i < loop_.reductions.size(); ++i) {
      const TileReduction& r = loop_.reductions[i];
      r.kernels.fold(acc.rows[i] + (row - first) * r.accumulator_size, rows.start(r.in), length_,
                     some);
    }
    rows.advance(some);
  }
  acc.finish(base, first);
}

}  // namespace shardax::kernels
