// kernels/gemm/few_rows.cpp - products of few rows of bfloat16; the other operand is read in place.
//
// Packing that operand for tiles would take longer than its product. It goes by blocks of 32 rows
// and 32 columns of b: their pairs along k become words of one vector for each 16 columns. Sums are
// those of AMX's tiles (amx.cpp): denormal numbers count as zero, too.
#include "kernels/gemm/few_rows.h"

#include <algorithm>

#include "array/half.h"
#include "base/target.h"
#include "kernels/aligned_buffer.h"
#include "kernels/ceil_div.h"
#include "kernels/gemm/kernels.h"
#include "runtime/flush_denormals.h"

#if SHARDAX_X86_64
#include <immintrin.h>

SHARDAX_BEGIN_TARGET("avx512f,avx512bw,avx2")

namespace shardax::kernels {
namespace {

constexpr std::int64_t most_rows = 8, together = 4;  // rows of all, and of one pass
constexpr std::int64_t depth = 32, strip = 32, size = 16;
// Words of pairs along k: those of 16 columns lie side by side.
using Words = std::uint32_t[2][depth / 2][size];
typedef std::uint32_t Pairs __attribute__((vector_size(64)));

// The place in its strip of each column of the words, where rows of b are contiguous: 16-bit units
// are interleaved within 128 bits.
constexpr std::int64_t column_of(std::int64_t place) {
  const std::int64_t half = place / size, lane = place % size / 4;
  return lane * 8 + half * 4 + place % 4;
}

// Rows of b from `from` on, `step` apart: n of a strip's columns, `count` of a block's rows.
void words_of_rows(const bfloat16_t* from, std::int64_t step, std::int64_t n, std::int64_t count,
                   Words& words) {
  const auto mask = static_cast<__mmask32>((std::uint64_t{1} << n) - 1);
  const auto row = [&](std::int64_t i) {
    return i < count ? _mm512_maskz_loadu_epi16(mask, from + i * step) : _mm512_setzero_si512();
  };
  for (std::int64_t t = 0; t < depth / 2; ++t) {
    const __m512i even = row(2 * t), odd = row(2 * t + 1);
    _mm512_store_si512(words[0][t], _mm512_unpacklo_epi16(even, odd));
    _mm512_store_si512(words[1][t], _mm512_unpackhi_epi16(even, odd));
  }
}

// Columns of b from `from` on, `step` apart.
void words_of_columns(const bfloat16_t* from, std::int64_t step, std::int64_t n, std::int64_t count,
                      Words& words) {
  alignas(64) std::uint32_t lines[size][size];
  const auto mask = static_cast<__mmask32>((std::uint64_t{1} << count) - 1);
  const auto turn = float_kernels<float>(Isa::avx512).turn;
  for (std::int64_t half = 0; half < 2; ++half) {
    for (std::int64_t l = 0; l < size; ++l) {
      const std::int64_t column = half * size + l;
      _mm512_store_si512(lines[l], column < n ? _mm512_maskz_loadu_epi16(mask, from + column * step)
                                              : _mm512_setzero_si512());
    }
    turn(reinterpret_cast<const float*>(lines), size, size, size, size,
         reinterpret_cast<float*>(words[half]));
  }
}

// sums[r][place] += the products of a block.
template <int rows>
[[gnu::noinline]] void add_products(const Words& words, const float* a, std::int64_t a_row,
                                    float* sums, std::int64_t width) {
  __m512 even[rows][2], odd[rows][2];
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) even[r][half] = odd[r][half] = _mm512_setzero_ps();
  }
#pragma GCC unroll 2
  for (std::int64_t t = 0; t < depth / 2; ++t) {
    __m512 low[2], upper[2];
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const Pairs pair = Pairs(_mm512_load_si512(words[half][t]));
      low[half] = __m512(pair << 16);
      upper[half] = __m512(pair & 0xffff0000u);
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      const __m512 x = _mm512_set1_ps(a[r * a_row + 2 * t]),
                   y = _mm512_set1_ps(a[r * a_row + 2 * t + 1]);
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        even[r][half] = _mm512_fmadd_ps(x, low[half], even[r][half]);
        odd[r][half] = _mm512_fmadd_ps(y, upper[half], odd[r][half]);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      float* const sum = sums + r * width + half * size;
      _mm512_storeu_ps(
          sum, _mm512_add_ps(_mm512_loadu_ps(sum), _mm512_add_ps(even[r][half], odd[r][half])));
    }
  }
}

class FewRows {
 public:
  // m is small, and b_n or b_k is 1.
  explicit FewRows(const MatmulArgs& p)
      : p_(p),
        by_rows_(p.b_n == 1),
        depth_(parts_of(p.k, depth) * depth),
        round_(float_kernels<float>(Isa::avx512).round(p.out_dtype)) {}

  void run(ParallelFor parallel_for) const {
    constexpr double bytes_a_nanosecond = 20;
    const double bytes = 2 * static_cast<double>(p_.k) * static_cast<double>(p_.n);
    const MatmulChunks plan = plan_chunks(p_, bytes / bytes_a_nanosecond, most_rows, strip);
    const auto chunk = [&](std::int64_t i) {
      if (plan.column_chunks > 1) {
        const std::int64_t j = i % plan.column_chunks * plan.columns;
        return columns(i / plan.column_chunks, j, std::min(plan.columns, p_.n - j));
      }
      const std::int64_t first = i * plan.products;
      for (std::int64_t b = first; b < std::min(p_.batch, first + plan.products); ++b)
        columns(b, 0, p_.n);
    };
    if (plan.count == 1) return chunk(0);
    parallel_for(plan.count, chunk);
  }

