// kernels/gemm/packed_dot.cpp - products of 8 and 16-bit numbers by packed dot instructions.
//
// Integers: sums are made of 32 bits and wrap, so that their order is of no account and narrower
// results are their low bits. For the instruction that multiplies unsigned bytes by signed ones
// (AVX-512 VNNI), an operand of the other kind is moved by 128. Its sums are moved by 128 times
// those of its partner.
//
// bfloat16 (AVX-512 BF16): the instruction adds the two products of a lane one after the other,
// with one rounding each, the high bits' first. This is the chain that kernels/gemm/matmul.h
// promises, but denormal numbers count as zero.
//
// With AMX, its tiles multiply both (amx.cpp).
#include <algorithm>
#include <type_traits>
#include <utility>

#include "array/half.h"
#include "base/target.h"
#include "kernels/aligned_buffer.h"
#include "kernels/ceil_div.h"
#include "kernels/gemm/amx.h"
#include "kernels/gemm/few_rows.h"
#include "kernels/gemm/kernels.h"
#include "runtime/pool.h"

#if SHARDAX_X86_64
#include <immintrin.h>
#endif

namespace shardax::kernels {
namespace {

#if SHARDAX_X86_64
typedef std::int32_t Words512 __attribute__((vector_size(64)));
typedef std::int32_t Words256 __attribute__((vector_size(32)));
typedef std::uint32_t Sums512 __attribute__((vector_size(64)));
typedef std::uint32_t Sums256 __attribute__((vector_size(32)));
typedef float Floats512 __attribute__((vector_size(64)));

SHARDAX_BEGIN_TARGET("avx512f,avx512bw,avx512vnni,avx2")
namespace vnni {
using Words = Words512;
using Sums = Sums512;
using Sum = std::uint32_t;
using Part = std::uint8_t;
constexpr int group = 4;
constexpr std::int64_t block = 256;
constexpr bool descending = false, biased = true;
[[gnu::always_inline]] inline Sums dot(Sums sums, Words a, Words b) {
  return Sums(_mm512_dpbusd_epi32(__m512i(sums), __m512i(a), __m512i(b)));
}
#include "kernels/gemm/packed_dot_packing.h"
#include "kernels/gemm/packed_dot_tile.h"
}  // namespace vnni
SHARDAX_END_TARGET

SHARDAX_BEGIN_TARGET("avx512f,avx512bw,avx512bf16,avx2")
namespace bf16 {
using Words = Words512;
using Sums = Floats512;
using Sum = float;
using Part = std::uint16_t;
constexpr int group = 2;
constexpr std::int64_t block = matmul_k_block / group;
constexpr bool descending = true, biased = false;
[[gnu::always_inline]] inline Sums dot(Sums sums, Words a, Words b) {
  return Sums(_mm512_dpbf16_ps(__m512(sums), __m512bh(a), __m512bh(b)));
}
#include "kernels/gemm/packed_dot_packing.h"
#include "kernels/gemm/packed_dot_tile.h"
}  // namespace bf16
SHARDAX_END_TARGET

SHARDAX_BEGIN_TARGET("avx2")
namespace avx2 {
using Words = Words256;
using Sums = Sums256;
using Sum = std::uint32_t;
using Part = std::uint16_t;
constexpr int group = 2;
constexpr std::int64_t block = 256;
constexpr bool descending = false, biased = false;
[[gnu::always_inline]] inline Sums dot(Sums sums, Words a, Words b) {
  return sums + Sums(_mm256_madd_epi16(__m256i(a), __m256i(b)));
}
#include "kernels/gemm/packed_dot_packing.h"
#include "kernels/gemm/packed_dot_tile.h"
}  // namespace avx2
SHARDAX_END_TARGET
#endif

using Bits16 = std::uint16_t;  // of a bfloat16
// Null where this machine, or `isa`, has no such instruction.
template <class S>
const GroupKernels<S, GroupSum<S>>* kernels_for([[maybe_unused]] Isa isa) {
#if SHARDAX_X86_64
  const bool wide = isa >= Isa::avx512 && SHARDAX_CPU_SUPPORTS("avx512bw");
  if (wide && has_tiles()) return tile_kernels<S>();
  if constexpr (std::is_same_v<S, Bits16>) {
    // Intel's processors start one of these instructions every other cycle, and four FMAs.
    const bool fast = !is_intel();
    if (wide && fast && SHARDAX_CPU_SUPPORTS("avx512bf16")) return &bf16::table<S>;
  } else {
    if (wide && SHARDAX_CPU_SUPPORTS("avx512vnni")) return &vnni::table<S>;
    if (isa != Isa::baseline) return &avx2::table<S>;
  }
#endif
  return nullptr;
}

// The largest chunks of c, whose sums stay in a second-level cache, and how many are enough.
constexpr std::int64_t chunk_rows = 96, chunk_columns = 512, fewest_chunks = 4;

// Multiplications that several threads share, and of a product that they share one by one.
constexpr double least_shared = 1.5e6, large = 64e6;

template <class S>
class GroupedProduct {
  using Sum = GroupSum<S>;

