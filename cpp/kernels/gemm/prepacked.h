// kernels/gemm/prepacked.h - large products, which pack an operand once where many chunks see it.
//
// Private to kernels/gemm. It goes by some k-blocks at a time. First the part that chunks share is
// packed. Then each chunk multiplies, and packs the rest for itself, which is then in its
// second-level cache.
#pragma once

#include <algorithm>

#include "kernels/aligned_buffer.h"
#include "kernels/ceil_div.h"
#include "kernels/gemm/kernels.h"
#include "runtime/pool.h"

namespace shardax::kernels {

template <class T>
class PackedProduct {
 public:
  // For one product whose sums can be made in c, which has unit stride along n. Chunks are
  // multiples of tiles and of panels.
  PackedProduct(const MatmulArgs& args, const FloatKernels<T>& kernels, const MatmulChunks& plan)
      : args_(args),
        kernels_(kernels),
        plan_(plan),
        pack_(kernels.pack(args.dtype)),
        tile_(kernels.tile_rows),
        width_(kernels.panel_columns),
        in_panels_(kernels.row_panel != nullptr || (args.a_m == 1 && args.a_k != 1)),
        rows_in_place_(!kernels.row_panel && reads_rows_in_place<T>(args)) {
    const std::int64_t row_blocks = plan.row_chunks * parts_of(plan.rows, block_rows),
                       column_blocks = plan.column_chunks * parts_of(plan.columns, block_columns);
    if (column_blocks > few && !rows_in_place_) shared_rows_ = padded(args.m, tile_);
    if (row_blocks > few && args.b_panel == 0) shared_columns_ = padded(args.n, width_);
  }

  // Do many blocks see the same rows or columns?
  bool shares() const { return shared_rows_ + shared_columns_ > 0; }

  void run(ParallelFor parallel_for) const {
    const std::int64_t blocks = parts_of(args_.k, matmul_k_block),
                       size = (shared_rows_ + shared_columns_) * matmul_k_block;
    constexpr std::int64_t width = sizeof(T);
    const std::int64_t bytes = std::clamp(args_.m * args_.n * width, few_bytes, most_bytes);
    const std::int64_t most = std::clamp<std::int64_t>(bytes / (size * width), 1, blocks);
    const AlignedBuffer<T> room(most * size);
    const std::int64_t part = part_of(most);
    const std::int64_t row_parts = parts_of(shared_rows_, part),
                       parts = row_parts + parts_of(shared_columns_, part);
    for (std::int64_t first = 0; first < blocks; first += most) {
      const std::int64_t count = std::min(most, blocks - first);
      const auto pack = [&](std::int64_t i) {
        const std::int64_t block = first + i / parts, n = i % parts, at = n * part,
                           j = at - row_parts * part;
        T* const to = room.data() + i / parts * size;
        if (n < row_parts) {
          pack_rows(block, at, std::min(part, args_.m - at), to + at * length(block));
        } else {
          pack_columns(block, j, std::min(part, args_.n - j),
                       to + (shared_rows_ + j) * length(block));
        }
      };
      parallel_for(count * parts, pack);
      const auto multiply = [&](std::int64_t i) {
        const AlignedBuffer<T> own(own_rows + own_columns);
        for_blocks(i, [&](const Block& c) {
          for (std::int64_t b = 0; b < count; ++b)
            add(c, first + b, room.data() + b * size, own.data());
        });
      };
      parallel_for(plan_.count, multiply);
    }
  }

 private:
  // The bytes that chunks share of some k-blocks: about as much as c, which each time is read
  // again.
  static constexpr std::int64_t few_bytes = 4 << 20, most_bytes = 32 << 20;
  // Blocks that see the same may as well pack it each.
  static constexpr std::int64_t few = 1;
  // Rows or columns that are packed at a time, of so many k-blocks: a multiple of tiles and panels.
  std::int64_t part_of(std::int64_t blocks) const {
    constexpr std::int64_t least = 96, most = 384, enough = 4;
    const std::int64_t parts = runtime::enough_chunks(enough);
    return std::clamp(parts_of(blocks * (shared_rows_ + shared_columns_), parts) / least * least,
                      least, most);
  }
  // Blocks of c: the parts of a and b that a block packs for itself, and its sums, stay in a
  // second-level cache.
  static constexpr std::int64_t block_rows = 132, block_columns = 512;
  static constexpr std::int64_t own_rows = block_rows * matmul_k_block,
                                own_columns = block_columns * matmul_k_block;

  struct Block {
    std::int64_t i, j, m, n;
  };

  static std::int64_t padded(std::int64_t n, std::int64_t size) { return parts_of(n, size) * size; }
  // Parts of nearly equal size, of at most `most`.
  static std::int64_t even(std::int64_t n, std::int64_t most, std::int64_t multiple) {
    return padded(parts_of(n, parts_of(n, most)), multiple);
  }
  std::int64_t length(std::int64_t block) const {
    return std::min(matmul_k_block, args_.k - block * matmul_k_block);
  }
  // From where rows of a are packed.
  const void* rows_at(std::int64_t block, std::int64_t i) const {
    return at(args_.a, i * args_.a_m + block * matmul_k_block * args_.a_k);
  }
  const void* at(const void* data, std::int64_t offset) const {
    return static_cast<const std::byte*>(data) + offset * itemsize(args_.dtype);
  }

