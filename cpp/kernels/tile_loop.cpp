// kernels/tile_loop.cpp - walking tiles: loads, instructions, stores, accumulation.
#include "kernels/tile_loop.h"

#include <cstring>
#include <memory>

#include "kernels/copy.h"

namespace shardax::kernels {
namespace {

constexpr std::int64_t register_bytes = tile_size * 16;

// Elements of a chunk, the unit handed to a thread: about 20 us of a short chain (0.26 ns an
// element and instruction), so that small loops are one chunk.
constexpr std::int64_t chunk_elements = 32 * tile_size;

struct Scratch {
  std::vector<std::unique_ptr<std::byte[]>> blocks;
  std::vector<std::size_t> sizes;
  std::size_t depth = 0;
};

// A block of this thread's scratch memory, given back in the order of a stack.
class ScratchBlock {
 public:
  explicit ScratchBlock(std::size_t bytes) : scratch_(instance()) {
    if (scratch_.depth == scratch_.blocks.size()) {
      scratch_.blocks.emplace_back();
      scratch_.sizes.push_back(0);
    }
    auto& block = scratch_.blocks[scratch_.depth];
    if (scratch_.sizes[scratch_.depth] < bytes + 64) {
      block.reset(new std::byte[bytes + 64]);
      scratch_.sizes[scratch_.depth] = bytes + 64;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(block.get());
    data_ = block.get() + ((64 - address % 64) % 64);
    ++scratch_.depth;
  }
  ~ScratchBlock() { --scratch_.depth; }
  ScratchBlock(const ScratchBlock&) = delete;
  ScratchBlock& operator=(const ScratchBlock&) = delete;
  std::byte* data() const { return data_; }

 private:
  static Scratch& instance() {
    thread_local Scratch scratch;
    return scratch;
  }
  Scratch& scratch_;
  std::byte* data_;
};

template <class F>
void with_width(int itemsize, F&& f) {
  switch (itemsize) {
    case 1: return f(std::uint8_t{});
    case 2: return f(std::uint16_t{});
    case 4: return f(std::uint32_t{});
    case 8: return f(std::uint64_t{});
    default: {
      struct Wide {
        std::uint64_t low, high;
      };
      return f(Wide{});
    }
  }
}

enum class Access : std::uint8_t { contiguous, constant, strided };

// Walks one loop on one thread: where each operand of the current tile lies.
class Walker {
 public:
  Walker(const TileLoop& loop, std::byte* const* base, std::byte* scratch)
      : loop_(loop), rank_(loop.shape.size()), scratch_(scratch) {
    const std::size_t count =
        loop.loads.size() + static_cast<std::size_t>(loop.registers) + loop.stores.size();
    pointers_.resize(count);
    for (std::size_t i = 0; i < loop.loads.size(); ++i) {
      memory_.push_back(address(loop.loads[i], base));
      kinds_.push_back(classify(loop.loads[i]));
      if (kinds_[i] == Access::constant) fill(i, tile_size_used());
    }
    for (int r = 0; r < loop.registers; ++r) {
      const std::size_t slot = loop.loads.size() + static_cast<std::size_t>(r);
      pointers_[slot] = scratch_ + slot * register_bytes;
    }
    for (std::size_t i = 0; i < loop.stores.size(); ++i) {
      memory_.push_back(address(loop.stores[i], base));
      kinds_.push_back(classify(loop.stores[i]));
    }
  }

  // Computes elements [start, start + n) of the flat order, which lie within one tile.
  void tile(std::int64_t start, std::int64_t n) {
    const std::size_t loads = loop_.loads.size();
    for (std::size_t i = 0; i < loads; ++i) {
      const int width = loop_.loads[i].itemsize;
      if (kinds_[i] == Access::contiguous) {
        pointers_[i] = memory_[i] + start * width;
      } else if (kinds_[i] == Access::strided) {
        gather(i, start, n);
      }
    }
    const std::size_t first_store = loads + static_cast<std::size_t>(loop_.registers);
    for (std::size_t i = 0; i < loop_.stores.size(); ++i) {
      const int width = loop_.stores[i].itemsize;
      pointers_[first_store + i] = kinds_[loads + i] == Access::contiguous
                                       ? memory_[loads + i] + start * width
                                       : scratch_ + (first_store + i) * register_bytes;
    }
    for (const TileInstruction& instruction : loop_.instructions) {
      const void* in[8];
      const void** operands = in;
      std::vector<const void*> many;
      if (instruction.in.size() > 8) {
        many.resize(instruction.in.size());
        operands = many.data();
      }
      for (std::size_t k = 0; k < instruction.in.size(); ++k) {
        operands[k] = pointers_[static_cast<std::size_t>(instruction.in[k])];
      }
      instruction.function(pointers_[static_cast<std::size_t>(instruction.out)], operands, n,
                           instruction.extra);
    }
    for (const auto& [from, to] : loop_.copies) {
      const auto store = static_cast<std::size_t>(to) - first_store;
      std::memcpy(pointers_[static_cast<std::size_t>(to)],
                  pointers_[static_cast<std::size_t>(from)],
                  static_cast<std::size_t>(n * loop_.stores[store].itemsize));
    }
    for (std::size_t i = 0; i < loop_.stores.size(); ++i) {
      if (kinds_[loads + i] != Access::contiguous) scatter(i, first_store + i, start, n);
    }
  }