 private:
  // Columns [j, j + n) of one product.
  void columns(std::int64_t batch, std::int64_t j, std::int64_t n) const {
    const std::int64_t width = parts_of(n, strip) * strip;
    const AlignedBuffer<float> a(p_.m * depth_), sums(p_.m * width);
    widen(batch, a.data());
    std::fill_n(sums.data(), p_.m * width, 0.0f);
    multiply(static_cast<const bfloat16_t*>(p_.b) + batch * p_.b_batch + j * p_.b_n, n, a.data(),
             sums.data(), width);
    for (std::int64_t r = 0; r < p_.m; ++r) {
      float* const row = sums.data() + r * width;
      if (by_rows_) in_order(row, width);
      const std::int64_t at = batch * p_.c_batch + r * p_.c_m + j * p_.c_n;
      round_(row, 1, n, static_cast<std::byte*>(p_.c) + at * itemsize(p_.out_dtype), 0, p_.c_n);
    }
  }

  void widen(std::int64_t batch, float* to) const {
    const bfloat16_t* const from = static_cast<const bfloat16_t*>(p_.a) + batch * p_.a_batch;
    for (std::int64_t r = 0; r < p_.m; ++r) {
      float* const row = to + r * depth_;
      for (std::int64_t k = 0; k < p_.k; ++k) row[k] = to_float(from[r * p_.a_m + k * p_.a_k]);
      std::fill(row + p_.k, row + depth_, 0.0f);
    }
  }

  // Memory is read in the order in which it lies, and fetched some lines ahead.
  [[gnu::noinline]] void multiply(const bfloat16_t* b, std::int64_t n, const float* a, float* sums,
                                  std::int64_t width) const {
    const runtime::FlushDenormals as_tiles(true);
    if (by_rows_) {
      for (std::int64_t k = 0; k < p_.k; k += depth) {
        for (std::int64_t l = 0; l < n; l += strip) {
          const bfloat16_t* const from = b + k * p_.b_k + l;
          for (std::int64_t i = depth; i < std::min(2 * depth, p_.k - k); ++i)
            __builtin_prefetch(from + i * p_.b_k, 0, 3);
          block(from, k, std::min(strip, n - l), a, sums + l, width);
        }
      }
    } else {
      constexpr std::int64_t ahead = 4 * depth;
      for (std::int64_t l = 0; l < n; l += strip) {
        for (std::int64_t k = 0; k < p_.k; k += depth) {
          const bfloat16_t* const from = b + k + l * p_.b_n;
          for (std::int64_t i = 0; i < std::min(strip, n - l); ++i)
            __builtin_prefetch(from + i * p_.b_n + ahead, 0, 2);
          block(from, k, std::min(strip, n - l), a, sums + l, width);
        }
      }
    }
  }

  // The products of the block of b at `from`, whose rows begin with k.
  void block(const bfloat16_t* from, std::int64_t k, std::int64_t n, const float* a, float* sums,
             std::int64_t width) const {
    alignas(64) Words words;
    const std::int64_t count = std::min(depth, p_.k - k);
    by_rows_ ? words_of_rows(from, p_.b_k, n, count, words)
             : words_of_columns(from, p_.b_n, n, count, words);
    for (std::int64_t r = 0; r < p_.m; r += together) {
      const float* const rows = a + r * depth_ + k;
      float* const to = sums + r * width;
      switch (std::min(together, p_.m - r)) {
        case 1: add_products<1>(words, rows, depth_, to, width); break;
        case 2: add_products<2>(words, rows, depth_, to, width); break;
        case 3: add_products<3>(words, rows, depth_, to, width); break;
        default: add_products<4>(words, rows, depth_, to, width); break;
      }
    }
  }

  static void in_order(float* row, std::int64_t width) {
    float ordered[strip];
    for (std::int64_t j = 0; j < width; j += strip) {
      for (std::int64_t i = 0; i < strip; ++i) ordered[column_of(i)] = row[j + i];
      std::copy_n(ordered, strip, row + j);
    }
  }

  const MatmulArgs& p_;
  const bool by_rows_;
  const std::int64_t depth_;  // k, in whole blocks
  const Round<float> round_;
};

bool suits(const MatmulArgs& p) {
  return p.m <= most_rows && p.n >= strip && (p.b_n == 1 || p.b_k == 1);
}

}  // namespace

bool matmul_few_rows(const MatmulArgs& p, ParallelFor parallel_for) {
  if (p.dtype != DType::bfloat16 || p.adds || p.b_panel != 0 || !SHARDAX_CPU_SUPPORTS("avx512bw"))
    return false;
  const MatmulArgs args = suits(p) ? p : transposed(p);
  if (!suits(args)) return false;
  FewRows(args).run(parallel_for);
  return true;
}

}  // namespace shardax::kernels

SHARDAX_END_TARGET
#else

namespace shardax::kernels {

bool matmul_few_rows(const MatmulArgs&, ParallelFor) { return false; }

}  // namespace shardax::kernels
#endif
