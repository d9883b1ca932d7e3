// kernels/tiles/small_loop.cpp - preparation of a small loop, and its run.
#include "kernels/tiles/small_loop.h"

#include <algorithm>

#include "base/index.h"
#include "kernels/copy/broadcast_fill.h"
#include "kernels/tiles/tile_iterator.h"
#include "kernels/width.h"

namespace shardax::kernels {
namespace {

constexpr std::size_t most_operands = 32;
constexpr std::int64_t most_on_stack = 1 << 14, most_scratch_bytes = 1 << 17;
// Memory of a tile ends with as much as kernels may write beyond it.
constexpr std::int64_t beyond = 64;

std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Offsets of all elements of the dimensions, in row-major order.
std::vector<std::int32_t> offsets_of(const Shape& shape, const Shape& strides, std::size_t dims) {
  std::vector<std::int32_t> out{0};
  for (std::size_t d = 0; d < dims; ++d) {
    std::vector<std::int32_t> next;
    for (const std::int32_t from : out) {
      for (std::int64_t i = 0; i < shape[d]; ++i)
        next.push_back(static_cast<std::int32_t>(from + i * strides[d]));
    }
    out = std::move(next);
  }
  return out;
}

}  // namespace

std::unique_ptr<const SmallLoop> SmallLoop::of(const TileLoop& loop) {
  std::unique_ptr<SmallLoop> small(new SmallLoop(loop));
  if (!small->lay_out()) return nullptr;
  return small;
}

bool SmallLoop::reduces(std::size_t operand) const {
  return std::any_of(loop_.reductions.begin(), loop_.reductions.end(),
                     [&](const TileReduction& r) { return index(r.in) == operand; });
}

bool SmallLoop::lay_out() {
  elements_ = elements_of(loop_);
  const NativeTile& native = loop_.native;
  if (elements_ == 0 || elements_ > most_elements || operand_count(loop_) > most_operands ||
      !native.parts_in.empty() || !native.parts_out.empty())
    return false;
  const std::size_t rank = loop_.shape.size();
  if (native.code && rank > 1 && (native.by_rows || loop_.shape.back() >= long_row))
    row_ = loop_.shape.back();
  if (native.streams) return false;
  // Tiles do not cross long rows, nor do they have more than `tile_size` elements: of several that
  // one result needs, each is folded by itself.
  if (!loop_.reductions.empty() && loop_.reduce_inner &&
      (loop_.reduced > tile_size ||
       (rank > 1 && loop_.shape.back() >= long_row && loop_.reduced != loop_.shape.back())))
    return false;
  for (std::size_t i = 0; i < loop_.loads.size(); ++i) {
    if (!place(loop_.loads[i], i, true)) return false;
  }
  for (int r = 0; r < loop_.registers; ++r) {
    const std::size_t operand = places_.size();
    const bool used = !native.code || reduces(operand);
    places_.push_back({used ? How::tile : How::unused});
    if (!used) continue;
    const int itemsize =
        native.code ? native.operands[operand].bytes : static_cast<int>(register_bytes / tile_size);
    place_tile(places_.back(), itemsize);
    if (native.code) places_.back().step = row_ * itemsize;
  }
  for (std::size_t i = 0; i < loop_.stores.size(); ++i) {
    if (!place(loop_.stores[i], places_.size(), false)) return false;
  }
  for (const TileReduction& r : loop_.reductions) {
    accumulators_.push_back(scratch_bytes_);
    scratch_bytes_ += 2 * aligned(loop_.kept * r.accumulator_size);  // of a part of rows, too
  }
  rests_ = scratch_bytes_;
  const std::int64_t run = row_ > 0 ? row_ : elements_;
  if (native.code && run % native.code->multiple() != 0)
    scratch_bytes_ += static_cast<std::int64_t>(places_.size()) * rest_bytes;
  return scratch_bytes_ <= most_scratch_bytes;
}

void SmallLoop::place_tile(Place& place, int itemsize) {
  place.tile = scratch_bytes_;
  scratch_bytes_ += aligned(elements_ * itemsize) + beyond;
}

bool SmallLoop::place(const TileAccess& access, std::size_t operand, bool is_load) {
  const Shape& shape = loop_.shape;
  const std::size_t rank = shape.size();
  Place place{How::in_place, access.pointer, access.itemsize, access.offset * access.itemsize};
  const bool repeats = is_load && loop_.native.code && loop_.native.operands[operand].repeats;
  const std::int64_t last = rank > 0 ? access.strides[rank - 1] : 1;
  const bool one = is_one(loop_, access);
  const bool whole = one ? repeats || elements_ == 1 : is_dense(loop_, access) && !repeats;
  if (whole) {
    // Rows of dense operands follow each other; one element is the same for all.
    place.step = repeats ? 0 : row_ * access.itemsize;
  } else if (is_load && row_ > 0 && !reduces(operand) && (repeats || last == 1)) {
    place.how = How::by_rows;
    place.offsets = offsets_of(shape, access.strides, rank - 1);
  } else {
    if (repeats) return false;
    place_tile(place, access.itemsize);
    place.step = row_ * access.itemsize;
    if (is_load && rank == 2 && last == 1 && access.strides[0] == 0) {
      place.how = How::fill_row;
    } else if (is_load && (one || (rank == 2 && last == 0))) {
      place.how = How::fill_each;
    } else if (is_load && rank > 1 && (last == 1 || last == 0)) {
      place.how = last == 1 ? How::copy_rows : How::repeat_each;
      place.offsets = offsets_of(shape, access.strides, rank - 1);
    } else if (elements_ > tile_size) {
      return false;
    } else {
      place.how = How::listed;
      place.offsets = offsets_of(shape, access.strides, rank);
    }
  }
  places_.push_back(std::move(place));
  return true;
}

void SmallLoop::run(std::byte* const* base) const {
  if (scratch_bytes_ <= most_on_stack) {
    alignas(64) std::byte scratch[most_on_stack];
    run_with(base, scratch);
  } else {
    const ScratchBlock scratch(index(scratch_bytes_));
    run_with(base, scratch.data());
  }
}

void SmallLoop::run_with(std::byte* const* base, std::byte* scratch) const {
  std::byte* pointers[most_operands];
  const std::size_t loads = loop_.loads.size(), count = places_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Place& p = places_[i];
    if (p.how == How::in_place) {
      pointers[i] = base[p.pointer] + p.offset;
      continue;
    }
    pointers[i] = scratch + p.tile;
    if (i >= loads || p.how == How::by_rows) continue;
    with_width(p.itemsize, [&](auto zero) {
      using T = decltype(zero);
      T* out = reinterpret_cast<T*>(pointers[i]);
      const T* in = reinterpret_cast<const T*>(base[p.pointer] + p.offset);
      const Shape& strides = loop_.loads[i].strides;
      if (p.how == How::fill_row) {
        fill_row(out, loop_.shape[1], in, loop_.shape[0]);
      } else if (p.how == How::fill_each && strides.size() == 2) {
        fill_each(out, loop_.shape[1], in, strides[0], loop_.shape[0]);
      } else if (p.how == How::fill_each) {
        fill_each(out, elements_, in, 0, 1);
      } else if (p.how == How::copy_rows || p.how == How::repeat_each) {
        const auto rows = std::ssize(p.offsets);
        const auto copy = p.how == How::copy_rows ? copy_rows<T> : repeat_each<T>;
        copy(out, loop_.shape.back(), in, p.offsets.data(), rows);
      } else {
        for (std::int64_t k = 0; k < elements_; ++k) out[k] = in[p.offsets[index(k)]];
      }
    });
  }
  if (!loop_.native.code) {
    interpret(loop_, pointers, elements_);
  } else if (row_ > 0) {
    run_rows(pointers, base, scratch + rests_);
  } else {
    run_code(loop_, {pointers, count}, elements_, scratch + rests_, rest_bytes);
  }
  for (std::size_t i = loads; i < count; ++i) {
    const Place& p = places_[i];
    if (p.how != How::listed) continue;
    with_width(p.itemsize, [&](auto zero) {
      using T = decltype(zero);
      T* out = reinterpret_cast<T*>(base[p.pointer] + p.offset);
      const T* in = reinterpret_cast<const T*>(pointers[i]);
      for (std::int64_t k = 0; k < elements_; ++k) out[p.offsets[index(k)]] = in[k];
    });
  }
  if (!loop_.reductions.empty()) reduce(pointers, base, scratch);
}

