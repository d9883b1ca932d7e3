// kernels/gemm/amx.cpp - products of groups by AMX, where one instruction multiplies 16 rows of
// 16 groups by 16 columns (Intel's manual, volume 1, chapter 18).
//
// For bfloat16 it adds up the products of even places and those of odd ones, both from zero. The
// sum of these two is added to the sum before. Denormal numbers count as zero. So sums of bfloat16
// are made of 32 elements at a time here, whatever the shape.
#include "kernels/gemm/amx.h"

#include "base/index.h"
#include "base/target.h"

#if SHARDAX_X86_64 && defined(__linux__)  // Linux lets a process ask for its tiles
#include <cpuid.h>
#if defined(__GNUC__) && __GNUC__ == 11 && !defined(__AMX_TILE__)
// Headers of GCC 11.1 and 11.2 have tiles only in a file that is compiled for them as a whole.
#define __AMX_TILE__ 1
#define __AMX_INT8__ 1
#define __AMX_BF16__ 1
#endif
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <type_traits>

SHARDAX_BEGIN_TARGET("avx512f,avx512bw,avx512bf16,avx2,amx-tile,amx-bf16,amx-int8")

namespace shardax::kernels {
namespace tiles {
namespace {

constexpr std::int64_t side = 16;  // rows and groups of a tile
constexpr std::int64_t panel = 2 * side;

struct alignas(64) Configuration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t column_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

void open() {
  static const Configuration whole;
  _tile_loadconfig(&whole);
}
void close() { _tile_release(); }

// Tiles 0 to 3 are sums, 4 and 5 rows of a, 6 and 7 columns of b. Their numbers are parts of the
// instructions' names. Addresses stand in parentheses: GCC 11.2 has macros that put none.
struct Bfloat16 {
  static void upper() {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
  }
  static void lower() {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
};
struct Signed {
  static void upper() {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
  }
  static void lower() {
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
};
struct Unsigned {
  static void upper() {
    _tile_dpbuud(0, 4, 6);
    _tile_dpbuud(1, 4, 7);
  }
  static void lower() {
    _tile_dpbuud(2, 5, 6);
    _tile_dpbuud(3, 5, 7);
  }
};

template <class Products, class Sum>
void rows_by_panel(std::int64_t rows, std::int64_t /*columns*/, std::int64_t groups,
                   const std::uint32_t* a, std::int64_t a_row, const std::uint32_t* b, Sum* sums,
                   std::int64_t sums_row, bool add) {
  const auto stride = index(a_row) * sizeof *a, sums_stride = index(sums_row) * sizeof *sums;
  constexpr std::size_t panel_stride = panel * sizeof *b;
  asm volatile("" ::: "memory");  // the data to read has been written
  for (std::int64_t i = 0; i < rows; i += 2 * side) {
    const bool both = rows - i > side;
    const std::uint32_t* from = a + i * a_row;
    Sum* const to = sums + i * sums_row;
    Sum* const below = to + side * sums_row;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (add) {
      _tile_loadd(0, to, sums_stride);
      _tile_loadd(1, (to + side), sums_stride);
    }
    if (add && both) {
      _tile_loadd(2, below, sums_stride);
      _tile_loadd(3, (below + side), sums_stride);
    }
    const std::uint32_t* columns = b;
    for (std::int64_t g = 0; g < groups; g += side, columns += side * panel) {
      _tile_loadd(6, columns, panel_stride);
      _tile_loadd(7, (columns + side), panel_stride);
      _tile_loadd(4, (from + g), stride);
      Products::upper();
      if (both) {
        _tile_loadd(5, (from + side * a_row + g), stride);
        Products::lower();
      }
    }
    _tile_stored(0, to, sums_stride);
    _tile_stored(1, (to + side), sums_stride);
    if (both) {
      _tile_stored(2, below, sums_stride);
      _tile_stored(3, (below + side), sums_stride);
    }
  }
}

namespace words {
using Part = std::uint16_t;
constexpr int group = 2;
constexpr bool descending = false;
#include "kernels/gemm/packed_dot_packing.h"
#include "kernels/gemm/packed_dot_pairs.h"
#include "kernels/gemm/packed_dot_round.h"
}  // namespace words
namespace bytes {
using Part = std::uint8_t;
constexpr int group = 4;
constexpr bool descending = false;
#include "kernels/gemm/packed_dot_packing.h"
#include "kernels/gemm/packed_dot_rows.h"
}  // namespace bytes

template <class S>
constexpr auto rounding() {
  if constexpr (std::is_same_v<S, std::uint16_t>)
    return words::round_rows;
  else
    return nullptr;
}

template <class S>
constexpr auto rows_packer() {
  if constexpr (sizeof(S) == 1)
    return bytes::pack_rows<S>;
  else
    return words::pack_rows<S>;
}

template <class S, class Products>
constexpr GroupKernels<S, GroupSum<S>> table = {
    .group = 4 / sizeof(S),
    .panel = panel,
    .tile = 2 * side,
    .nanoseconds = 1.0 / 16,
    .block = 256,  // these of the rows of a chunk fit a first-level cache
    .biased = false,
    .rows_by_panel = rows_by_panel<Products, GroupSum<S>>,
    .pack_line = sizeof(S) == 1 ? bytes::pack_line<S> : words::pack_line<S>,
    .pack_rows = rows_packer<S>(),
    .round_rows = rounding<S>(),
    .groups = side,
    .rows = side,
    .limits = {.rows = most_chunk_rows,
               .columns = 1 << 30,
               .words = 192 << 10,
               .least_own = 0,
               .packing = 90},
    .open = open,
    .close = close,
};

// The processor has these instructions, and the system keeps their registers for this process.
bool allowed() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned bf16 = 1u << 22, tile = 1u << 24, int8 = 1u << 25;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (~d & (bf16 | tile | int8)) != 0) return false;
  constexpr int request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, request, tile_data) == 0;
}

}  // namespace
}  // namespace tiles

bool has_tiles() {
  static const bool has =
      SHARDAX_CPU_SUPPORTS("avx512bw") && SHARDAX_CPU_SUPPORTS("avx512bf16") && tiles::allowed();
  return has;
}

template <class S>
const GroupKernels<S, GroupSum<S>>* tile_kernels() {
  using Products =
      std::conditional_t<std::is_same_v<S, std::uint16_t>, tiles::Bfloat16,
                         std::conditional_t<std::is_signed_v<S>, tiles::Signed, tiles::Unsigned>>;
  return has_tiles() ? &tiles::table<S, Products> : nullptr;
}

}  // namespace shardax::kernels

SHARDAX_END_TARGET
#else

namespace shardax::kernels {

bool has_tiles() { return false; }
template <class S>
const GroupKernels<S, GroupSum<S>>* tile_kernels() {
  return nullptr;
}

}  // namespace shardax::kernels
#endif

namespace shardax::kernels {

template const GroupKernels<std::uint16_t, float>* tile_kernels<std::uint16_t>();
template const GroupKernels<std::int8_t, std::uint32_t>* tile_kernels<std::int8_t>();
template const GroupKernels<std::uint8_t, std::uint32_t>* tile_kernels<std::uint8_t>();

}  // namespace shardax::kernels
