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
#include <cstddef>
#include <type_traits>
#include <utility>

#include "array/half.h"
#include "base/target.h"
#include "kernels/aligned_buffer.h"
#include "kernels/ceil_div.h"
#include "kernels/gemm/amx.h"
#include "kernels/gemm/few_rows.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/packed_dot_chunks.h"
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
constexpr std::nullptr_t round_rows = nullptr;
#include "kernels/gemm/packed_dot_packing.h"
#include "kernels/gemm/packed_dot_rows.h"
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
#include "kernels/gemm/packed_dot_pairs.h"
#include "kernels/gemm/packed_dot_round.h"
#include "kernels/gemm/packed_dot_tile.h"
namespace low_first {
constexpr bool descending = false;
#include "kernels/gemm/packed_dot_packing.h"
#include "kernels/gemm/packed_dot_pairs.h"
}  // namespace low_first
constexpr GroupKernels<std::uint16_t, float> pairs = [] {
  GroupKernels<std::uint16_t, float> kernels = table<std::uint16_t>;
  kernels.pack_line = low_first::pack_line<std::uint16_t>;
  kernels.pack_rows = low_first::pack_rows<std::uint16_t>;
  return kernels;
}();
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
constexpr std::nullptr_t round_rows = nullptr;
#include "kernels/gemm/packed_dot_packing.h"
#include "kernels/gemm/packed_dot_rows.h"
#include "kernels/gemm/packed_dot_tile.h"
}  // namespace avx2
SHARDAX_END_TARGET
#endif

using Bits16 = std::uint16_t;  // of a bfloat16

// Intel's processors start one of these instructions every other cycle, and four FMAs.
bool has_fast_pairs() {
#if SHARDAX_X86_64
  return SHARDAX_CPU_SUPPORTS("avx512bw") && !is_intel() && SHARDAX_CPU_SUPPORTS("avx512bf16");
#else
  return false;
#endif
}

// Null where this machine, or `isa`, has no such instruction.
template <class S>
const GroupKernels<S, GroupSum<S>>* kernels_for([[maybe_unused]] Isa isa) {
#if SHARDAX_X86_64
  const bool wide = isa >= Isa::avx512 && SHARDAX_CPU_SUPPORTS("avx512bw");
  if (wide && has_tiles()) return tile_kernels<S>();
  if constexpr (std::is_same_v<S, Bits16>) {
    if (isa >= Isa::avx512 && has_fast_pairs()) return &bf16::table<S>;
  } else {
    if (wide && SHARDAX_CPU_SUPPORTS("avx512vnni")) return &vnni::table<S>;
    if (isa != Isa::baseline) return &avx2::table<S>;
  }
#endif
  return nullptr;
}

// Groups along k.
struct Stretch {
  std::int64_t first, count;
};

template <class S>
class GroupedProduct {
  using Sum = GroupSum<S>;

 public:
  GroupedProduct(const MatmulArgs& p, const GroupKernels<S, Sum>& kernels)
      : p_(p),
        kernels_(kernels),
        groups_(parts_of(parts_of(p.k, kernels.group), kernels.groups) * kernels.groups),
        panels_(parts_of(p.n, kernels.panel)),
        moves_a_(kernels.biased && std::is_signed_v<S>),
        moves_b_(kernels.biased && !std::is_signed_v<S>),
        reads_rows_(reads_rows(p, kernels)),
        cut_(cut_groups(p, kernels.limits, groups_, tile_rows(), kernels.panel)),
        // An odd number of cache lines: rows that lie evenly push each other out of the first-level
        // cache.
        a_row_(reads_rows_ ? p.a_m / kernels.group
                           : (parts_of(cut_.stretch, line_words) | 1) * line_words),
        turn_(float_kernels<float>(best_isa()).turn),
        round_(float_kernels<float>(best_isa()).round(p.out_dtype)) {}

  void run(ParallelFor parallel_for) const {
    const auto alone = [](std::int64_t count, FunctionRef<void(std::int64_t)> body) {
      for (std::int64_t i = 0; i < count; ++i) body(i);
    };
    if (cut_.multiplications * static_cast<double>(p_.batch) < least_shared) {
      alone(p_.batch, [&](std::int64_t i) { item(i, alone); });
    } else if (cut_.by_items) {
      parallel_for(p_.batch, [&](std::int64_t i) { item(i, alone); });
    } else {
      for (std::int64_t i = 0; i < p_.batch; ++i) item(i, parallel_for);
    }
  }

 private:
  static constexpr unsigned sign = 0x80;
  static constexpr std::int64_t line_words = 16;  // of a cache line

