// kernels/tile_loop.cpp - loops in chunks for threads: elementwise, and with reductions.
#include "kernels/tile_loop.h"

#include <algorithm>

#include "kernels/block_loop.h"
#include "kernels/walker.h"

namespace shardax::kernels {
namespace {

// Elements of a chunk, the unit handed to a thread: about 20 us of a short chain (0.26 ns an
// element and instruction).
constexpr std::int64_t chunk_elements = 32 * tile_size;

// The same where no result depends on chunks: loops of some microseconds or more have eight.
std::int64_t free_chunk_elements(const TileLoop& loop, std::int64_t total) {
  constexpr std::int64_t most_chunks = 8, least = 4 * tile_size;
  const auto instructions = static_cast<std::int64_t>(loop.instructions.size());
  const std::int64_t worth_it = std::max(least, chunk_elements / (1 + instructions / 4));
  const std::int64_t even = (total + most_chunks - 1) / most_chunks;
  return std::clamp((even + tile_size - 1) / tile_size * tile_size, worth_it, chunk_elements);
}

// Where a tile that starts at `start` ends: long rows are not crossed, so that operands with a
// dense last dimension are read in place.
std::int64_t tile_end(std::int64_t start, std::int64_t end, std::int64_t row,
                      std::int64_t size = tile_size) {
  const std::int64_t limit = row >= long_row ? (start / row + 1) * row : end;
  return std::min({start + size, end, limit});
}

std::int64_t row_of(const TileLoop& loop) {
  if (loop.shape.size() < 2) return 0;
  return loop.shape.back();
}

void run_elementwise(const TileLoop& loop, std::byte* const* base, std::int64_t total,
                     ParallelFor parallel_for) {
  const std::int64_t row = row_of(loop), elements = free_chunk_elements(loop, total);
  parallel_for((total + elements - 1) / elements, [&](std::int64_t chunk) {
    const ScratchBlock scratch(scratch_bytes(loop));
    Walker walker(loop, base, scratch.data());
    const std::int64_t end = std::min(total, (chunk + 1) * elements);
    const std::int64_t size = loop.native.in_place ? elements : walker.most_elements();
    for (std::int64_t at = chunk * elements; at < end;) {
      const std::int64_t next = tile_end(at, end, row, size);
      walker.tile(at, next - at);
      at = next;
    }
    walker.complete();
  });
}

// Accumulators of all reductions for `count` results, one block.
struct Accumulators {
  Accumulators(const TileLoop& loop, std::byte* data, std::int64_t count) {
    for (const TileReduction& r : loop.reductions) {
      rows.push_back(data);
      r.kernels.init(data, count);
      data += (count * r.accumulator_size + 63) / 64 * 64;
    }
  }
  static std::size_t bytes(const TileLoop& loop, std::int64_t count) {
    std::size_t sum = 0;
    for (const TileReduction& r : loop.reductions) {
      sum += static_cast<std::size_t>((count * r.accumulator_size + 63) / 64 * 64);
    }
    return sum;
  }
  SmallVector<std::byte*, 4> rows;
};

void finish(const TileLoop& loop, std::byte* const* base, const Accumulators& acc,
            std::int64_t first, std::int64_t count) {
  for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
    const TileReduction& r = loop.reductions[i];
    r.kernels.finish(base[r.pointer] + (r.offset + first) * r.out_itemsize, 1, acc.rows[i], count);
  }
}

// [kept, reduced]: folds the elements of [from, to) of every row in [first, last).
void fold_rows(const TileLoop& loop, Walker& walker, Accumulators& acc, std::int64_t first,
               std::int64_t last, std::int64_t from, std::int64_t to) {
  const std::int64_t row = row_of(loop);
  const bool whole = from == 0 && to == loop.reduced;
  const std::int64_t begin = first * loop.reduced + from;
  const std::int64_t end = (last - 1) * loop.reduced + to;
  const bool in_place = walker.reads_in_place() && (row == 0 || row >= long_row);
  const std::int64_t size = in_place ? end - begin : tile_size;
  // Several short rows are reduced side by side.
  constexpr std::int64_t side_by_side = 8;
  std::int64_t rows_of_tile = std::max<std::int64_t>(1, walker.most_elements() / loop.reduced);
  if (rows_of_tile > side_by_side) rows_of_tile = rows_of_tile / side_by_side * side_by_side;
  // A tile is part of one row, or several short ones.
  for (std::int64_t at = begin; at < end;) {
    std::int64_t next =
        std::min(tile_end(at, end, row, size), at / loop.reduced * loop.reduced + to);
    std::int64_t rows = 1;
    if (whole && loop.reduced < long_row) {
      rows = std::min((end - at) / loop.reduced, rows_of_tile);
      next = at + rows * loop.reduced;
    }
    walker.tile(at, next - at);
    for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
      const TileReduction& r = loop.reductions[i];
      r.kernels.fold(acc.rows[i] + (at / loop.reduced - first) * r.accumulator_size,
                     walker.operand(r.in), (next - at) / rows, rows);
    }
    at = next;
  }
}