 public:
  GroupedProduct(const MatmulArgs& p, const GroupKernels<S, Sum>& kernels)
      : p_(p),
        kernels_(kernels),
        groups_(parts_of(parts_of(p.k, kernels.group), kernels.groups) * kernels.groups),
        panels_(parts_of(p.n, kernels.panel)),
        // Rows a page apart push each other out of the first-level cache. Rows of tiles, which are
        // read 16 at a time, have an odd number of its lines.
        a_row_(kernels.groups == 1 ? (groups_ % 1024 == 0 ? groups_ + 16 : groups_)
                                   : (groups_ / kernels.groups | 1) * kernels.groups),
        moves_a_(kernels.biased && std::is_signed_v<S>),
        moves_b_(kernels.biased && !std::is_signed_v<S>),
        turn_(float_kernels<float>(best_isa()).turn),
        round_(float_kernels<float>(best_isa()).round(p.out_dtype)) {
    cut();
  }

  void run(ParallelFor parallel_for) const {
    const auto alone = [](std::int64_t count, FunctionRef<void(std::int64_t)> body) {
      for (std::int64_t i = 0; i < count; ++i) body(i);
    };
    if (work() * static_cast<double>(p_.batch) < least_shared) {
      alone(p_.batch, [&](std::int64_t i) { item(i, alone); });
    } else if (by_items()) {
      parallel_for(p_.batch, [&](std::int64_t i) { item(i, alone); });
    } else {
      for (std::int64_t i = 0; i < p_.batch; ++i) item(i, parallel_for);
    }
  }

 private:
  static constexpr unsigned sign = 0x80;

  std::int64_t panel_size() const { return groups_ * kernels_.panel; }

  // Multiplications of one product.
  double work() const { return static_cast<double>(p_.m * p_.n) * static_cast<double>(p_.k); }
  // Is each product one thread's?
  bool by_items() const { return work() < (p_.batch > 1 ? large : least_shared); }

  // Chunks of nearly equal size.
  void cut() {
    const std::int64_t tile = std::max(2 * kernels_.rows, std::int64_t{12});
    std::int64_t down = parts_of(p_.m, chunk_rows), across = parts_of(p_.n, chunk_columns);
    while (!by_items() && down * across < runtime::enough_chunks(fewest_chunks)) {
      if (panels_ >= 2 * across) {
        across *= 2;
      } else if (p_.m >= 2 * tile * down) {
        down *= 2;
      } else {
        break;
      }
    }
    rows_ = parts_of(parts_of(p_.m, down), tile) * tile;
    columns_ = parts_of(panels_, across) * kernels_.panel;
  }

  // One product of the batch.
  void item(std::int64_t batch, ParallelFor parallel_for) const {
    const AlignedBuffer<std::uint32_t> packed(panels_ * panel_size());
    const AlignedBuffer<Sum> excess(panels_ * kernels_.panel);
    const std::int64_t together =
        std::clamp<std::int64_t>(panels_ / runtime::enough_chunks(8), 1, 8);
    const auto pack = [&](std::int64_t part) {
      const std::int64_t j = part * together;
      pack_panels(batch, j, std::min(together, panels_ - j), packed.data() + j * panel_size(),
                  excess.data() + j * kernels_.panel);
    };
    parallel_for(parts_of(panels_, together), pack);
    const std::int64_t across = parts_of(p_.n, columns_);
    const auto chunk = [&](std::int64_t i) {
      multiply(batch, i / across * rows_, i % across * columns_, packed.data(), excess.data());
    };
    parallel_for(parts_of(p_.m, rows_) * across, chunk);
  }