void SmallLoop::run_rows(std::byte** pointers, std::byte* const* base, std::byte* rests) const {
  const std::size_t count = places_.size();
  std::byte* of_row[most_operands];
  for (std::int64_t row = 0, rows = elements_ / row_; row < rows; ++row) {
    for (std::size_t i = 0; i < count; ++i) {
      const Place& p = places_[i];
      of_row[i] = p.how == How::by_rows ? base[p.pointer] + p.offset +
                                              std::int64_t{p.offsets[index(row)]} * p.itemsize
                                        : pointers[i] + row * p.step;
    }
    run_code(loop_, {of_row, count}, row_, rests, rest_bytes);
  }
}

void SmallLoop::zip(const TileReduction& r, std::byte* acc, const std::byte* in) const {
  const ZipParts parts(loop_.reduced);
  const std::int64_t columns = loop_.kept / loop_.outer;
  const auto zip_part = [&](std::byte* to, std::int64_t p) {
    const std::int64_t first = p * parts.rows, end = std::min(loop_.reduced, first + parts.rows);
    for (std::int64_t o = 0; o < loop_.outer; ++o) {
      const std::byte* from = in + (o * loop_.reduced + first) * columns * r.itemsize;
      r.kernels.zip(to + o * columns * r.accumulator_size, from, columns, end - first, columns);
    }
  };
  zip_part(acc, 0);
  std::byte* const part = acc + aligned(loop_.kept * r.accumulator_size);
  for (std::int64_t p = 1; p < parts.count; ++p) {
    r.kernels.init(part, loop_.kept);
    zip_part(part, p);
    r.kernels.merge(acc, part, loop_.kept);
  }
}

void SmallLoop::reduce(std::byte* const* pointers, std::byte* const* base,
                       std::byte* scratch) const {
  for (std::size_t i = 0; i < loop_.reductions.size(); ++i) {
    const TileReduction& r = loop_.reductions[i];
    std::byte* acc = scratch + accumulators_[i];
    const std::byte* in = pointers[index(r.in)];
    r.kernels.init(acc, loop_.kept);
    if (loop_.reduce_inner) {
      r.kernels.fold(acc, in, loop_.reduced, loop_.kept);
    } else {
      zip(r, acc, in);
    }
    r.kernels.finish(base[r.pointer] + r.offset * r.out_itemsize, 1, acc, loop_.kept);
  }
}

}  // namespace shardax::kernels
