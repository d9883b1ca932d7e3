// kernels/matmul_bytes.cpp - large products of 8-bit integers: one instruction multiplies groups of
// them and adds the products up.
//
// Sums are made of 32 bits and wrap, so that their order is of no account and narrower results are
// their low bits. Where the instruction multiplies unsigned bytes by signed ones (AVX-512 VNNI),
// the operand of the other kind is moved by 128, and the sums by 128 times those of its partner.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "kernels/matmul_kernels.h"
#include "kernels/room.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace shardax::kernels {
namespace {

template <class S>
struct ByteKernels {
  std::int64_t group, panel;  // elements in a lane, columns of a panel
  bool biased;
  void (*rows_by_panel)(std::int64_t rows, std::int64_t groups, const std::uint32_t* a,
                        std::int64_t a_row, const std::uint32_t* b, std::uint32_t* sums,
                        std::int64_t sums_row);
  void (*pack_line)(const S* in, std::int64_t step, std::int64_t count, unsigned flip,
                    std::uint32_t* out);
  void (*pack_rows)(const S* in, std::int64_t row, std::int64_t column, int count,
                    std::int64_t columns, unsigned flip, std::uint32_t* out);
};

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vnni,avx2")
namespace vnni {
typedef std::int32_t Words __attribute__((vector_size(64)));
constexpr int group = 4;
constexpr bool biased = true;
using Part = std::uint8_t;
[[gnu::always_inline]] inline Words dot(Words sums, Words a, Words b) {
  return Words(_mm512_dpbusd_epi32(__m512i(sums), __m512i(a), __m512i(b)));
}
#include "kernels/matmul_bytes_tile.h"
}  // namespace vnni
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
typedef std::int32_t Words __attribute__((vector_size(32)));
constexpr int group = 2;
constexpr bool biased = false;
using Part = std::uint16_t;
[[gnu::always_inline]] inline Words dot(Words sums, Words a, Words b) {
  return sums + Words(_mm256_madd_epi16(__m256i(a), __m256i(b)));
}
#include "kernels/matmul_bytes_tile.h"
}  // namespace avx2
#pragma GCC pop_options
#endif

template <class S>
const ByteKernels<S>* kernels_for(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512 && __builtin_cpu_supports("avx512vnni") &&
      __builtin_cpu_supports("avx512bw"))
    return &vnni::table<S>;
  if (isa != Isa::baseline) return &avx2::table<S>;
#endif
  return nullptr;
}

// Chunks of c, whose sums stay in a second-level cache, and steps whose part of a panel stays in a
// first-level one.
constexpr std::int64_t chunk_rows = 96, chunk_columns = 512, block_groups = 256;

// Multiplications that several threads share, and of a product that they share one by one.
constexpr double least_shared = 4e6, large = 64e6;

