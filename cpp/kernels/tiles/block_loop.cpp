// kernels/tiles/block_loop.cpp - conditions for loops by blocks, and the walk over blocks.
#include "kernels/tiles/block_loop.h"

#include <algorithm>
#include <optional>

#include "kernels/tiles/tile_iterator.h"

namespace shardax::kernels {
namespace {

// The number of rows and columns of a block. An operand that is read across rows is read in runs of
// a line of memory, which holds as many floats.
constexpr std::int64_t side = 16;
// Smaller loops are done before their blocks are laid out.
constexpr std::int64_t least_elements = 1 << 13;
// The elements that threads take in turns.
constexpr std::int64_t task_elements = 1 << 14;

bool varies(const TileAccess& access, const Shape& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1 && access.strides[d] != 0) return true;
  }
  return false;
}

// The dimension whose neighbours lie side by side in an operand for which those of the last one do
// not; `rank` where there is none.
std::size_t crossed_dimension(const TileLoop& loop) {
  const std::size_t rank = loop.shape.size(), last = rank - 1;
  for (const TileAccess& load : loop.loads) {
    if (load.strides[last] == 0 || load.strides[last] == 1) continue;
    for (std::size_t d = 0; d < last; ++d) {
      if (load.strides[d] == 1 && loop.shape[d] >= side) return d;
    }
  }
  return rank;
}

// One element, or rows, of each operand, as a block of that shape sees it. False where an operand
// is the same for a block but not for the next: a tile would take it for a constant.
bool make_block(const TileLoop& loop, std::size_t dim, std::int64_t rows, std::int64_t columns,
                TileLoop& block) {
  block = loop;
  block.shape = {rows, columns};
  block.native.in_place = block.native.by_rows = false;
  block.native.streams = nullptr;
  const auto see = [&](TileAccess& access) {
    const bool varied = varies(access, loop.shape);
    access.strides = {access.strides[dim], access.strides.back()};
    return !varied || access.strides[0] != 0 || access.strides[1] != 0;
  };
  for (std::size_t i = 0; i < block.loads.size(); ++i) {
    if (!see(block.loads[i])) return false;
    const bool varied = block.loads[i].strides[0] != 0 || block.loads[i].strides[1] != 0;
    if (varied && block.native.code && block.native.operands[i].repeats) return false;
  }
  return std::all_of(block.stores.begin(), block.stores.end(), see);
}

}  // namespace

bool run_in_blocks(const TileLoop& loop, std::byte* const* base, std::int64_t total,
                   ParallelFor parallel_for) {
  const std::size_t rank = loop.shape.size();
  if (rank < 2 || total < least_elements || loop.shape[rank - 1] < side) return false;
  const std::size_t dim = crossed_dimension(loop), last = rank - 1;
  if (dim == rank) return false;
  const std::int64_t rows = loop.shape[dim], columns = loop.shape[last];
  const std::int64_t room = TileIterator::most_in_scratch(loop) / side;
  const std::int64_t width = std::min(columns, room / side * side);
  const std::int64_t height = std::min(rows, std::max(side, room / width * side));
  TileLoop whole;
  if (!make_block(loop, dim, height, width, whole)) return false;
  const std::int64_t across = (columns + width - 1) / width;
  const std::int64_t down = (rows + height - 1) / height;
  // A task is a strip of blocks, one below the other.
  const std::int64_t block_elements = height * width;
  const std::int64_t strip = std::clamp(task_elements / block_elements, std::int64_t{1}, down);
  const std::int64_t strips = (down + strip - 1) / strip;
  const std::int64_t tasks = total / (rows * columns) * across * strips;
  const std::int64_t together = std::max<std::int64_t>(1, task_elements / (strip * block_elements));
  parallel_for((tasks + together - 1) / together, [&](std::int64_t group) {
    const ScratchBlock scratch(scratch_bytes(loop));
    TileLoop block;
    std::optional<TileIterator> walker;
    const std::int64_t end = std::min(tasks, (group + 1) * together);
    for (std::int64_t task = group * together; task < end; ++task) {
      Shape index(rank, 0);
      const std::int64_t first_column = task / strips % across * width;
      std::int64_t rest = task / strips / across;
      for (std::size_t d = last; d-- > 0;) {
        if (d == dim) continue;
        index[d] = rest % loop.shape[d];
        rest /= loop.shape[d];
      }
      index[last] = first_column;
      const std::int64_t wide = std::min(width, columns - first_column);
      const std::int64_t from = task % strips * strip, to = std::min(down, from + strip);
      for (std::int64_t b = from; b < to; ++b) {
        index[dim] = b * height;
        const std::int64_t high = std::min(height, rows - index[dim]);
        if (!walker || block.shape[0] != high || block.shape[1] != wide) {
          make_block(loop, dim, high, wide, block);
          walker.emplace(block, base, scratch.data(), true);
        }
        walker->move_to(loop, index);
        walker->tile(0, high * wide);
      }
    }
  });
  return true;
}

}  // namespace shardax::kernels
