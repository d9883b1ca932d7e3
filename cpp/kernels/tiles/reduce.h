// kernels/tiles/reduce.h - the loops of a reduction.
#pragma once

#include <algorithm>
#include <cstdint>

#include "array/dtype.h"

namespace shardax::kernels {

// The elements of a row that are reduced at a time, by lanes; their results meet in accumulators.
inline constexpr std::int64_t fold_block = 512;

// Rows that are reduced over: in parts of about as many, each in order, whose results are merged in
// order. Parts depend on how many rows there are alone, so that results do not depend on how many
// are computed together.
struct ZipParts {
  explicit ZipParts(std::int64_t reduced)
      : count(std::clamp<std::int64_t>(reduced / least_rows, 1, most)),
        rows((reduced + count - 1) / count) {}
  static constexpr std::int64_t least_rows = 128, most = 64;
  std::int64_t count, rows;
};

// Made by kernels/tiles/reduce_loops.h. 16-bit floats reduce as float32.
struct ReduceKernels {
  DType accumulator;
  // Sets n accumulators to the identity of the reduction.
  void (*init)(void* acc, std::int64_t n);
  // acc[r] = acc[r] (op) in[r * n] (op) ... in[r * n + n - 1] for every row r; the order depends on
  // n alone.
  void (*fold)(void* acc, const void* in, std::int64_t n, std::int64_t rows);
  // acc[i] = acc[i] (op) in[i] (op) in[stride + i] (op) ..., for n elements of every row, in order.
  void (*zip)(void* acc, const void* in, std::int64_t n, std::int64_t rows, std::int64_t stride);
  // acc[i] = acc[i] (op) other[i], both accumulators.
  void (*merge)(void* acc, const void* other, std::int64_t n);
  // out[i * stride] = the result that acc[i] stands for.
  void (*finish)(void* out, std::int64_t stride, const void* acc, std::int64_t n);
};

}  // namespace shardax::kernels