std::int64_t parts_of(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

template <class S>
class ByteProduct {
 public:
  ByteProduct(const MatmulArgs& p, const ByteKernels<S>& kernels)
      : p_(p),
        kernels_(kernels),
        groups_(parts_of(p.k, kernels.group)),
        panels_(parts_of(p.n, kernels.panel)),
        // Rows a page apart push each other out of the first-level cache.
        a_row_(groups_ % 1024 == 0 ? groups_ + 16 : groups_),
        shifts_a_(kernels.biased && std::is_signed_v<S>),
        shifts_b_(kernels.biased && !std::is_signed_v<S>) {}

  void run(ParallelFor parallel_for) const {
    const double work = static_cast<double>(p_.m * p_.n) * static_cast<double>(p_.k);
    const auto alone = [](std::int64_t count, FunctionRef<void(std::int64_t)> body) {
      for (std::int64_t i = 0; i < count; ++i) body(i);
    };
    if (work * static_cast<double>(p_.batch) < least_shared)
      return alone(p_.batch, [&](std::int64_t i) { item(i, alone); });
    if (work < large && p_.batch > 1)
      return parallel_for(p_.batch, [&](std::int64_t i) { item(i, alone); });
    for (std::int64_t i = 0; i < p_.batch; ++i) item(i, parallel_for);
  }

 private:
  static constexpr unsigned sign = 0x80;

  std::int64_t panel_size() const { return groups_ * kernels_.panel; }

  // One product of the batch.
  void item(std::int64_t batch, ParallelFor parallel_for) const {
    const Room<std::uint32_t> packed(panels_ * panel_size()), moved(panels_ * kernels_.panel);
    const std::int64_t row_parts = parts_of(p_.m, chunk_rows),
                       column_parts = parts_of(p_.n, chunk_columns);
    const auto pack = [&](std::int64_t j) {
      pack_panel(batch, j, packed.data() + j * panel_size(), moved.data() + j * kernels_.panel);
    };
    parallel_for(panels_, pack);
    const auto chunk = [&](std::int64_t i) {
      multiply(batch, i / column_parts * chunk_rows, i % column_parts * chunk_columns,
               packed.data(), moved.data());
    };
    parallel_for(row_parts * column_parts, chunk);
  }

  // `moved`: what the sums of each column are too large by.
  void pack_panel(std::int64_t batch, std::int64_t j, std::uint32_t* to,
                  std::uint32_t* moved) const {
    const S* const from =
        static_cast<const S*>(p_.b) + batch * p_.b_batch + j * kernels_.panel * p_.b_n;
    const std::int64_t columns = std::min(kernels_.panel, p_.n - j * kernels_.panel);
    for (std::int64_t g = 0; g < groups_; ++g) {
      const std::int64_t k = g * kernels_.group;
      kernels_.pack_rows(from + k * p_.b_k, p_.b_k, p_.b_n,
                         static_cast<int>(std::min(kernels_.group, p_.k - k)), columns,
                         shifts_b_ ? sign : 0, to + g * kernels_.panel);
    }
    std::fill_n(moved, kernels_.panel, 0u);
    if (!shifts_a_) return;
    const Room<std::uint32_t> ones(groups_);
    std::fill_n(ones.data(), groups_, 0x01010101u);
    kernels_.rows_by_panel(1, groups_, ones.data(), groups_, to, moved, kernels_.panel);
    for (std::int64_t l = 0; l < columns; ++l) moved[l] *= sign;
  }

  void multiply(std::int64_t batch, std::int64_t i, std::int64_t j, const std::uint32_t* packed,
                const std::uint32_t* moved) const {
    const std::int64_t rows = std::min(chunk_rows, p_.m - i),
                       columns = std::min(chunk_columns, p_.n - j),
                       width = parts_of(columns, kernels_.panel) * kernels_.panel;
    const Room<std::uint32_t> a(rows * a_row_), sums(rows * width);
    std::uint32_t too_small[chunk_rows];
    std::fill_n(sums.data(), rows * width, 0u);
    const S* from = static_cast<const S*>(p_.a) + batch * p_.a_batch + i * p_.a_m;
    for (std::int64_t r = 0; r < rows; ++r, from += p_.a_m) {
      kernels_.pack_line(from, p_.a_k, p_.k, shifts_a_ ? sign : 0, a.data() + r * a_row_);
      too_small[r] = 0;
      for (std::int64_t k = 0; shifts_b_ && k < p_.k; ++k)
        too_small[r] += sign * static_cast<std::uint32_t>(from[k * p_.a_k]);
    }
    for (std::int64_t g = 0; g < groups_; g += block_groups) {
      for (std::int64_t l = 0; l < width; l += kernels_.panel) {
        kernels_.rows_by_panel(
            rows, std::min(block_groups, groups_ - g), a.data() + g, a_row_,
            packed + (j + l) / kernels_.panel * panel_size() + g * kernels_.panel, sums.data() + l,
            width);
      }
    }
    const auto write = [&](auto* out) {
      using Out = std::remove_pointer_t<decltype(out)>;
      for (std::int64_t r = 0; r < rows; ++r) {
        Out* to = out + batch * p_.c_batch + (i + r) * p_.c_m + j * p_.c_n;
        for (std::int64_t l = 0; l < columns; ++l) {
          to[l * p_.c_n] = static_cast<Out>(sums[r * width + l] - moved[j + l] + too_small[r]);
        }
      }
    };
    switch (itemsize(p_.out_dtype)) {
      case 1: return write(static_cast<std::uint8_t*>(p_.c));
      case 2: return write(static_cast<std::uint16_t*>(p_.c));
      default: return write(static_cast<std::uint32_t*>(p_.c));
    }
  }

  const MatmulArgs& p_;
  const ByteKernels<S>& kernels_;
  const std::int64_t groups_, panels_, a_row_;
  const bool shifts_a_, shifts_b_;  // moved by 128
};

template <class S>
bool product(const MatmulArgs& p, Isa isa, ParallelFor parallel_for) {
  const ByteKernels<S>* kernels = kernels_for<S>(isa);
  if (!kernels) return false;
  ByteProduct<S>(p, *kernels).run(parallel_for);
  return true;
}

}  // namespace

bool matmul_bytes(const MatmulArgs& p, Isa isa, ParallelFor parallel_for) {
  constexpr std::int64_t least = std::int64_t{1} << 16;  // of each product
  if (p.m < 8 || p.n < 8 || p.k < 16 || p.m * p.n * p.k < least) return false;
  if (itemsize(p.out_dtype) > 4 || p.out_dtype == DType::boolean) return false;
  if (p.dtype == DType::int8) return product<std::int8_t>(p, isa, parallel_for);
  return p.dtype == DType::uint8 && product<std::uint8_t>(p, isa, parallel_for);
}

}  // namespace shardax::kernels