  // Packs groups along k of n lines, `step` apart, whose elements are `k_step` apart. Those of line
  // l go to to[g * g_row + l * line]; g_row or line is 1.
  void pack(const S* from, std::int64_t step, std::int64_t k_step, std::int64_t n, unsigned flip,
            std::uint32_t* to, std::int64_t g_row, std::int64_t line) const {
    constexpr std::int64_t some = 64;
    // Turned as floats: they are moved only.
    std::uint32_t block[some * std::max(chunk_rows, std::int64_t{32})];
    const auto turn = [&](std::int64_t count, std::int64_t lines, std::uint32_t* out,
                          std::int64_t width) {
      turn_(reinterpret_cast<const float*>(block), count, count, lines, width,
            reinterpret_cast<float*>(out));
    };
    const bool by_rows = step == 1 && k_step != 1;
    const std::int64_t groups = parts_of(p_.k, kernels_.group);
    for (std::int64_t l = 0; line != 1 && l < n; ++l)
      std::fill(to + l * line + groups, to + l * line + groups_, 0u);
    if (line == 1) std::fill(to + groups * g_row, to + groups_ * g_row, 0u);
    for (std::int64_t g = 0; g < groups; g += some) {
      const std::int64_t count = std::min(some, groups - g), k = g * kernels_.group;
      if (by_rows) {
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t at = k + i * kernels_.group;
          kernels_.pack_rows(from + at * k_step, k_step, n,
                             static_cast<int>(std::min(kernels_.group, p_.k - at)), flip,
                             block + i * n);
        }
        turn(n, count, to + g, line);
        continue;
      }
      const std::int64_t left = std::min(count * kernels_.group, p_.k - k);
      for (std::int64_t l = 0; l < n; ++l) {
        kernels_.pack_line(from + l * step + k * k_step, k_step, left, flip,
                           line == 1 ? block + l * count : to + l * line + g);
      }
      if (line == 1) turn(count, n, to + g * g_row, g_row);
    }
  }

  // The rows of a group, which lie too far apart for the processor to foresee them.
  void fetch(const S* from, std::int64_t k, std::int64_t columns) const {
    constexpr std::int64_t line = 64 / sizeof(S);
    const std::int64_t end = std::min(k + kernels_.group, p_.k);
    for (std::int64_t row = k; row < end; ++row) {
      for (std::int64_t l = 0; l < columns; l += line)
        __builtin_prefetch(from + row * p_.b_k + l, 0, 1);
    }
  }
  // The same of all columns of some panels, whose rows lie side by side: row by row, as memory is
  // read fastest.
  void pack_side_by_side(const S* from, std::int64_t columns, unsigned flip,
                         std::uint32_t* to) const {
    constexpr std::int64_t ahead = 4;
    const std::int64_t groups = parts_of(p_.k, kernels_.group);
    for (std::int64_t g = 0; g < groups_; ++g) {
      const std::int64_t k = g * kernels_.group;
      fetch(from, k + ahead * kernels_.group, columns);
      for (std::int64_t l = 0; l < columns; l += kernels_.panel) {
        std::uint32_t* const out = to + l / kernels_.panel * panel_size() + g * kernels_.panel;
        const std::int64_t n = std::min(kernels_.panel, columns - l);
        if (g < groups)
          kernels_.pack_rows(from + k * p_.b_k + l, p_.b_k, n,
                             static_cast<int>(std::min(kernels_.group, p_.k - k)), flip, out);
        else
          std::fill_n(out, n, 0u);
      }
    }
  }

  // `excess`: the amounts by which the sums of each column are too large.
  void pack_panels(std::int64_t batch, std::int64_t first, std::int64_t count, std::uint32_t* to,
                   Sum* excess) const {
    const std::int64_t j = first * kernels_.panel,
                       columns = std::min(count * kernels_.panel, p_.n - j);
    const S* const from = static_cast<const S*>(p_.b) + batch * p_.b_batch + j * p_.b_n;
    const unsigned flip = moves_b_ ? sign : 0;
    if (columns < count * kernels_.panel)
      std::fill_n(to + (count - 1) * panel_size(), panel_size(), 0u);
    if (p_.b_n == 1 && p_.b_k != 1) {
      pack_side_by_side(from, columns, flip, to);
    } else {
      for (std::int64_t l = 0; l < columns; l += kernels_.panel)
        pack(from + l * p_.b_n, p_.b_n, p_.b_k, std::min(kernels_.panel, columns - l), flip,
             to + l / kernels_.panel * panel_size(), kernels_.panel, 1);
    }
    if (!moves_a_) return;
    const AlignedBuffer<std::uint32_t> ones(groups_);
    std::fill_n(ones.data(), groups_, 0x01010101u);
    for (std::int64_t k = 0; k < count; ++k) {
      Sum* const of = excess + k * kernels_.panel;
      kernels_.rows_by_panel(1, groups_, ones.data(), groups_, to + k * panel_size(), of,
                             kernels_.panel, false);
      for (std::int64_t l = 0; l < kernels_.panel; ++l) of[l] *= sign;
    }
  }

