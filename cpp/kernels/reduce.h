// kernels/reduce.h - the loops of a reduction.
#pragma once

#include <cstdint>

#include "array/dtype.h"

namespace shardax::kernels {

// Made by kernels/reduce_loops.h. 16-bit floats reduce as float32.
struct ReduceKernels {
  DType accumulator;
  // Sets n accumulators to the identity of the reduction.
  void (*init)(void* acc, std::int64_t n);
  // acc[r] = acc[r] (op) in[r * n] (op) ... in[r * n + n - 1] for every row r; the order depends on
  // n alone.
  void (*fold)(void* acc, const void* in, std::int64_t n, std::int64_t rows);
  // acc[i] = acc[i] (op) in[i], for n elements.
  void (*zip)(void* acc, const void* in, std::int64_t n);
  // acc[i] = acc[i] (op) other[i], both accumulators.
  void (*merge)(void* acc, const void* other, std::int64_t n);
  // out[i * stride] = the result that acc[i] stands for.
  void (*finish)(void* out, std::int64_t stride, const void* acc, std::int64_t n);
};

}  // namespace shardax::kernels
