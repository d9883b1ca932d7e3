// kernels/gemm/packed_dot_chunks.h - the chunks of products of groups (packed_dot.cpp).
//
// Private to kernels/gemm. Bits depend on none of this.
#pragma once

#include <cstdint>

#include "kernels/gemm/matmul.h"

namespace shardax::kernels {

// Chunks have no more rows.
constexpr std::int64_t most_chunk_rows = 192;

// The limits of chunks, by instructions and their second-level caches.
struct GroupLimits {
  std::int64_t rows = 96, columns = 512;  // of a chunk
  std::int64_t words = 1 << 20;           // of its rows, as far as they are more than 96
  std::int64_t least_own = 512;           // groups along k from which few rows have chunks of the
                                          // second kind
  double packing = 14;                    // multiplications that take as long as an element
};

// Chunks are of two kinds. Those of the first read columns that are packed for all before. Those of
// the second, of long or narrow products, pack the columns which they multiply, some groups along k
// at a time.
struct GroupChunks {
  bool own;                // the second kind?
  std::int64_t stretch;    // groups along k that are packed at a time
  std::int64_t down;       // chunks along rows
  std::int64_t columns;    // of a chunk
  std::int64_t together;   // columns whose sums a chunk has at a time
  double multiplications;  // of one product
  bool by_items;           // is each product one thread's?
};

// Products of `groups` along k. Chunks start at multiples of `tile_rows` and of `panel` columns.
GroupChunks cut_groups(const MatmulArgs& p, const GroupLimits& limits, std::int64_t groups,
                       std::int64_t tile_rows, std::int64_t panel);

// Multiplications that several threads share.
constexpr double least_shared = 1.5e6;

}  // namespace shardax::kernels
