// kernels/gemm/matmul.cpp - the entry of matrix products: types, empty cases, chunks.
#include "kernels/gemm/matmul.h"

#include <algorithm>
#include <complex>
#include <type_traits>

#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "runtime/pool.h"

namespace shardax::kernels {

namespace avx2 {
extern const FloatKernels<float> float32_kernels;
extern const FloatKernels<double> float64_kernels;
}  // namespace avx2
namespace avx512 {
extern const FloatKernels<float> float32_kernels;
extern const FloatKernels<double> float64_kernels;
extern const FloatKernels<float> float32_row_panel_kernels;
extern const FloatKernels<double> float64_row_panel_kernels;
}  // namespace avx512
namespace baseline {
extern const FloatKernels<float> float32_kernels;
extern const FloatKernels<double> float64_kernels;
}  // namespace baseline

template <class T>
const FloatKernels<T>& float_kernels(Isa isa) {
  constexpr bool single = std::is_same_v<T, float>;
  const auto pick = [](const auto& f32, const auto& f64) -> const FloatKernels<T>& {
    if constexpr (single) {
      return f32;
    } else {
      return f64;
    }
  };
#if SHARDAX_X86_64
  if (isa == Isa::avx512_intel)
    return pick(avx512::float32_row_panel_kernels, avx512::float64_row_panel_kernels);
  if (isa == Isa::avx512) return pick(avx512::float32_kernels, avx512::float64_kernels);
  if (isa == Isa::avx2) return pick(avx2::float32_kernels, avx2::float64_kernels);
#else
  (void)isa;
#endif
  return pick(baseline::float32_kernels, baseline::float64_kernels);
}
template const FloatKernels<float>& float_kernels<float>(Isa);
template const FloatKernels<double>& float_kernels<double>(Isa);

Isa best_isa() {
  static const Isa isa = !has_avx2_and_fma()                ? Isa::baseline
                         : !SHARDAX_CPU_SUPPORTS("avx512f") ? Isa::avx2
                         : is_intel()                       ? Isa::avx512_intel
                                                            : Isa::avx512;
  return isa;
}

MatmulArgs transposed(const MatmulArgs& p) {
  MatmulArgs t = p;
  t.m = p.n;
  t.n = p.m;
  t.a = p.b, t.a_batch = p.b_batch, t.a_m = p.b_n, t.a_k = p.b_k;
  t.b = p.a, t.b_batch = p.a_batch, t.b_n = p.a_m, t.b_k = p.a_k;
  t.c_m = p.c_n;
  t.c_n = p.c_m;
  return t;
}

std::int64_t matmul_panel_columns(DType dtype) {
  if (dtype == DType::float32) return float_kernels<float>(best_isa()).panel_columns;
  if (dtype == DType::float64) return float_kernels<double>(best_isa()).panel_columns;
  return 0;
}

MatmulChunks plan_chunks(const MatmulArgs& p, double nanoseconds, std::int64_t row_multiple,
                         std::int64_t column_multiple) {
  // A chunk of 12 us is worth a thread's attention; one of 10 ms is short enough to interrupt.
  // Fewer chunks pack less: 4 of less than 0.1 ms are enough, 8 of less than 1 ms, and 16
  // otherwise; for many threads, two each.
  constexpr double shortest = 12e3, longest = 10e6;
  MatmulChunks plan{p.m, p.n, 1, 1, p.batch, 1};
  if (nanoseconds * static_cast<double>(p.batch) < 2 * shortest) return plan;
  if (nanoseconds < 2 * shortest) {
    plan.products = static_cast<std::int64_t>(shortest / nanoseconds) + 1;
    plan.count = (p.batch + plan.products - 1) / plan.products;
    return plan;
  }
  std::int64_t row_parts = 1, column_parts = 1;
  while (true) {
    const double each = nanoseconds / static_cast<double>(row_parts * column_parts);
    const std::int64_t count = p.batch * row_parts * column_parts;
    const std::int64_t enough = runtime::enough_chunks(each < 0.1e6 ? 4 : each < 1e6 ? 8 : 16);
    if (each < 2 * shortest || (count >= enough && each < longest)) break;
    const std::int64_t rows = p.m / row_parts, columns = p.n / column_parts;
    if (columns >= rows && columns >= 2 * column_multiple) {
      column_parts *= 2;
    } else if (rows >= 2 * row_multiple) {
      row_parts *= 2;
    } else {
      break;
    }
  }
  const auto part = [](std::int64_t n, std::int64_t parts, std::int64_t multiple) {
    const std::int64_t size = (n + parts - 1) / parts;
    return std::min(n, (size + multiple - 1) / multiple * multiple);
  };
  plan.rows = part(p.m, row_parts, row_multiple);
  plan.columns = part(p.n, column_parts, column_multiple);
  plan.row_chunks = (p.m + plan.rows - 1) / plan.rows;
  plan.column_chunks = (p.n + plan.columns - 1) / plan.columns;
  plan.products = 1;
  plan.count = p.batch * plan.row_chunks * plan.column_chunks;
  return plan;
}

namespace {

void write_zeros(const MatmulArgs& p) {
  visit_dtype(p.out_dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t b = 0; b < p.batch; ++b) {
      for (std::int64_t i = 0; i < p.m; ++i) {
        T* row = static_cast<T*>(p.c) + b * p.c_batch + i * p.c_m;
        for (std::int64_t j = 0; j < p.n; ++j) row[j * p.c_n] = T{};
      }
    }
  });
}

// A stack of products that share an operand is one product with more rows or columns.
MatmulArgs merge_batch(MatmulArgs p) {
  if (p.batch == 1) return p;
  if (p.b_batch == 0 && p.a_batch == p.m * p.a_m && p.c_batch == p.m * p.c_m) {
    p.m *= p.batch;
    p.batch = 1;
  } else if (p.a_batch == 0 && p.b_batch == p.n * p.b_n && p.c_batch == p.n * p.c_n) {
    p.n *= p.batch;
    p.batch = 1;
  }
  return p;
}

}  // namespace

bool matmul_adds(const MatmulArgs& p) {
  // Smaller operands are read in place, by kernels that write each element once.
  constexpr std::int64_t least_bytes = 32 << 10;
  const bool floats = p.dtype == DType::float32 || p.dtype == DType::float64;
  return floats && p.out_dtype == p.dtype && p.m > 3 && p.n > 3 && p.k <= matmul_k_block &&
         p.k * std::min(p.m, p.n) * itemsize(p.dtype) > least_bytes;
}

void matmul(const MatmulArgs& args, ParallelFor parallel_for) {
  if (args.batch == 0 || args.m == 0 || args.n == 0) return;
  if (args.k == 0) return write_zeros(args);
  const MatmulArgs merged = merge_batch(args);
  if (matmul_grouped(merged, best_isa(), parallel_for)) return;
  if (is_floating(args.dtype)) {
    matmul_float(merged, best_isa(), parallel_for);
  } else if (is_complex(args.dtype)) {
    matmul_complex(merged, best_isa(), parallel_for);
  } else {
    matmul_integer(merged, parallel_for);
  }
}

std::unique_ptr<const SmallProduct> small_product(const MatmulArgs& args) {
  const bool floats = args.dtype == DType::float32 || args.dtype == DType::float64;
  if (!floats || args.adds || args.dtype != args.out_dtype ||
      args.batch * args.m * args.n * args.k == 0)
    return {};
  return small_float_product(merge_batch(args), best_isa());
}

}  // namespace shardax::kernels