  Stretch stretch(std::int64_t first) const {
    return {first, std::min(cut_.stretch, groups_ - first)};
  }
  // Its elements.
  std::int64_t first_of(Stretch s) const { return s.first * kernels_.group; }
  std::int64_t count_of(Stretch s) const {
    return std::min(s.count * kernels_.group, p_.k - first_of(s));
  }

  // Tiles read whole rows in place where groups lie side by side, and no row reaches past the end.
  // Rows that lie on the same lines of pages push each other out of the cache.
  static bool reads_rows(const MatmulArgs& p, const GroupKernels<S, Sum>& kernels) {
    constexpr std::int64_t page = 4096;
    return kernels.groups > 1 && p.a_k == 1 && p.k % (kernels.groups * kernels.group) == 0 &&
           p.m % kernels.rows == 0 && p.a_m % kernels.group == 0 &&
           p.a_batch % kernels.group == 0 &&
           p.a_m * static_cast<std::int64_t>(sizeof(S)) % page != 0;
  }

  std::int64_t tile_rows() const { return std::max(2 * kernels_.rows, std::int64_t{12}); }
  // The first row of a chunk.
  std::int64_t row(std::int64_t chunk) const {
    return std::min(p_.m, chunk * parts_of(p_.m, tile_rows()) / cut_.down * tile_rows());
  }

  // One product of the batch.
  void item(std::int64_t batch, ParallelFor parallel_for) const {
    const Stretch all{0, groups_};
    const AlignedBuffer<std::uint32_t> packed(cut_.own ? 0 : panels_ * kernels_.panel * groups_);
    const AlignedBuffer<Sum> excess(panels_ * kernels_.panel);
    const std::int64_t together =
        std::clamp<std::int64_t>(panels_ / runtime::enough_chunks(8), 1, 8);
    const auto pack = [&](std::int64_t part) {
      const std::int64_t j = part * together;
      pack_panels(batch, j, std::min(together, panels_ - j), all,
                  packed.data() + j * kernels_.panel * groups_, excess.data() + j * kernels_.panel);
    };
    if (!cut_.own) parallel_for(parts_of(panels_, together), pack);
    const auto chunk = [&](std::int64_t i) {
      multiply(batch, i % cut_.down, i / cut_.down * cut_.columns, packed.data(), excess.data());
    };
    parallel_for(cut_.down * parts_of(p_.n, cut_.columns), chunk);
  }

  // Lines of `count` words become rows of n words, `width` apart. They are moved as floats.
  void turn(const std::uint32_t* from, std::int64_t count, std::int64_t n, std::uint32_t* to,
            std::int64_t width) const {
    turn_(reinterpret_cast<const float*>(from), count, count, n, width,
          reinterpret_cast<float*>(to));
  }

  // Rows of a, a_row_ apart.
  void pack_rows(const S* from, std::int64_t rows, Stretch along, std::uint32_t* to) const {
    constexpr std::int64_t some = 32;
    std::uint32_t block[some * most_chunk_rows];
    const unsigned flip = moves_a_ ? sign : 0;
    const std::int64_t elements = count_of(along), groups = parts_of(elements, kernels_.group);
    const bool side_by_side = p_.a_m == 1 && p_.a_k != 1;
    from += first_of(along) * p_.a_k;
    for (std::int64_t r = 0; r < rows; ++r) {
      std::uint32_t* const row = to + r * a_row_;
      std::fill(row + groups, row + along.count, 0u);
      if (!side_by_side) kernels_.pack_line(from + r * p_.a_m, p_.a_k, elements, flip, row);
    }
    for (std::int64_t g = 0; side_by_side && g < groups; g += some) {
      const std::int64_t k = g * kernels_.group;
      kernels_.pack_rows(from + k * p_.a_k, p_.a_k, rows,
                         std::min(some * kernels_.group, elements - k), flip, block, rows);
      turn(block, rows, std::min(some, groups - g), to + g, a_row_);
    }
  }