void run_reduce_inner(const TileLoop& loop, std::byte* const* base, ParallelFor parallel_for) {
  const std::int64_t rows_per_chunk =
      std::max<std::int64_t>(1, free_chunk_elements(loop, loop.kept * loop.reduced) /
                                    std::max<std::int64_t>(loop.reduced, 1));
  const bool split_rows = loop.kept * 4 <= loop.reduced / chunk_elements;
  if (!split_rows) {
    parallel_for((loop.kept + rows_per_chunk - 1) / rows_per_chunk, [&](std::int64_t chunk) {
      const std::int64_t first = chunk * rows_per_chunk;
      const std::int64_t last = std::min(loop.kept, first + rows_per_chunk);
      const ScratchBlock scratch(scratch_bytes(loop));
      const ScratchBlock memory(Accumulators::bytes(loop, last - first));
      Accumulators acc(loop, memory.data(), last - first);
      Walker walker(loop, base, scratch.data());
      fold_rows(loop, walker, acc, first, last, 0, loop.reduced);
      finish(loop, base, acc, first, last - first);
    });
    return;
  }
  // Few long rows: each is folded in pieces, whose results are merged in order.
  const std::int64_t pieces = (loop.reduced + chunk_elements - 1) / chunk_elements;
  const std::size_t piece_bytes = Accumulators::bytes(loop, 1);
  const ScratchBlock memory(piece_bytes * static_cast<std::size_t>(pieces * loop.kept));
  parallel_for(pieces * loop.kept, [&](std::int64_t chunk) {
    const std::int64_t k = chunk / pieces;
    const std::int64_t from = chunk % pieces * chunk_elements;
    const ScratchBlock scratch(scratch_bytes(loop));
    Accumulators acc(loop, memory.data() + static_cast<std::size_t>(chunk) * piece_bytes, 1);
    Walker walker(loop, base, scratch.data());
    fold_rows(loop, walker, acc, k, k + 1, from, std::min(loop.reduced, from + chunk_elements));
  });
  for (std::int64_t k = 0; k < loop.kept; ++k) {
    const ScratchBlock total_memory(piece_bytes);
    Accumulators total(loop, total_memory.data(), 1);
    for (std::int64_t p = 0; p < pieces; ++p) {
      std::byte* part = memory.data() + static_cast<std::size_t>(k * pieces + p) * piece_bytes;
      for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
        loop.reductions[i].kernels.merge(total.rows[i], part + (total.rows[i] - total.rows[0]), 1);
      }
    }
    finish(loop, base, total, k, 1);
  }
}

// Rows of memory that are reduced together, and the elements of each: their accumulators stay in
// the first-level cache.
constexpr std::int64_t rows_together = 8, strip = 4 * tile_size;

// [reduced, kept], in memory: zips rows [from, to) of the kept range [first, last).
void zip_in_place(const TileLoop& loop, Walker& walker, Accumulators& acc, std::int64_t from,
                  std::int64_t to, std::int64_t first, std::int64_t last) {
  for (std::int64_t r = from; r < to; r += rows_together) {
    for (std::int64_t k = first; k < last; k += strip) {
      const std::int64_t n = std::min(strip, last - k);
      walker.tile(r * loop.kept + k, n);
      for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
        const TileReduction& reduction = loop.reductions[i];
        reduction.kernels.zip(acc.rows[i] + (k - first) * reduction.accumulator_size,
                              walker.operand(reduction.in), n, std::min(rows_together, to - r),
                              loop.loads[static_cast<std::size_t>(reduction.in)].strides[0]);
      }
    }
  }
}

// [reduced, kept]: zips rows [from, to) into accumulators for the kept range [first, last).
void zip_rows(const TileLoop& loop, Walker& walker, Accumulators& acc, std::int64_t from,
              std::int64_t to, std::int64_t first, std::int64_t last) {
  if (loop.shape.size() == 2 && loop.kept >= long_row && walker.reads_in_place())
    return zip_in_place(loop, walker, acc, from, to, first, last);
  const bool whole = first == 0 && last == loop.kept;
  const std::int64_t row = row_of(loop);
  const auto zip = [&](std::int64_t at, std::int64_t n) {
    walker.tile(at, n);
    for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
      const TileReduction& r = loop.reductions[i];
      const std::byte* in = walker.operand(r.in);
      for (std::int64_t done = 0; done < n;) {
        const std::int64_t k = (at + done) % loop.kept;
        const std::int64_t rows =
            k == 0 ? std::max<std::int64_t>(1, (n - done) / loop.kept) : std::int64_t{1};
        const std::int64_t count = std::min(n - done, loop.kept - k);
        r.kernels.zip(acc.rows[i] + (k - first) * r.accumulator_size, in + done * r.itemsize, count,
                      rows, loop.kept);
        done += rows * count;
      }
    }
  };
  if (whole) {
    for (std::int64_t at = from * loop.kept; at < to * loop.kept;) {
      const std::int64_t next = tile_end(at, to * loop.kept, row);
      zip(at, next - at);
      at = next;
    }
    return;
  }
  for (std::int64_t r = from; r < to; ++r) {
    for (std::int64_t k = first; k < last; k += tile_size) {
      const std::int64_t begin = r * loop.kept + k;
      const std::int64_t end = begin + std::min(tile_size, last - k);
      for (std::int64_t at = begin; at < end;) {
        const std::int64_t next = tile_end(at, end, row);
        zip(at, next - at);
        at = next;
      }
    }
  }
}

