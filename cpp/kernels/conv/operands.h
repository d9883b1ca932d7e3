// kernels/conv/operands.h - the operands of a convolution of floats, and its kernel packed.
//
// Private to kernels/conv.
#pragma once

#include <numeric>

#include "kernels/conv/tiling.h"

namespace shardax::kernels {

template <class T>
struct ConvOperands {
  ConvOperands(const ConvArgs& args, const FloatKernels<T>& table)
      : p(with_three_dimensions(args)),
        kernels(table),
        cutter(p, sizeof(T), table.vector_size, table.panel_columns),
        native_out(itemsize(args.out_dtype) == sizeof(T)) {
    std::iota(ascending, ascending + matmul_k_block, std::int64_t{0});
  }
  ConvOperands(const ConvOperands&) = delete;
  ConvOperands& operator=(const ConvOperands&) = delete;

  // Lanes of the columns of a block: the elements of rhs lie so far apart.
  std::int64_t lane_stride(const Tiling& cut) const {
    return cut.way == Strategy::lanes ? p.batch.back().rhs : p.space[2].rhs;
  }

  // A kernel that all boxes share is packed once.
  void pack_all(const Part& part, const Tiling& cut, ParallelFor parallel_for) {
    packed.reset();
    const std::int64_t columns = cutter.padded(p.o.size), size = part.steps * columns;
    if (cut.way != Strategy::features || cut.boxes() == 1 || part.steps == 0) return;
    if (cutter.batch() * size * std::int64_t{sizeof(T)} > 32 << 20) return;
    packed = std::make_unique<AlignedBuffer<T>>(cutter.batch() * size);
    const std::int64_t blocks = parts_of(part.steps, matmul_k_block);
    const auto body = [&](std::int64_t i) {
      const std::int64_t b = i / blocks, first = i % blocks * matmul_k_block;
      Steps steps;
      part.find(p, first, std::min(matmul_k_block, part.steps - first), steps);
      T* out = packed->data() + b * size + first * columns;
      const std::byte* rhs = p.rhs + batch_offset(p, b, &ConvAxis::rhs) * itemsize(p.dtype);
      for (std::int64_t j = 0; j < p.o.size; j += cutter.width())
        pack(steps, rhs, j, std::min(cutter.width(), p.o.size - j), out + j * steps.count);
    };
    const double each = 0.5 * static_cast<double>(std::min(matmul_k_block, part.steps) * columns);
    run_chunks(cutter.batch() * blocks, each, parallel_for, body);
  }

  // A panel: columns [j, j + n) of rhs, in runs of steps that lie evenly.
  void pack(const Steps& steps, const std::byte* rhs, std::int64_t j, std::int64_t n,
            T* out) const {
    const Pack<T> columns = kernels.pack(p.dtype);
    steps.each_rhs_run([&](std::int64_t k, std::int64_t count, std::int64_t stride) {
      columns(rhs + (steps.rhs[k] + j * p.o.rhs) * itemsize(p.dtype), stride, p.o.rhs, count, n,
              cutter.width(), out + k * cutter.width());
    });
  }

  const ConvArgs p;
  const FloatKernels<T>& kernels;
  const Cutter cutter;
  const bool native_out;                     // sums may be made where the result lies
  std::unique_ptr<AlignedBuffer<T>> packed;  // rhs for all boxes, or null
  std::int64_t ascending[matmul_k_block];
};

}  // namespace shardax::kernels