  // Panels of a tile's rows, or rows one after the other.
  void pack_rows(std::int64_t block, std::int64_t i, std::int64_t rows, T* to) const {
    const std::int64_t n = length(block);
    const void* from = rows_at(block, i);
    if (in_panels_) {
      pack_(from, args_.a_k, args_.a_m, n, rows, tile_, to);
    } else {
      pack_(from, args_.a_m, args_.a_k, rows, n, n, to);
    }
  }
  void pack_columns(std::int64_t block, std::int64_t j, std::int64_t columns, T* to) const {
    const void* from = at(args_.b, block * matmul_k_block * args_.b_k + j * args_.b_n);
    pack_(from, args_.b_k, args_.b_n, length(block), columns, width_, to);
  }

  // Prefetches the packed rows of a for a k-block, while panel `panel` of `panels` is multiplied.
  void fetch_rows(const Block& c, std::int64_t block, std::int64_t panel,
                  std::int64_t panels) const {
    if (block * matmul_k_block >= args_.k) return;
    constexpr std::int64_t line = 64;
    const std::int64_t k = length(block), size = itemsize(args_.dtype);
    const bool turned = args_.a_k != 1;
    const std::int64_t count = turned ? k : c.m, bytes = (turned ? c.m : k) * size,
                       step = (turned ? args_.a_k : args_.a_m) * size;
    const auto* from = static_cast<const std::byte*>(rows_at(block, c.i));
    for (std::int64_t r = count * panel / panels; r < count * (panel + 1) / panels; ++r) {
      for (std::int64_t b = 0; b < bytes; b += line) __builtin_prefetch(from + r * step + b, 0, 2);
    }
  }

  template <class F>
  void for_blocks(std::int64_t chunk, F&& f) const {
    const std::int64_t i0 = chunk / plan_.column_chunks * plan_.rows,
                       j0 = chunk % plan_.column_chunks * plan_.columns;
    const std::int64_t i1 = std::min(args_.m, i0 + plan_.rows),
                       j1 = std::min(args_.n, j0 + plan_.columns);
    const std::int64_t rows = even(i1 - i0, block_rows, tile_),
                       columns = even(j1 - j0, block_columns, width_);
    for (std::int64_t i = i0; i < i1; i += rows) {
      for (std::int64_t j = j0; j < j1; j += columns)
        f(Block{i, j, std::min(rows, i1 - i), std::min(columns, j1 - j)});
    }
  }

  // The products of one k-block; the first ones are written, or added to c.
  void add(const Block& c, std::int64_t block, const T* shared, T* own) const {
    const std::int64_t k = length(block);
    const T *a = shared + c.i * k, *b = shared + (shared_rows_ + c.j) * k;
    if (rows_in_place_) {
      a = static_cast<const T*>(args_.a) + c.i * args_.a_m + block * matmul_k_block;
    } else if (shared_rows_ == 0) {
      pack_rows(block, c.i, c.m, own), a = own;
    }
    const std::int64_t row = rows_in_place_ ? args_.a_m : k;
    if (args_.b_panel != 0) {
      b = panel_of<T>(args_, width_, c.j, block * matmul_k_block);
    } else if (shared_columns_ == 0) {
      pack_columns(block, c.j, c.n, own + own_rows), b = own + own_rows;
    }
    const std::int64_t panel = args_.b_panel ? args_.b_panel : width_ * k;
    Product<T> p{};
    p.k = k;
    p.a_m = in_panels_ ? 1 : row;
    p.a_k = in_panels_ ? tile_ : 1;
    p.b_k = width_;
    p.b_n = 1;
    p.c_m = args_.c_m;
    T* const out = static_cast<T*>(args_.c) + c.i * args_.c_m + c.j;
    const auto multiply = kernels_.row_panel ? kernels_.row_panel : kernels_.panel;
    const std::int64_t rows = in_panels_ && !kernels_.row_panel ? tile_ : c.m;
    const bool packs = !rows_in_place_ && shared_rows_ == 0 && (args_.a_m == 1 || args_.a_k == 1);
    for (std::int64_t j = 0; j < c.n; j += width_) {
      if (packs) fetch_rows(c, block + 1, j / width_, parts_of(c.n, width_));
      p.n = std::min(width_, c.n - j);
      p.b = b + j / width_ * panel;
      for (std::int64_t i = 0; i < c.m; i += rows) {
        p.m = std::min(rows, c.m - i);
        p.a = a + i * row;
        p.c = out + i * args_.c_m + j;
        multiply(p, block > 0 || args_.adds);
      }
    }
  }

  const MatmulArgs& args_;
  const FloatKernels<T>& kernels_;
  const MatmulChunks& plan_;
  Pack<T> pack_;
  std::int64_t tile_, width_;
  bool in_panels_;                                     // a is packed in panels
  bool rows_in_place_;                                 // a is not packed
  std::int64_t shared_rows_ = 0, shared_columns_ = 0;  // 0: each chunk packs them for itself
};

}  // namespace shardax::kernels