  void multiply(std::int64_t batch, std::int64_t i, std::int64_t j, const std::uint32_t* packed,
                const Sum* excess) const {
    const std::int64_t rows = std::min(rows_, p_.m - i), columns = std::min(columns_, p_.n - j),
                       width = parts_of(columns, kernels_.panel) * kernels_.panel;
    const std::int64_t held = parts_of(rows, kernels_.rows) * kernels_.rows;
    const AlignedBuffer<std::uint32_t> a(held * a_row_);
    const AlignedBuffer<Sum> sums(held * width);
    const S* const from = static_cast<const S*>(p_.a) + batch * p_.a_batch + i * p_.a_m;
    pack(from, p_.a_m, p_.a_k, rows, moves_a_ ? sign : 0, a.data(), 1, a_row_);
    if (kernels_.open) kernels_.open();
    for (std::int64_t g = 0; g < groups_; g += kernels_.block) {
      for (std::int64_t l = 0; l < width; l += kernels_.panel) {
        kernels_.rows_by_panel(
            rows, std::min(kernels_.block, groups_ - g), a.data() + g, a_row_,
            packed + (j + l) / kernels_.panel * panel_size() + g * kernels_.panel, sums.data() + l,
            width, g > 0);
      }
    }
    if (kernels_.close) kernels_.close();
    for (std::int64_t r = 0; r < rows; ++r) {
      Sum* const row = sums.data() + r * width;
      if (moves_a_) {
        for (std::int64_t l = 0; l < columns; ++l) row[l] -= excess[j + l];
      }
      if (moves_b_) {
        Sum sum{};
        for (std::int64_t k = 0; k < p_.k; ++k)
          sum += static_cast<Sum>(from[r * p_.a_m + k * p_.a_k]);
        for (std::int64_t l = 0; l < columns; ++l) row[l] += sign * sum;
      }
      write(row, columns, batch * p_.c_batch + (i + r) * p_.c_m + j * p_.c_n);
    }
  }

  void write(const Sum* sums, std::int64_t n, std::int64_t at) const {
    if constexpr (std::is_same_v<Sum, float>) {
      std::byte* const to = static_cast<std::byte*>(p_.c) + at * itemsize(p_.out_dtype);
      round_(sums, 1, n, to, 0, p_.c_n);
    } else {
      const auto low = [&](auto* out) {
        for (std::int64_t l = 0; l < n; ++l)
          out[at + l * p_.c_n] = static_cast<std::remove_pointer_t<decltype(out)>>(sums[l]);
      };
      switch (itemsize(p_.out_dtype)) {
        case 1: return low(static_cast<std::uint8_t*>(p_.c));
        case 2: return low(static_cast<std::uint16_t*>(p_.c));
        default: return low(static_cast<std::uint32_t*>(p_.c));
      }
    }
  }

  const MatmulArgs& p_;
  const GroupKernels<S, Sum>& kernels_;
  const std::int64_t groups_, panels_, a_row_;
  const bool moves_a_, moves_b_;  // by 128
  std::int64_t rows_, columns_;   // of a chunk
  // For floats: functions that move words, and that write sums.
  void (*const turn_)(const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*);
  const Round<float> round_;
};

template <class S>
bool product(const MatmulArgs& p, Isa isa, ParallelFor parallel_for) {
  const auto* kernels = kernels_for<S>(isa);
  if (!kernels) return false;
  GroupedProduct<S>(p, *kernels).run(parallel_for);
  return true;
}

}  // namespace

bool matmul_grouped(const MatmulArgs& p, Isa isa, ParallelFor parallel_for) {
  if (itemsize(p.out_dtype) > 4 || p.out_dtype == DType::boolean) return false;
  // Tiles add up in an order of their own: all shapes get it.
  if (p.dtype == DType::bfloat16 && isa >= Isa::avx512 && has_tiles())
    return matmul_few_rows(p, parallel_for) || product<Bits16>(p, isa, parallel_for);
  constexpr std::int64_t least = std::int64_t{1} << 16;  // multiplications of each product
  if (p.m < 8 || p.n < 8 || p.k < 16 || p.m * p.n * p.k < least) return false;
  switch (p.dtype) {
    case DType::int8: return product<std::int8_t>(p, isa, parallel_for);
    case DType::uint8: return product<std::uint8_t>(p, isa, parallel_for);
    // Packing pays for more rows than where products are of floats anyway.
    case DType::bfloat16: return p.m >= 48 && p.n >= 48 && product<Bits16>(p, isa, parallel_for);
    default: return false;
  }
}

}  // namespace shardax::kernels
