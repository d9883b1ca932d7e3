// kernels/tiles/tile_loop.cpp - loops in chunks for threads: elementwise, and with reductions.
#include "kernels/tiles/tile_loop.h"

#include <algorithm>

#include "base/index.h"
#include "kernels/tiles/accumulators.h"
#include "kernels/tiles/block_loop.h"
#include "kernels/tiles/tile_iterator.h"
#include "runtime/pool.h"

namespace shardax::kernels {
namespace {

// The end of a tile that starts at `start`. Long rows are not crossed, so that operands with a
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
    TileIterator walker(loop, base, scratch.data());
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

// [kept, reduced]: folds the elements of [from, to) of every row in [first, last).
void fold_rows(const TileLoop& loop, TileIterator& walker, Accumulators& acc, std::int64_t first,
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

// The same of whole rows: long ones in pieces, whose results are merged in order.
void fold_whole_rows(const TileLoop& loop, TileIterator& walker, Accumulators& acc,
                     std::int64_t first, std::int64_t last) {
  if (loop.reduced <= chunk_elements)
    return fold_rows(loop, walker, acc, first, last, 0, loop.reduced);
  const ScratchBlock memory(Accumulators::bytes(loop, 1));
  Accumulators part(loop, memory.data(), 1);
  for (std::int64_t k = first; k < last; ++k) {
    Accumulators total = acc.range(k - first, 1);
    for (std::int64_t from = 0; from < loop.reduced; from += chunk_elements) {
      part.init();
      fold_rows(loop, walker, part, k, k + 1, from, std::min(loop.reduced, from + chunk_elements));
      total.merge(part);
    }
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
      acc.init();
      TileIterator walker(loop, base, scratch.data());
      fold_whole_rows(loop, walker, acc, first, last);
      acc.finish(base, first);
    });
    return;
  }
  // Few rows: threads share the pieces of each.
  const std::int64_t pieces = (loop.reduced + chunk_elements - 1) / chunk_elements;
  const std::size_t piece_bytes = Accumulators::bytes(loop, 1);
  const ScratchBlock memory(piece_bytes * index(pieces * loop.kept));
  const auto part = [&](std::int64_t i) {
    return Accumulators(loop, memory.data() + index(i) * piece_bytes, 1);
  };
  parallel_for(pieces * loop.kept, [&](std::int64_t chunk) {
    const std::int64_t k = chunk / pieces, from = chunk % pieces * chunk_elements;
    const ScratchBlock scratch(scratch_bytes(loop));
    Accumulators acc = part(chunk);
    acc.init();
    TileIterator walker(loop, base, scratch.data());
    fold_rows(loop, walker, acc, k, k + 1, from, std::min(loop.reduced, from + chunk_elements));
  });
  const ScratchBlock total_memory(piece_bytes);
  Accumulators total(loop, total_memory.data(), 1);
  for (std::int64_t k = 0; k < loop.kept; ++k) {
    total.init();
    for (std::int64_t p = 0; p < pieces; ++p) total.merge(part(k * pieces + p));
    total.finish(base, k);
  }
}

// Rows of memory that are reduced together, and the elements of each: their accumulators stay in
// the first-level cache.
constexpr std::int64_t rows_together = 8, strip = 4 * tile_size;

// [reduced, kept], in memory: zips rows [from, to) of the kept range [first, last).
void zip_in_place(const TileLoop& loop, TileIterator& walker, Accumulators& acc, std::int64_t from,
                  std::int64_t to, std::int64_t first, std::int64_t last) {
  for (std::int64_t r = from; r < to; r += rows_together) {
    for (std::int64_t k = first; k < last; k += strip) {
      const std::int64_t n = std::min(strip, last - k);
      walker.tile(r * loop.kept + k, n);
      for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
        const TileReduction& reduction = loop.reductions[i];
        reduction.kernels.zip(acc.rows[i] + (k - first) * reduction.accumulator_size,
                              walker.operand(reduction.in), n, std::min(rows_together, to - r),
                              loop.loads[index(reduction.in)].strides[0]);
      }
    }
  }
}

