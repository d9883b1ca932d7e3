// kernels/tiles/small_loop.h - loops over few elements, laid out when they are compiled.
//
// A walker finds out where operands lie each time that a loop runs, which takes longer than a few
// hundred elements do. All but the addresses of a loop that no threads share is known before it
// runs: places of operands, gathered elements, memory of tiles.
#pragma once

#include <memory>
#include <vector>

#include "kernels/tiles/tile_loop.h"

namespace shardax::kernels {

class SmallLoop {
 public:
  // Loops of more are shared by threads.
  static constexpr std::int64_t most_elements = 4 * tile_size;
  // Null where the loop has too many elements or operands, or complex numbers whose
  // parts machine code takes. The loop must outlive it.
  static std::unique_ptr<const SmallLoop> of(const TileLoop& loop);

  // Computes the whole loop, with the bits of run_tile_loop.
  void run(std::byte* const* base) const;

 private:
  explicit SmallLoop(const TileLoop& loop) : loop_(loop) {}

  // `in_place`: read or written in place; `by_rows`: so by each row, from offsets on. `fill_row`,
  // `fill_each`: a row, or an element, that repeats is copied to a tile. `copy_rows`,
  // `repeat_each`: so are rows, or an element for each row, from offsets on. `listed`: elements are
  // copied to or from a tile. `tile`: memory of the loop alone; `unused` by machine code.
  enum class How : std::uint8_t {
    in_place,
    by_rows,
    fill_row,
    fill_each,
    copy_rows,
    repeat_each,
    listed,
    tile,
    unused
  };
  struct Place {
    How how;
    int pointer = 0;
    int itemsize = 0;
    std::int64_t offset = 0;  // in bytes, from the pointer or of the tile
    std::int64_t tile = 0;    // of the tile in scratch memory, in bytes
    std::int64_t step = 0;  // by rows: from one row to the next where `offsets` is empty, in bytes
    std::vector<std::int32_t> offsets = {};  // of listed elements, or of rows, in elements
  };

  bool lay_out();
  void run_with(std::byte* const* base, std::byte* scratch) const;
  bool place(const TileAccess& access, std::size_t operand, bool is_load);
  void place_tile(Place& place, int itemsize);
  bool reduces(std::size_t operand) const;
  void run_rows(std::byte** pointers, std::byte* const* base, std::byte* rests) const;
  // The elements of `in`, rows of results, added to the accumulators, which a part's follow.
  void zip(const TileReduction& reduction, std::byte* acc, const std::byte* in) const;
  void reduce(std::byte* const* pointers, std::byte* const* base, std::byte* scratch) const;

  const TileLoop& loop_;
  std::int64_t elements_ = 0;
  std::int64_t row_ = 0;  // elements that one call of machine code takes; 0: all
  std::vector<Place> places_;
  std::vector<std::int64_t> accumulators_;  // their places in scratch memory
  std::int64_t rests_ = 0;                  // the place of vectors that are not full
  std::int64_t scratch_bytes_ = 0;
};

}  // namespace shardax::kernels
