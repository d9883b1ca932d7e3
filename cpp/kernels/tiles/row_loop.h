// kernels/tiles/row_loop.h - loops over rows of memory for machine code.
//
// A walker finds out where the operands of each tile lie. In two dimensions, if all operands run
// through the second one or have one number for it, that is a step from row to row. Reductions over
// rows fold each as soon as it is there.
#pragma once

#include <memory>

#include "kernels/tiles/tile_loop.h"

namespace shardax::kernels {

// Are the loop's operands rows of memory, and numbers that repeat along them?
bool has_rows(const TileLoop& loop);

class RowLoop {
 public:
  // Null where the loop has no such rows, or instructions but no machine code. The loop must
  // outlive it.
  static std::unique_ptr<const RowLoop> of(const TileLoop& loop);

  // Computes the whole loop, with the bits of run_tile_loop.
  void run(std::byte* const* base, ParallelFor parallel_for) const;

 private:
  class Rows;

  explicit RowLoop(const TileLoop& loop);
  void run_rows(std::byte* const* base, std::int64_t first, std::int64_t last) const;

  // The place of row 0 of an operand in memory or, pointer -1, in that of the loop alone, and the
  // bytes between rows.
  struct Place {
    int pointer = -1;
    std::int64_t offset = 0, step = 0;
  };
  const TileLoop& loop_;
  std::int64_t rows_, length_;
  std::int64_t together_ = 1;  // rows that are folded together
  std::int64_t scratch_bytes_ = 0;
  SmallVector<Place, 16> places_;
};

}  // namespace shardax::kernels