  // Columns of b as a panel.
  void pack_panel(const S* from, std::int64_t columns, Stretch along, std::uint32_t* to) const {
    constexpr std::int64_t some = 64, widest = 32, line = 64 / sizeof(S);
    std::uint32_t block[some * widest];
    const unsigned flip = moves_b_ ? sign : 0;
    const std::int64_t elements = count_of(along), groups = parts_of(elements, kernels_.group);
    from += first_of(along) * p_.b_k;
    for (std::int64_t g = 0; g < groups; g += some) {
      const std::int64_t count = std::min(some, groups - g), k = g * kernels_.group,
                         end = std::min(k + some * kernels_.group, elements);
      for (std::int64_t l = 0; l < columns; ++l) {
        const S* const column = from + l * p_.b_n;
        kernels_.pack_line(column + k * p_.b_k, p_.b_k, end - k, flip, block + l * count);
        // The next elements lie too far apart for the processor to foresee it.
        const std::int64_t next = std::min(end + some * kernels_.group, elements);
        for (std::int64_t i = end; p_.b_k == 1 && i < next; i += line)
          __builtin_prefetch(column + i, 0, 2);
      }
      turn(block, count, columns, to + g * kernels_.panel, kernels_.panel);
    }
    std::fill(to + groups * kernels_.panel, to + along.count * kernels_.panel, 0u);
  }

  // All columns of some panels, whose rows lie side by side: some rows at a time, as memory is read
  // fastest.
  void pack_side_by_side(const S* from, std::int64_t columns, Stretch along,
                         std::uint32_t* to) const {
    constexpr std::int64_t some = 16;
    const unsigned flip = moves_b_ ? sign : 0;
    const std::int64_t panel = kernels_.panel, elements = count_of(along);
    from += first_of(along) * p_.b_k;
    for (std::int64_t g = 0; g * kernels_.group < elements; g += some) {
      const std::int64_t k = g * kernels_.group,
                         count = std::min(some * kernels_.group, elements - k);
      for (std::int64_t l = 0; l < columns; l += panel)
        kernels_.pack_rows(from + k * p_.b_k + l, p_.b_k, std::min(panel, columns - l), count, flip,
                           to + l * along.count + g * panel, panel);
    }
    const std::int64_t groups = parts_of(elements, kernels_.group);
    for (std::int64_t l = 0; l < columns; l += panel)
      std::fill(to + l * along.count + groups * panel, to + (l + panel) * along.count, 0u);
  }

  // `excess`: the amounts by which the sums of each column are too large.
  void pack_panels(std::int64_t batch, std::int64_t first, std::int64_t count, Stretch along,
                   std::uint32_t* to, Sum* excess) const {
    const std::int64_t j = first * kernels_.panel,
                       columns = std::min(count * kernels_.panel, p_.n - j);
    const S* const from = static_cast<const S*>(p_.b) + batch * p_.b_batch + j * p_.b_n;
    const std::int64_t size = along.count * kernels_.panel;
    if (columns < count * kernels_.panel) std::fill_n(to + (count - 1) * size, size, 0u);
    if (p_.b_n == 1 && p_.b_k != 1) {
      pack_side_by_side(from, columns, along, to);
    } else {
      for (std::int64_t l = 0; l < columns; l += kernels_.panel)
        pack_panel(from + l * p_.b_n, std::min(kernels_.panel, columns - l), along,
                   to + l * along.count);
    }
    if (!moves_a_) return;
    const AlignedBuffer<std::uint32_t> ones(groups_);
    std::fill_n(ones.data(), groups_, 0x01010101u);
    for (std::int64_t k = 0; k < count; ++k) {
      Sum* const of = excess + k * kernels_.panel;
      kernels_.rows_by_panel(1, kernels_.panel, groups_, ones.data(), groups_, to + k * size, of,
                             kernels_.panel, false);
      for (std::int64_t l = 0; l < kernels_.panel; ++l) of[l] *= sign;
    }
  }

