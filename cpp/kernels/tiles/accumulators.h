// kernels/tiles/accumulators.h - accumulators of a loop's reductions.
#pragma once

#include "base/index.h"
#include "kernels/tiles/tile_loop.h"

namespace shardax::kernels {

// Accumulators of all reductions for `count` results, one block of memory.
class Accumulators {
 public:
  Accumulators(const TileLoop& loop, std::byte* data, std::int64_t count)
      : loop_(loop), count_(count) {
    for (const TileReduction& r : loop.reductions) {
      rows.push_back(data);
      data += size(r, count);
    }
  }
  static std::size_t bytes(const TileLoop& loop, std::int64_t count) {
    std::int64_t sum = 0;
    for (const TileReduction& r : loop.reductions) sum += size(r, count);
    return index(sum);
  }

  void init() {
    for (std::size_t i = 0; i < rows.size(); ++i) loop_.reductions[i].kernels.init(rows[i], count_);
  }
  void merge(const Accumulators& part) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      loop_.reductions[i].kernels.merge(rows[i], part.rows[i], count_);
  }
  // The accumulators of `count` results from `first` on.
  Accumulators range(std::int64_t first, std::int64_t count) const {
    Accumulators out = *this;
    out.count_ = count;
    for (std::size_t i = 0; i < rows.size(); ++i)
      out.rows[i] += first * loop_.reductions[i].accumulator_size;
    return out;
  }
  // Writes the results, which are those from `first` on.
  void finish(std::byte* const* base, std::int64_t first) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const TileReduction& r = loop_.reductions[i];
      r.kernels.finish(base[r.pointer] + (r.offset + first) * r.out_itemsize, 1, rows[i], count_);
    }
  }

  SmallVector<std::byte*, 4> rows;

 private:
  static std::int64_t size(const TileReduction& r, std::int64_t count) {
    return (count * r.accumulator_size + 63) / 64 * 64;
  }
  const TileLoop& loop_;
  std::int64_t count_;
};

}  // namespace shardax::kernels
