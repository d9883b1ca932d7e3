// kernels/matmul_bytes_tile.h - the inner kernel of products of 8-bit integers, and their packing.
//
// Included by matmul_bytes.cpp inside a namespace of its own for each instruction set, which
// defines Words, a vector of 32-bit lanes; `group`, how many elements a lane holds; `Part`, the
// integer that holds one; `biased`, whether unsigned ones are multiplied by signed ones; and
// dot(sums, a, b), which adds the products of a lane's elements to the sum in it.

constexpr std::int64_t lanes = sizeof(Words) / sizeof(std::int32_t), panel = 2 * lanes;
constexpr int tile_rows = lanes == 16 ? 12 : 6;

[[gnu::always_inline]] inline Words load(const std::uint32_t* p) {
  Words v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

// sums[i][j] += the groups of row i of a times those of column j of a panel.
template <int rows>
[[gnu::noinline]] void tile(std::int64_t groups, const std::uint32_t* a, std::int64_t a_row,
                            const std::uint32_t* b, std::uint32_t* sums, std::int64_t sums_row) {
  Words acc[rows][2];
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
    acc[i][0] = load(sums + i * sums_row);
    acc[i][1] = load(sums + i * sums_row + lanes);
  }
  for (std::int64_t g = 0; g < groups; ++g, b += panel) {
    const Words left = load(b), right = load(b + lanes);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const Words x = Words{} + static_cast<std::int32_t>(a[i * a_row + g]);
      acc[i][0] = dot(acc[i][0], x, left);
      acc[i][1] = dot(acc[i][1], x, right);
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
    __builtin_memcpy(sums + i * sums_row, &acc[i][0], sizeof(Words));
    __builtin_memcpy(sums + i * sums_row + lanes, &acc[i][1], sizeof(Words));
  }
}

using Tile = void (*)(std::int64_t, const std::uint32_t*, std::int64_t, const std::uint32_t*,
                      std::uint32_t*, std::int64_t);
template <class Rows>
struct Tiles;
template <int... i>
struct Tiles<std::integer_sequence<int, i...>> {
  static constexpr Tile of_rows[] = {tile<i + 1>...};
};

// All rows of a by a panel.
inline void rows_by_panel(std::int64_t rows, std::int64_t groups, const std::uint32_t* a,
                          std::int64_t a_row, const std::uint32_t* b, std::uint32_t* sums,
                          std::int64_t sums_row) {
  for (std::int64_t i = 0; i < rows; i += tile_rows) {
    const std::int64_t n = std::min<std::int64_t>(tile_rows, rows - i);
    Tiles<std::make_integer_sequence<int, tile_rows>>::of_rows[n - 1](
        groups, a + i * a_row, a_row, b, sums + i * sums_row, sums_row);
  }
}

// An element as one part of a lane, `flip` reversed in it.
template <class S>
[[gnu::always_inline]] inline std::uint32_t part_of(S x, unsigned flip) {
  return static_cast<std::uint32_t>(static_cast<Part>(static_cast<Part>(x) ^ flip));
}

// Groups of `count` elements `step` apart, the last one filled up with zeros.
template <class S>
void pack_line(const S* in, std::int64_t step, std::int64_t count, unsigned flip,
               std::uint32_t* out) {
  constexpr int shift = 32 / group;
  std::int64_t k = 0;
  for (; sizeof(Part) == sizeof(S) && step == 1 && k + group <= count; k += group) {
    std::uint32_t word;
    __builtin_memcpy(&word, in + k, sizeof word);
    *out++ = word ^ (flip * 0x01010101u);
  }
  for (; k + group <= count; k += group) {
    std::uint32_t word = 0;
    for (int r = 0; r < group; ++r) word |= part_of(in[(k + r) * step], flip) << (shift * r);
    *out++ = word;
  }
  if (k == count) return;
  std::uint32_t word = 0;
  for (int r = 0; k + r < count; ++r) word |= part_of(in[(k + r) * step], flip) << (shift * r);
  *out = word;
}

// A panel's group of up to `group` rows: columns, a lane each, the others zero.
template <class S>
void pack_rows(const S* in, std::int64_t row, std::int64_t column, int count, std::int64_t columns,
               unsigned flip, std::uint32_t* out) {
  constexpr int shift = 32 / group;
  for (std::int64_t l = 0; l < panel; ++l) out[l] = 0;
  for (int r = 0; r < count; ++r) {
    const S* from = in + r * row;
    if (column == 1) {
      for (std::int64_t l = 0; l < columns; ++l) out[l] |= part_of(from[l], flip) << (shift * r);
    } else {
      for (std::int64_t l = 0; l < columns; ++l)
        out[l] |= part_of(from[l * column], flip) << (shift * r);
    }
  }
}

template <class S>
constexpr ByteKernels<S> table = {group, panel, biased, rows_by_panel, pack_line<S>, pack_rows<S>};