  void multiply(std::int64_t batch, std::int64_t part, std::int64_t j, const std::uint32_t* packed,
                const Sum* excess) const {
    const std::int64_t i = row(part), rows = row(part + 1) - i,
                       end = std::min(j + cut_.columns, p_.n), panel = kernels_.panel;
    const std::int64_t held = parts_of(rows, kernels_.rows) * kernels_.rows,
                       room = parts_of(std::min(cut_.together, end - j), panel) * panel;
    const AlignedBuffer<std::uint32_t> a(reads_rows_ ? 0 : held * a_row_),
        b(cut_.own ? room * cut_.stretch : 0);
    // Panel by panel. A panel's are written where they are in the cache.
    const AlignedBuffer<Sum> sums(room * held);
    const S* const from = static_cast<const S*>(p_.a) + batch * p_.a_batch + i * p_.a_m;
    const AlignedBuffer<Sum> of_rows(moves_b_ ? rows : 0);
    for (std::int64_t r = 0; r < of_rows.size(); ++r) of_rows[r] = row_sum(from + r * p_.a_m);
    if (kernels_.open) kernels_.open();
    for (std::int64_t first = j; first < end; first += cut_.together) {
      const std::int64_t columns = std::min(cut_.together, end - first);
      for (std::int64_t s = 0; s < groups_; s += cut_.stretch) {
        const Stretch along = stretch(s);
        const bool packs = !reads_rows_ && (first == j || cut_.stretch < groups_);
        if (packs) pack_rows(from, rows, along, a.data());
        if (cut_.own)
          pack_panels(batch, first / panel, parts_of(columns, panel), along, b.data(), nullptr);
        const std::int64_t size = (cut_.own ? along.count : groups_) * panel;
        const std::uint32_t* const panels =
            cut_.own ? b.data() : packed + first * groups_ + s * panel;
        const std::uint32_t* const of_a =
            reads_rows_ ? reinterpret_cast<const std::uint32_t*>(from) + s : a.data();
        for (std::int64_t g = 0; g < along.count; g += kernels_.block) {
          const std::int64_t block = std::min(kernels_.block, along.count - g);
          const bool add = s + g > 0, last = s + g + block == groups_;
          for (std::int64_t l = 0; l < columns; l += panel) {
            const std::uint32_t* const by = panels + l / panel * size + g * panel;
            Sum* const own = sums.data() + l * held;
            if (!last) {
              kernels_.rows_by_panel(rows, columns - l, block, of_a + g, a_row_, by, own, panel,
                                     add);
              continue;
            }
            // The last sums of each tile are written while the next one is multiplied.
            const std::int64_t n = std::min(panel, columns - l);
            for (std::int64_t r = 0; r < rows; r += kernels_.tile) {
              const std::int64_t count = std::min(kernels_.tile, rows - r);
              Sum* const tile = own + r * panel;
              kernels_.rows_by_panel(count, n, block, of_a + g + r * a_row_, a_row_, by, tile,
                                     panel, add);
              if (moves_a_ || moves_b_)
                move(tile, count, n, moves_b_ ? of_rows.data() + r : nullptr, excess + first + l);
              write(tile, count, n, batch * p_.c_batch + (i + r) * p_.c_m + (first + l) * p_.c_n);
            }
          }
        }
      }
    }
    if (kernels_.close) kernels_.close();
  }

  // Rows of n sums: those of moved operands become those of the operands.
  void move(Sum* sums, std::int64_t rows, std::int64_t n, const Sum* of_rows,
            const Sum* excess) const {
    for (std::int64_t r = 0; r < rows; ++r, sums += kernels_.panel) {
      for (std::int64_t c = 0; c < n; ++c) sums[c] += of_rows ? of_rows[r] : -excess[c];
    }
  }

  // The amount by which the sums of a row are too small.
  Sum row_sum(const S* row) const {
    Sum sum{};
    for (std::int64_t k = 0; k < p_.k; ++k) sum += static_cast<Sum>(row[k * p_.a_k]);
    return sign * sum;
  }

  // Rows of n sums, a panel apart, to the result at `at`.
  void write(const Sum* sums, std::int64_t rows, std::int64_t n, std::int64_t at) const {
    const std::int64_t panel = kernels_.panel;
    if constexpr (std::is_same_v<Sum, float>) {
      std::byte* const to = static_cast<std::byte*>(p_.c);
      const std::int64_t bytes = itemsize(p_.out_dtype);
      if (kernels_.round_rows && p_.out_dtype == DType::bfloat16 && p_.c_n == 1 && n == panel)
        return kernels_.round_rows(sums, rows, static_cast<Bits16*>(p_.c) + at, p_.c_m);
      if (n == panel) return round_(sums, rows, n, to + at * bytes, p_.c_m, p_.c_n);
      for (std::int64_t r = 0; r < rows; ++r)
        round_(sums + r * panel, 1, n, to + (at + r * p_.c_m) * bytes, 0, p_.c_n);
    } else {
      const auto low = [&](auto* out) {
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t l = 0; l < n; ++l)
            out[at + r * p_.c_m + l * p_.c_n] =
                static_cast<std::remove_pointer_t<decltype(out)>>(sums[r * panel + l]);
        }
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
  const std::int64_t groups_, panels_;
  const bool moves_a_, moves_b_;  // by 128
  const bool reads_rows_;         // are rows of a read where they lie?
  const GroupChunks cut_;
  const std::int64_t a_row_;  // words from a row of a to the next
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

const GroupKernels<Bits16, float>* pair_kernels() {
  if (const auto* tiles = tile_kernels<Bits16>()) return tiles;
#if SHARDAX_X86_64
  if (best_isa() >= Isa::avx512 && has_fast_pairs()) return &bf16::pairs;
#endif
  return nullptr;
}

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
