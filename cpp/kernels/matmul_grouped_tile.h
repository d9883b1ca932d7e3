// kernels/matmul_grouped_tile.h - the inner kernel of products of groups, and their packing.
//
// Included by matmul_grouped.cpp inside a namespace of its own for each instruction, which defines
// Words, a vector of 32-bit lanes, and Sums, one of as many sums of type Sum; `group`, how many
// elements a lane holds; `block`, how many lanes are added up from zero; `Part`, the integer that
// holds one element; `descending`, whether the first one is
// in the highest bits; `biased`, whether unsigned ones are multiplied by signed ones; and
// dot(sums, a, b), which adds the products of a lane's elements to the sum in it.

constexpr std::int64_t lanes = sizeof(Words) / sizeof(std::int32_t), panel = 2 * lanes;
constexpr int tile_rows = lanes == 16 ? 12 : 6;

template <class V, class T>
[[gnu::always_inline]] inline V load(const T* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

// sums[i][j] = or, with `add`, += the groups of row i of a times those of column j of a panel.
template <int rows>
[[gnu::noinline]] void tile(std::int64_t groups, const std::uint32_t* a, std::int64_t a_row,
                            const std::uint32_t* b, Sum* sums, std::int64_t sums_row, bool add) {
  Sums acc[rows][2];
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) acc[i][0] = acc[i][1] = Sums{};
  for (std::int64_t g = 0; g < groups; ++g, b += panel) {
    const Words left = load<Words>(b), right = load<Words>(b + lanes);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const Words x = Words{} + static_cast<std::int32_t>(a[i * a_row + g]);
      acc[i][0] = dot(acc[i][0], x, left);
      acc[i][1] = dot(acc[i][1], x, right);
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      Sum* const to = sums + i * sums_row + j * lanes;
      if (add) acc[i][j] = load<Sums>(to) + acc[i][j];
      __builtin_memcpy(to, &acc[i][j], sizeof(Sums));
    }
  }
}

using Tile = void (*)(std::int64_t, const std::uint32_t*, std::int64_t, const std::uint32_t*, Sum*,
                      std::int64_t, bool);
template <class Rows>
struct Tiles;
template <int... i>
struct Tiles<std::integer_sequence<int, i...>> {
  static constexpr Tile of_rows[] = {tile<i + 1>...};
};

// All rows of a by a panel.
inline void rows_by_panel(std::int64_t rows, std::int64_t groups, const std::uint32_t* a,
                          std::int64_t a_row, const std::uint32_t* b, Sum* sums,
                          std::int64_t sums_row, bool add) {
  for (std::int64_t i = 0; i < rows; i += tile_rows) {
    const std::int64_t n = std::min<std::int64_t>(tile_rows, rows - i);
    Tiles<std::make_integer_sequence<int, tile_rows>>::of_rows[n - 1](
        groups, a + i * a_row, a_row, b, sums + i * sums_row, sums_row, add);
  }
}

// Where element r of a group is in its lane.
constexpr int shift_of(int r) { return 32 / group * (descending ? group - 1 - r : r); }

// An element as one part of a lane, `flip` reversed in it.
template <class S>
[[gnu::always_inline]] inline std::uint32_t part_of(S x, unsigned flip) {
  return static_cast<std::uint32_t>(static_cast<Part>(static_cast<Part>(x) ^ flip));
}

// The group of elements `step` apart, the last `group` - count of which are zero.
template <class S>
[[gnu::always_inline]] inline std::uint32_t word_of(const S* in, std::int64_t step, int count,
                                                    unsigned flip) {
  std::uint32_t word = 0;
  for (int r = 0; r < count; ++r) word |= part_of(in[r * step], flip) << shift_of(r);
  return word;
}

// Groups of `count` elements `step` apart.
template <class S>
void pack_line(const S* in, std::int64_t step, std::int64_t count, unsigned flip,
               std::uint32_t* out) {
  const std::int64_t whole = count / group;
  if (sizeof(Part) == sizeof(S) && step == 1) {
    for (std::int64_t g = 0; g < whole; ++g) {
      std::uint32_t word;
      __builtin_memcpy(&word, in + g * group, sizeof word);
      if (descending) word = word >> 16 | word << 16;
      out[g] = word ^ (flip * 0x01010101u);
    }
  } else {
    for (std::int64_t g = 0; g < whole; ++g)
      out[g] = word_of(in + g * group * step, step, group, flip);
  }
  if (whole * group < count)
    out[whole] =
        word_of(in + whole * group * step, step, static_cast<int>(count - whole * group), flip);
}

// The groups of n columns side by side, of up to `group` rows.
template <class S>
void pack_rows(const S* in, std::int64_t row, std::int64_t n, int count, unsigned flip,
               std::uint32_t* out) {
  if (count == group) {
    for (std::int64_t l = 0; l < n; ++l) out[l] = word_of(in + l, row, group, flip);
  } else {
    for (std::int64_t l = 0; l < n; ++l) out[l] = word_of(in + l, row, count, flip);
  }
}

template <class S>
constexpr GroupKernels<S, Sum> table = {group,         panel,        block,       biased,
                                        rows_by_panel, pack_line<S>, pack_rows<S>};
