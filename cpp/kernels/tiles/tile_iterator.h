// kernels/tiles/tile_iterator.h - a loop on one thread: operand addresses of the current tile.
#pragma once

#include <span>

#include "base/index.h"
#include "kernels/tiles/tile_loop.h"

namespace shardax::kernels {

// Scratch memory of an operand.
inline constexpr std::int64_t register_bytes = tile_size * 16;
// Room at the end of each register for elements that do not fill a vector. Numbers of machine code
// take half of a register at most.
inline constexpr std::int64_t rest_bytes = 64;

// A block of this thread's scratch memory, given back in the order of a stack.
class ScratchBlock {
 public:
  explicit ScratchBlock(std::size_t bytes);
  ~ScratchBlock();
  ScratchBlock(const ScratchBlock&) = delete;
  ScratchBlock& operator=(const ScratchBlock&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
};

// The bytes of scratch memory that a TileIterator needs.
std::size_t scratch_bytes(const TileLoop& loop);

// The instructions and copies of a loop on n elements, with an address for each operand.
void interpret(const TileLoop& loop, std::byte* const* pointers, std::int64_t n);

// Does an operand that machine code writes lie where one lies that it reads?
bool overwrites(const TileLoop& loop, std::span<std::byte* const> pointers);

// Its machine code on n elements: whole vectors in place, the rest in blocks of `rest_bytes`. The
// block of operand i is at rests + i * step, so that nothing beyond an operand is touched.
void run_code(const TileLoop& loop, std::span<std::byte* const> pointers, std::int64_t n,
              std::byte* rests, std::int64_t step);

class TileIterator {
 public:
  // `moves`: move_to will be called.
  TileIterator(const TileLoop& loop, std::byte* const* base, std::byte* scratch,
               bool moves = false);

  // The elements of each operand that scratch memory holds: more for machine code, which takes
  // narrow numbers.
  static std::int64_t most_in_scratch(const TileLoop& loop);

  // The loop is a block of `whole`; from now on it is the one whose first element has that index.
  void move_to(const TileLoop& whole, const Shape& index);

  // Computes elements [start, start + n) of the flat order, which lie within one tile.
  void tile(std::int64_t start, std::int64_t n);
  // After the last tile, makes its writes visible to other threads.
  void complete() const;

  // Does the loop only reduce what lies in memory, in runs along its last dimension? Its tiles may
  // have any length, and of several rows the first is enough.
  bool reads_in_place() const;

  // The most elements of a tile: more than `tile_size` for machine code, any number for operands
  // that are only read in place.
  std::int64_t most_elements() const;

  const std::byte* operand(std::int32_t i) const { return pointers_[index(i)]; }

 private:
  // `rows`: strided, but machine code reads rows of it in place, or one element of each.
  enum class Access : std::uint8_t { contiguous, constant, strided, rows };

  Access classify(const TileAccess& access) const;
  bool takes_rows(std::size_t load) const;
  void run_native(std::int64_t n);
  void run_rows(std::int64_t n);
  void run_code(std::byte* const* pointers, std::int64_t n);
  void take_apart(std::int64_t n);
  void put_together(std::int64_t n) const;
  void run_streaming(std::int64_t n);
  bool writes_what_it_reads() const;
  void fill(std::size_t i, std::int64_t n);
  void locate(std::int64_t start);
  void gather(std::size_t i, std::int64_t n);
  void scatter(std::size_t store, std::size_t slot, std::int64_t n);
  // The order in memory of the elements of small blocks, which come one after the other.
  struct Blocks {
    std::int64_t size = 0;  // 0: the operand does not lie like that
    std::uint8_t order[16];
  };
  Blocks blocks_of(const TileAccess& access) const;
  std::int64_t dense_run(const TileAccess& access) const;
  bool in_one_run(std::size_t operand, std::int64_t n) const;
  // The offset of the tile's first element.
  std::int64_t offset_of(const TileAccess& access) const;
  template <class F>
  void runs(const TileAccess& access, std::int64_t n, F&& run) const;

  const TileLoop& loop_;
  std::size_t rank_;
  std::byte* scratch_;
  bool moves_;
  SmallVector<std::byte*, 16> pointers_;  // per operand, for the current tile
  SmallVector<std::byte*, 16> memory_;    // per load, then per store
  SmallVector<std::byte*, 16> origins_;   // the same of the first block
  SmallVector<Access, 16> kinds_;
  bool strided_ = false;                 // some operand is
  bool by_rows_ = false;                 // short rows of some operand are read where they lie
  bool streams_ = false;                 // stores go past the caches
  SmallVector<std::int64_t, 16> index_;  // of the current tile's first element, per dimension
  struct Filled {
    std::int64_t offset = -1, count = 0;
  };
  SmallVector<Blocks, 4> blocks_;  // per load, if some operand is strided
  // Per operand in memory, likewise: the elements of the last dimensions, through which it runs
  // densely.
  SmallVector<std::int64_t, 16> dense_;
  SmallVector<Filled, 16> filled_;  // per load: the element that its scratch memory repeats
};

}  // namespace shardax::kernels