  const std::byte* operand(std::int32_t i) const { return pointers_[static_cast<std::size_t>(i)]; }

 private:
  static std::byte* address(const TileAccess& access, std::byte* const* base) {
    return base[access.pointer] + access.offset * access.itemsize;
  }

  std::int64_t tile_size_used() const {
    std::int64_t n = 1;
    for (std::int64_t d : loop_.shape) n *= d;
    return std::min(n, tile_size);
  }

  Access classify(const TileAccess& access) const {
    bool zero = true;
    for (std::size_t d = 0; d < rank_; ++d)
      zero = zero && (access.strides[d] == 0 || loop_.shape[d] == 1);
    if (zero) return Access::constant;
    return is_dense(access) ? Access::contiguous : Access::strided;
  }
  bool is_dense(const TileAccess& access) const {
    std::int64_t expected = 1;
    for (std::size_t d = rank_; d-- > 0;) {
      if (loop_.shape[d] != 1 && access.strides[d] != expected) return false;
      expected *= loop_.shape[d];
    }
    return true;
  }

  void fill(std::size_t i, std::int64_t n) {
    pointers_[i] = scratch_ + i * register_bytes;
    with_width(loop_.loads[i].itemsize, [&](auto zero) {
      using T = decltype(zero);
      T value;
      std::memcpy(&value, memory_[i], sizeof value);
      T* out = reinterpret_cast<T*>(pointers_[i]);
      for (std::int64_t k = 0; k < n; ++k) out[k] = value;
    });
  }

  // Calls run(position in tile, element offset, count, stride) for each run of the innermost
  // dimension that [start, start + n) covers.
  template <class F>
  void runs(const TileAccess& access, std::int64_t start, std::int64_t n, F&& run) const {
    std::int64_t index[16];
    std::int64_t offset = 0, rest = start;
    for (std::size_t d = rank_; d-- > 0;) {
      index[d] = rest % loop_.shape[d];
      rest /= loop_.shape[d];
      offset += index[d] * access.strides[d];
    }
    const std::size_t last = rank_ - 1;
    std::int64_t done = 0;
    while (done < n) {
      const std::int64_t count = std::min(n - done, loop_.shape[last] - index[last]);
      run(done, offset, count, access.strides[last]);
      done += count;
      offset += count * access.strides[last];
      index[last] += count;
      for (std::size_t d = last; d > 0 && index[d] == loop_.shape[d]; --d) {
        offset -= loop_.shape[d] * access.strides[d];
        index[d] = 0;
        ++index[d - 1];
        offset += access.strides[d - 1];
      }
    }
  }

  void gather(std::size_t i, std::int64_t start, std::int64_t n) {
    const TileAccess& access = loop_.loads[i];
    with_width(access.itemsize, [&](auto zero) {
      using T = decltype(zero);
      const T* memory = reinterpret_cast<const T*>(memory_[i]);
      T* out = reinterpret_cast<T*>(scratch_ + i * register_bytes);
      pointers_[i] = scratch_ + i * register_bytes;
      runs(access, start, n,
           [&](std::int64_t at, std::int64_t offset, std::int64_t count, std::int64_t stride) {
             if (stride == 1 && count == n) {
               pointers_[i] =
                   const_cast<std::byte*>(reinterpret_cast<const std::byte*>(memory + offset));
             } else if (stride == 1) {
               for (std::int64_t k = 0; k < count; ++k) out[at + k] = memory[offset + k];
             } else if (stride == 0) {
               const T value = memory[offset];
               for (std::int64_t k = 0; k < count; ++k) out[at + k] = value;
             } else {
               for (std::int64_t k = 0; k < count; ++k) out[at + k] = memory[offset + k * stride];
             }
           });
    });
  }

  void scatter(std::size_t store, std::size_t slot, std::int64_t start, std::int64_t n) {
    const TileAccess& access = loop_.stores[store];
    std::byte* target = memory_[loop_.loads.size() + store];
    with_width(access.itemsize, [&](auto zero) {
      using T = decltype(zero);
      T* memory = reinterpret_cast<T*>(target);
      const T* in = reinterpret_cast<const T*>(pointers_[slot]);
      if (rank_ == 0) {
        *memory = *in;
        return;
      }
      runs(access, start, n,
           [&](std::int64_t at, std::int64_t offset, std::int64_t count, std::int64_t stride) {
             for (std::int64_t k = 0; k < count; ++k) memory[offset + k * stride] = in[at + k];
           });
    });
  }

