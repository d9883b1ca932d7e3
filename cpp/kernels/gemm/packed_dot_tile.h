// kernels/gemm/packed_dot_tile.h - the inner kernel of products of groups in vectors.
//
// Included by packed_dot.cpp, after packed_dot_packing.h, inside a namespace for each instruction.
// The namespace defines
// - Words, a vector of 32-bit lanes, and Sums, one of as many sums of type Sum,
// - `block`, the number of lanes that are added up from zero,
// - round_rows, a function or null (packed_dot_kernels.h),
// - `biased`: unsigned elements are multiplied by signed ones,
// - dot(sums, a, b), which adds the products of a lane's elements to the sum in it.

constexpr std::int64_t lanes = sizeof(Words) / sizeof(std::int32_t), panel = 2 * lanes;
constexpr int tile_rows = lanes == 16 ? 12 : 6;
constexpr double nanoseconds = 0.6;

template <class V, class T>
[[gnu::always_inline]] inline V load(const T* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

// sums[i][j] = or, with `add`, += the groups of row i of a times those of column j of a panel:
// its first vector, or both.
template <int rows, int vectors>
[[gnu::noinline]] void tile(std::int64_t groups, const std::uint32_t* a, std::int64_t a_row,
                            const std::uint32_t* b, Sum* sums, std::int64_t sums_row, bool add) {
  Sums acc[rows][vectors];
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) acc[i][j] = Sums{};
  }
  for (std::int64_t g = 0; g < groups; ++g, b += panel) {
    Words columns[vectors];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) columns[j] = load<Words>(b + j * lanes);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const Words x = Words{} + static_cast<std::int32_t>(a[i * a_row + g]);
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) acc[i][j] = dot(acc[i][j], x, columns[j]);
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) {
      Sum* const to = sums + i * sums_row + j * lanes;
      if (add) acc[i][j] = load<Sums>(to) + acc[i][j];
      __builtin_memcpy(to, &acc[i][j], sizeof(Sums));
    }
  }
}

using Tile = void (*)(std::int64_t, const std::uint32_t*, std::int64_t, const std::uint32_t*, Sum*,
                      std::int64_t, bool);
template <int vectors, class Rows>
struct Tiles;
template <int vectors, int... i>
struct Tiles<vectors, std::integer_sequence<int, i...>> {
  static constexpr Tile of_rows[] = {tile<i + 1, vectors>...};
};

// All rows of a by a panel.
inline void rows_by_panel(std::int64_t rows, std::int64_t columns, std::int64_t groups,
                          const std::uint32_t* a, std::int64_t a_row, const std::uint32_t* b,
                          Sum* sums, std::int64_t sums_row, bool add) {
  using Rows = std::make_integer_sequence<int, tile_rows>;
  const Tile* const tiles = columns > lanes ? Tiles<2, Rows>::of_rows : Tiles<1, Rows>::of_rows;
  for (std::int64_t i = 0; i < rows; i += tile_rows) {
    const std::int64_t n = std::min<std::int64_t>(tile_rows, rows - i);
    tiles[n - 1](groups, a + i * a_row, a_row, b, sums + i * sums_row, sums_row, add);
  }
}

template <class S>
constexpr GroupKernels<S, Sum> table = {
    .group = group,
    .panel = panel,
    .tile = tile_rows,
    .nanoseconds = nanoseconds,
    .block = block,
    .biased = biased,
    .rows_by_panel = rows_by_panel,
    .pack_line = pack_line<S>,
    .pack_rows = pack_rows<S>,
    .round_rows = round_rows,
};