// [reduced, kept]: zips rows [from, to) into accumulators for the kept range [first, last).
void zip_rows(const TileLoop& loop, TileIterator& walker, Accumulators& acc, std::int64_t from,
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
  const ZipParts parts(loop.reduced);
  const auto zip_part = [&](TileIterator& walker, Accumulators& acc, std::int64_t p,
                            std::int64_t first, std::int64_t last) {
    acc.init();
    zip_rows(loop, walker, acc, p * parts.rows, std::min(loop.reduced, (p + 1) * parts.rows), first,
             last);
  };
  // Wide rows are cut into ranges of results. If there are very many, each chunk owns a range.
  // Otherwise it owns a range of a part, or several parts, and few accumulators are merged.
  constexpr std::int64_t most_results = std::int64_t{1} << 19, wide = 4 * tile_size;
  const bool owns = loop.kept * parts.count > most_results;
  const std::int64_t wanted = owns ? 8 * tile_size : 8 * chunk_elements / parts.rows;
  const std::int64_t tiles = std::max<std::int64_t>(1, std::min(wanted, loop.kept / 8) / tile_size);
  const std::int64_t width = loop.kept < wide ? loop.kept : tiles * tile_size;
  const std::int64_t ranges = (loop.kept + width - 1) / width;
  if (owns) {
    parallel_for(ranges, [&](std::int64_t range) {
      const std::int64_t first = range * width, last = std::min(loop.kept, first + width);
      const ScratchBlock scratch(scratch_bytes(loop));
      const std::size_t bytes = Accumulators::bytes(loop, last - first);
      const ScratchBlock memory(2 * bytes);
      Accumulators total(loop, memory.data(), last - first);
      Accumulators part(loop, memory.data() + bytes, last - first);
      TileIterator walker(loop, base, scratch.data());
      zip_part(walker, total, 0, first, last);
      for (std::int64_t p = 1; p < parts.count; ++p) {
        zip_part(walker, part, p, first, last);
        total.merge(part);
      }
      total.finish(base, first);
    });
    return;
  }
  const std::int64_t together = std::max<std::int64_t>(1, chunk_elements / (parts.rows * width));
  const std::size_t bytes = Accumulators::bytes(loop, loop.kept);
  const ScratchBlock memory(bytes * index(parts.count));
  const auto part = [&](std::int64_t p) {
    return Accumulators(loop, memory.data() + bytes * index(p), loop.kept);
  };
  parallel_for((parts.count + together - 1) / together * ranges, [&](std::int64_t chunk) {
    const ScratchBlock scratch(scratch_bytes(loop));
    TileIterator walker(loop, base, scratch.data());
    const std::int64_t first = chunk % ranges * width, last = std::min(loop.kept, first + width);
    const std::int64_t from = chunk / ranges * together;
    for (std::int64_t p = from; p < std::min(parts.count, from + together); ++p) {
      Accumulators acc = part(p).range(first, last - first);
      zip_part(walker, acc, p, first, last);
    }
  });
  Accumulators total = part(0);
  for (std::int64_t p = 1; p < parts.count; ++p) total.merge(part(p));
  total.finish(base, 0);
}

}  // namespace

std::int64_t free_chunk_elements(const TileLoop& loop, std::int64_t total) {
  constexpr std::int64_t least = 4 * tile_size;
  const std::int64_t most_chunks = runtime::enough_chunks(8);
  const auto instructions = static_cast<std::int64_t>(loop.instructions.size());
  const std::int64_t worth_it = std::max(least, chunk_elements / (1 + instructions / 4));
  const std::int64_t even = (total + most_chunks - 1) / most_chunks;
  return std::clamp((even + tile_size - 1) / tile_size * tile_size, worth_it, chunk_elements);
}

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
      Accumulators acc(loop, memory.data(), loop.kept);
      acc.init();
      acc.finish(base, 0);
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