  const TileLoop& loop_;
  std::size_t rank_;
  std::byte* scratch_;
  SmallVector<std::byte*, 16> pointers_;  // per operand, for the current tile
  SmallVector<std::byte*, 16> memory_;    // per load, then per store
  SmallVector<Access, 16> kinds_;
};

std::size_t scratch_bytes(const TileLoop& loop) {
  return (loop.loads.size() + static_cast<std::size_t>(loop.registers) + loop.stores.size()) *
         static_cast<std::size_t>(register_bytes);
}

// Where a tile that starts at `start` ends: rows of at least 64 elements are not crossed, so that
// operands with a dense last dimension are read in place.
std::int64_t tile_end(std::int64_t start, std::int64_t end, std::int64_t row) {
  const std::int64_t limit = row >= 64 ? (start / row + 1) * row : end;
  return std::min({start + tile_size, end, limit});
}

std::int64_t row_of(const TileLoop& loop) {
  if (loop.shape.size() < 2) return 0;
  return loop.shape.back();
}

void run_elementwise(const TileLoop& loop, std::byte* const* base, std::int64_t total,
                     ParallelFor parallel_for) {
  const std::int64_t row = row_of(loop);
  parallel_for((total + chunk_elements - 1) / chunk_elements, [&](std::int64_t chunk) {
    const ScratchBlock scratch(scratch_bytes(loop));
    Walker walker(loop, base, scratch.data());
    const std::int64_t end = std::min(total, (chunk + 1) * chunk_elements);
    for (std::int64_t at = chunk * chunk_elements; at < end;) {
      const std::int64_t next = tile_end(at, end, row);
      walker.tile(at, next - at);
      at = next;
    }
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
  // Several rows at once only where whole rows are folded; else there is one row.
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t row_end =
        whole && loop.reduced < tile_size / 2 ? end : (at / loop.reduced) * loop.reduced + to;
    std::int64_t next = std::min(tile_end(at, end, row), row_end);
    if (whole && loop.reduced < tile_size / 2 && row < 64) {
      // A tile of whole rows.
      const std::int64_t rows = std::min((end - at) / loop.reduced, tile_size / loop.reduced);
      next = at + rows * loop.reduced;
    }
    const std::int64_t n = next - at;
    walker.tile(at, n);
    for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
      const TileReduction& r = loop.reductions[i];
      const std::byte* in = walker.operand(r.in);
      for (std::int64_t done = 0; done < n;) {
        const std::int64_t k = (at + done) / loop.reduced;
        const std::int64_t count = std::min(n - done, (k + 1) * loop.reduced - (at + done));
        r.kernels.fold(acc.rows[i] + (k - first) * r.accumulator_size, in + done * r.itemsize,
                       count);
        done += count;
      }
    }
    at = next;
  }
}

void run_reduce_inner(const TileLoop& loop, std::byte* const* base, ParallelFor parallel_for) {
  const std::int64_t rows_per_chunk =
      std::max<std::int64_t>(1, chunk_elements / std::max<std::int64_t>(loop.reduced, 1));
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

// [reduced, kept]: zips rows [from, to) into accumulators for the kept range [first, last).
void zip_rows(const TileLoop& loop, Walker& walker, Accumulators& acc, std::int64_t from,
              std::int64_t to, std::int64_t first, std::int64_t last) {
  const bool whole = first == 0 && last == loop.kept;
  const std::int64_t row = row_of(loop);
  const auto zip = [&](std::int64_t at, std::int64_t n) {
    walker.tile(at, n);
    for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
      const TileReduction& r = loop.reductions[i];
      const std::byte* in = walker.operand(r.in);
      for (std::int64_t done = 0; done < n;) {
        const std::int64_t k = (at + done) % loop.kept;
        const std::int64_t count = std::min(n - done, loop.kept - k);
        r.kernels.zip(acc.rows[i] + (k - first) * r.accumulator_size, in + done * r.itemsize,
                      count);
        done += count;
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
  // Wide rows: each chunk owns a range of results. Narrow ones: each owns a range of rows.
  constexpr std::int64_t wide = 4 * tile_size;
  if (loop.kept >= wide) {
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
  const std::int64_t rows =
      std::max<std::int64_t>(1, chunk_elements / std::max<std::int64_t>(loop.kept, 1));
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

void run_tile_loop(const TileLoop& loop, std::byte* const* base, ParallelFor parallel_for) {
  std::int64_t total = 1;
  for (std::int64_t d : loop.shape) total *= d;
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
  } else if (total > 0) {
    run_elementwise(loop, base, total, parallel_for);
  }
}

}  // namespace shardax::kernels