void run_reduce_outer(const TileLoop& loop, std::byte* const* base, ParallelFor parallel_for) {
  // Very many results, or few rows of many: each chunk owns a range of results. Else each owns a
  // range of rows, so that memory is read in its order.
  constexpr std::int64_t wide = 4 * tile_size, few_rows = 128;
  if (loop.kept >= 64 * tile_size || (loop.kept >= wide && loop.reduced < few_rows)) {
    const std::int64_t width = loop.kept >= 64 * tile_size ? 8 * tile_size : tile_size;
    parallel_for((loop.kept + width - 1) / width, [&](std::int64_t chunk) {
      const std::int64_t first = chunk * width;
      const std::int64_t last = std::min(loop.kept, first + width);
      const ScratchBlock scratch(scratch_bytes(loop));
      const ScratchBlock memory(Accumulators::bytes(loop, last - first));
      Accumulators acc(loop, memory.data(), last - first);
      Walker walker(loop, base, scratch.data());
      zip_rows(loop, walker, acc, 0, loop.reduced, first, last);
      finish(loop, base, acc, first, last - first);
    });
    return;
  }
  // As many chunks as there is work for, but few accumulators, which are merged in the end.
  constexpr std::int64_t most_results = std::int64_t{1} << 19, most_chunks = 64, least_chunks = 16;
  const std::int64_t limit = std::clamp(most_results / loop.kept, least_chunks, most_chunks);
  const std::int64_t rows =
      std::max({std::int64_t{1}, chunk_elements / loop.kept, (loop.reduced + limit - 1) / limit});
  const std::int64_t chunks = std::max<std::int64_t>(1, (loop.reduced + rows - 1) / rows);
  const std::size_t bytes = Accumulators::bytes(loop, loop.kept);
  const ScratchBlock memory(bytes * static_cast<std::size_t>(chunks));
  parallel_for(chunks, [&](std::int64_t chunk) {
    const ScratchBlock scratch(scratch_bytes(loop));
    Accumulators acc(loop, memory.data() + bytes * static_cast<std::size_t>(chunk), loop.kept);
    Walker walker(loop, base, scratch.data());
    zip_rows(loop, walker, acc, chunk * rows, std::min(loop.reduced, (chunk + 1) * rows), 0,
             loop.kept);
  });
  Accumulators total(loop, memory.data(), 0);
  for (std::int64_t chunk = 1; chunk < chunks; ++chunk) {
    std::byte* part = memory.data() + bytes * static_cast<std::size_t>(chunk);
    for (const TileReduction& r : loop.reductions) {
      const auto i = static_cast<std::size_t>(&r - loop.reductions.data());
      std::size_t skip = 0;
      for (std::size_t k = 0; k < i; ++k) {
        skip += static_cast<std::size_t>((loop.kept * loop.reductions[k].accumulator_size + 63) /
                                         64 * 64);
      }
      r.kernels.merge(memory.data() + skip, part + skip, loop.kept);
    }
  }
  std::size_t skip = 0;
  for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
    total.rows[i] = memory.data() + skip;
    skip +=
        static_cast<std::size_t>((loop.kept * loop.reductions[i].accumulator_size + 63) / 64 * 64);
  }
  finish(loop, base, total, 0, loop.kept);
}

}  // namespace

std::int64_t elements_of(const TileLoop& loop) {
  std::int64_t n = 1;
  for (std::int64_t d : loop.shape) n *= d;
  return n;
}

bool is_dense(const TileLoop& loop, const TileAccess& access) {
  std::int64_t expected = 1;
  for (std::size_t d = loop.shape.size(); d-- > 0;) {
    if (loop.shape[d] != 1 && access.strides[d] != expected) return false;
    expected *= loop.shape[d];
  }
  return true;
}

bool is_one(const TileLoop& loop, const TileAccess& access) {
  for (std::size_t d = 0; d < loop.shape.size(); ++d) {
    if (loop.shape[d] != 1 && access.strides[d] != 0) return false;
  }
  return true;
}

void run_tile_loop(const TileLoop& loop, std::byte* const* base, ParallelFor parallel_for) {
  const std::int64_t total = elements_of(loop);
  if (!loop.reductions.empty()) {
    if (loop.kept == 0) return;
    if (total == 0) {
      // Nothing to combine: every result is the identity.
      const ScratchBlock memory(Accumulators::bytes(loop, loop.kept));
      const Accumulators acc(loop, memory.data(), loop.kept);
      finish(loop, base, acc, 0, loop.kept);
      return;
    }
    if (loop.reduce_inner) {
      run_reduce_inner(loop, base, parallel_for);
    } else {
      run_reduce_outer(loop, base, parallel_for);
    }
  } else if (total > 0 && !run_in_blocks(loop, base, total, parallel_for)) {
    run_elementwise(loop, base, total, parallel_for);
  }
}

}  // namespace shardax::kernels
