// kernels/gemm/microkernel.h - tiles of the product: accumulators in registers over a block of k.
//
// Included by <isa>.cpp inside its own namespace, after simd.h.

// Rows of the largest tile: with two vectors of columns its accumulators fill the registers.
constexpr std::int64_t tile_rows = vector_bytes == 64 ? 12 : vector_bytes == 32 ? 6 : 4;
constexpr std::int64_t fewest_rows = tile_rows < 6 ? tile_rows : 6;
template <class T>
constexpr std::int64_t panel_columns = 2 * full_size<T>;

// acc[i][j] = the sums over a block of k. Vectors of columns start at j * size, the last at `last`.
template <class T, class V, int rows, int vectors>
[[gnu::always_inline]] inline void accumulate(V (&acc)[rows][vectors], std::int64_t k, const T* a,
                                              std::int64_t a_m, std::int64_t a_k, const T* b,
                                              std::int64_t b_k, std::int64_t last) {
  constexpr int size = sizeof(V) / sizeof(T);
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) acc[i][j] = V{};
  }
  // One pointer per three rows: x86 addresses reach p, p + s and p + 2 s.
  constexpr int groups = (rows + 2) / 3;
  const T* group[groups];
#pragma GCC unroll 4
  for (int g = 0; g < groups; ++g) group[g] = a + 3 * g * a_m;
  for (; k > 0; --k) {
    V column[vectors];
#pragma GCC unroll 8
    for (int j = 0; j + 1 < vectors; ++j) column[j] = load<V>(b + j * size);
    column[vectors - 1] = load<V>(b + last);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const V x = splat<V>(group[i / 3][i % 3 * a_m]);
#pragma GCC unroll 8
      for (int j = 0; j < vectors; ++j) acc[i][j] = fma(x, column[j], acc[i][j]);
    }
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g) group[g] += a_k;
    b += b_k;
  }
}

// One tile; with `add` its sums are added to c. Those of a long k are added up there, block by
// block.
template <class T, class V, int rows, int vectors>
[[gnu::noinline]] void tile(std::int64_t k, const T* a, std::int64_t a_m, std::int64_t a_k,
                            const T* b, std::int64_t b_k, std::int64_t last, T* c, std::int64_t c_m,
                            bool add) {
  constexpr int size = sizeof(V) / sizeof(T);
  for (; k > matmul_k_block; k -= matmul_k_block, add = true) {
    tile<T, V, rows, vectors>(matmul_k_block, a, a_m, a_k, b, b_k, last, c, c_m, add);
    a += matmul_k_block * a_k;
    b += matmul_k_block * b_k;
  }
  V acc[rows][vectors];
  const auto column = [&](int j) { return j + 1 < vectors ? j * size : last; };
  if (k > 32) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      __builtin_prefetch(c + i * c_m, 1);
      if (vectors > 1) __builtin_prefetch(c + i * c_m + last + size - 1, 1);
    }
  }
  accumulate<T, V, rows, vectors>(acc, k, a, a_m, a_k, b, b_k, last);
  // Columns may overlap: all are read before one is written.
  if (add) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < vectors; ++j) acc[i][j] = load<V>(c + i * c_m + column(j)) + acc[i][j];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) store(c + i * c_m + column(j), acc[i][j]);
  }
}

template <class T>
using Tile = void (*)(std::int64_t, const T*, std::int64_t, std::int64_t, const T*, std::int64_t,
                      std::int64_t, T*, std::int64_t, bool);

// tiles_of<T, V, vectors, highest>[r - 1] is the tile of r rows.
template <class T, class V, int vectors, class Rows>
struct TileTable;
template <class T, class V, int vectors, std::int64_t... i>
struct TileTable<T, V, vectors, std::integer_sequence<std::int64_t, i...>> {
  static constexpr Tile<T> of_rows[] = {tile<T, V, i + 1, vectors>...};
};
template <class T, class V, int vectors, std::int64_t highest>
constexpr const Tile<T>* tiles_of =
    TileTable<T, V, vectors, std::make_integer_sequence<std::int64_t, highest>>::of_rows;

// m rows as tiles of nearly equal height: the first `taller` have rows + 1.
struct TileSplit {
  std::int64_t tiles, rows, taller;
};
inline TileSplit tile_split(std::int64_t m, std::int64_t highest) {
  const std::int64_t tiles = (m + highest - 1) / highest;
  return {tiles, m / tiles, m % tiles};
}

// The columns [j, j + last + size) of some rows.
template <class T>
[[gnu::always_inline]] inline void strip(Tile<T> rows, const Product<T>& p, std::int64_t j,
                                         std::int64_t last) {
  rows(p.k, p.a, p.a_m, p.a_k, p.b + j, p.b_k, last, p.c + j, p.c_m, false);
}

// All columns of at most tile_rows rows.
template <class T>
void wide(const Product<T>& p) {
  constexpr std::int64_t size = full_size<T>;
  using V = Vector<T, size>;
  // Few rows take more columns, for enough independent chains.
  std::int64_t j = 0;
  if (p.m == 1) {
    for (; j + 8 * size <= p.n; j += 8 * size) strip(tile<T, V, 1, 8>, p, j, 7 * size);
  }
  if (p.m <= 3) {
    const Tile<T> rows = tiles_of<T, V, 4, 3>[p.m - 1];
    for (; j + 4 * size <= p.n; j += 4 * size) strip(rows, p, j, 3 * size);
  }
  const Tile<T> rows = tiles_of<T, V, 2, tile_rows>[p.m - 1];
  for (; j + 2 * size <= p.n; j += 2 * size) strip(rows, p, j, size);
  // The rest overlaps columns that are written already, with the same values.
  const std::int64_t rest = p.n - j;
  if (rest > size) {
    strip(rows, p, j, rest - size);
  } else if (rest > 0) {
    strip(tiles_of<T, V, 1, tile_rows>[p.m - 1], p, p.n - size, 0);
  }
}

#if SHARDAX_VECTOR_BYTES >= 64
// The first elements of a vector, those whose bits are set; the others are zero.
template <class T>
[[gnu::always_inline]] inline Vector<T, full_size<T>> load_first(unsigned bits, const T* p) {
  using V = Vector<T, full_size<T>>;
  if constexpr (sizeof(T) == 4)
    return V(_mm512_maskz_loadu_ps(static_cast<__mmask16>(bits), p));
  else
    return V(_mm512_maskz_loadu_pd(static_cast<__mmask8>(bits), p));
}
template <class T>
[[gnu::always_inline]] inline void store_first(unsigned bits, T* p, Vector<T, full_size<T>> v) {
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>(bits), __m512(v));
  else
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>(bits), __m512d(v));
}

// A tile of fewer columns than a vector has elements.
template <class T, int rows>
[[gnu::noinline]] void partial_tile(std::int64_t n, std::int64_t size, const T* a, std::int64_t a_m,
                                    std::int64_t a_k, const T* b, std::int64_t b_k, T* c,
                                    std::int64_t c_m) {
  using V = Vector<T, full_size<T>>;
  const unsigned bits = (1u << n) - 1;
  constexpr int groups = (rows + 2) / 3;  // as in accumulate
  const T* group[groups];
#pragma GCC unroll 4
  for (int g = 0; g < groups; ++g) group[g] = a + 3 * g * a_m;
  for (std::int64_t first = 0; first == 0 || first < size; first += matmul_k_block) {
    V acc[rows];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) acc[i] = V{};
    const std::int64_t end = first + matmul_k_block < size ? first + matmul_k_block : size;
    for (std::int64_t k = first; k < end; ++k) {
      const V column = load_first(bits, b);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i)
        acc[i] = fma(splat<V>(group[i / 3][i % 3 * a_m]), column, acc[i]);
#pragma GCC unroll 4
      for (int g = 0; g < groups; ++g) group[g] += a_k;
      b += b_k;
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      T* const to = c + i * c_m;
      store_first(bits, to, first > 0 ? load_first(bits, to) + acc[i] : acc[i]);
    }
  }
}

template <class T, class Rows>
struct PartialTileTable;
template <class T, std::int64_t... i>
struct PartialTileTable<T, std::integer_sequence<std::int64_t, i...>> {
  static constexpr void (*of_rows[])(std::int64_t, std::int64_t, const T*, std::int64_t,
                                     std::int64_t, const T*, std::int64_t, T*,
                                     std::int64_t) = {partial_tile<T, i + 1>...};
};
#endif

// Fewer columns than a full vector has elements. They are a smaller vector where one fits exactly.
// Others are part of a full one, or two smaller ones that overlap.
template <class T, std::int64_t size>
void narrow(const Product<T>& p) {
  if constexpr (size < lane_size<T>) {
    const Tile<T>* tiles = p.n == 1   ? tiles_of<T, T, 1, fewest_rows>
                           : p.n == 2 ? tiles_of<T, T, 2, fewest_rows>
                                      : tiles_of<T, T, 3, fewest_rows>;
    strip(tiles[p.m - 1], p, 0, p.n - 1);
  } else {
    using V = Vector<T, size>;
    if (p.n < size) return narrow<T, size / 2>(p);
    if (p.n == size) return strip(tiles_of<T, V, 1, fewest_rows>[p.m - 1], p, 0, 0);
#if SHARDAX_VECTOR_BYTES >= 64
    using Rows = std::make_integer_sequence<std::int64_t, tile_rows>;
    PartialTileTable<T, Rows>::of_rows[p.m - 1](p.n, p.k, p.a, p.a_m, p.a_k, p.b, p.b_k, p.c,
                                                p.c_m);
#else
    strip(tiles_of<T, V, 2, fewest_rows>[p.m - 1], p, 0, p.n - size);
#endif
  }
}

// Have tiles of so few columns the most rows? Rows that lie on the same lines of pages push each
// other out of the first-level cache.
template <class T>
bool takes_more_rows(const Product<T>& p) {
  constexpr std::int64_t page = 4096;
  return vector_bytes == 64 && p.n > lane_size<T> && 2 * p.n != full_size<T> &&
         p.a_m * static_cast<std::int64_t>(sizeof(T)) % page != 0;
}

template <class T>
void direct(const Product<T>& p) {
  const bool is_wide = p.n >= full_size<T>;
  const TileSplit split =
      is_wide || takes_more_rows(p) ? tile_split(p.m, tile_rows) : tile_split(p.m, fewest_rows);
  Product<T> part = p;
  for (std::int64_t t = 0; t < split.tiles; ++t) {
    part.m = split.rows + (t < split.taller);
    is_wide ? wide(part) : narrow<T, full_size<T> / 2>(part);
    part.a += part.m * p.a_m;
    part.c += part.m * p.c_m;
  }
}

// Tiles from top to bottom, of all columns of a packed panel. `run` makes the sums of a tile of so
// many rows in c (= or, with `add`, +=).
template <class T, class Run>
[[gnu::always_inline]] inline void panel_tiles(const Product<T>& p, const TileSplit& split,
                                               bool add, const Run& run) {
  constexpr std::int64_t width = panel_columns<T>;
  const T* a = p.a;
  T* c = p.c;
  for (std::int64_t t = 0; t < split.tiles; ++t) {
    const std::int64_t rows = split.rows + (t < split.taller);
    if (p.n == width) {
      run(rows, a, c, p.c_m, add);
    } else {
      T part[tile_rows * width];
      run(rows, a, part, width, false);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < p.n; ++j) {
          T& to = c[i * p.c_m + j];
          to = add ? to + part[i * width + j] : part[i * width + j];
        }
      }
    }
    a += rows * p.a_m;
    c += rows * p.c_m;
  }
}

template <class T>
void panel(const Product<T>& p, bool add) {
  constexpr std::int64_t size = full_size<T>, width = panel_columns<T>;
  const Tile<T>* tiles = tiles_of<T, Vector<T, size>, 2, tile_rows>;
  panel_tiles(p, tile_split(p.m, tile_rows), add,
              [&](std::int64_t rows, const T* a, T* c, std::int64_t c_m, bool adds) {
                tiles[rows - 1](p.k, a, p.a_m, p.a_k, p.b, width, size, c, c_m, adds);
              });
}

#if SHARDAX_VECTOR_BYTES >= 64
// *x times column + acc, as one instruction that reads x.
template <class T, class V>
[[gnu::always_inline]] inline V fma_from(const T* x, V column, V acc) {
  if constexpr (sizeof(T) == 4) {
    asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(acc) : "v"(column), "m"(*x));
  } else {
    asm("vfmadd231pd %2%{1to8%}, %1, %0" : "+v"(acc) : "v"(column), "m"(*x));
  }
  return acc;
}

// acc[i][j] += the products of one step of k.
template <class T, class V, int rows, int vectors>
[[gnu::always_inline]] inline void panel_step(V (&acc)[rows][vectors], const T* a, const T* b) {
  V column[vectors];
#pragma GCC unroll 2
  for (int j = 0; j < vectors; ++j) column[j] = load<V>(b + j * full_size<T>);
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) acc[i][j] = fma_from(a + i, column[j], acc[i][j]);
  }
}

// The tile of a packed panel of rows by one of columns. Strides are known, each multiply-add reads
// its element of a, and four steps of k share the loop's own instructions. Fewer instructions are
// faster by a fifth while another thread shares the core (Emerald Rapids).
template <class T, int rows>
[[gnu::noinline]] void panel_tile(std::int64_t k, const T* a, const T* b, T* c, std::int64_t c_m,
                                  bool add) {
  constexpr int size = full_size<T>, vectors = 2;
  using V = Vector<T, size>;
  V acc[rows][vectors];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) acc[i][j] = V{};
  }
  constexpr int steps = 4, width = vectors * size;
  // Rows of c are fetched one by one: all at once they would keep elements of a and b waiting.
  const T *row = c, *const last = c + (rows - 1) * c_m;
  for (; k >= steps; k -= steps, a += steps * tile_rows, b += steps * width) {
    __builtin_prefetch(row, 1);
    __builtin_prefetch(row + width - 1, 1);
    row = row == last ? last : row + c_m;
#pragma GCC unroll 4
    for (int s = 0; s < steps; ++s) panel_step(acc, a + s * tile_rows, b + s * width);
  }
  for (; k > 0; --k, a += tile_rows, b += width) panel_step(acc, a, b);
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) {
      T* const to = c + i * c_m + j * size;
      store(to, add ? load<V>(to) + acc[i][j] : acc[i][j]);
    }
  }
}

template <class T, class Rows>
struct PanelTileTable;
template <class T, std::int64_t... i>
struct PanelTileTable<T, std::integer_sequence<std::int64_t, i...>> {
  static constexpr void (*of_rows[])(std::int64_t, const T*, const T*, T*, std::int64_t,
                                     bool) = {panel_tile<T, i + 1>...};
};

template <class T>
void row_panel(const Product<T>& p, bool add) {
  constexpr auto& tiles =
      PanelTileTable<T, std::make_integer_sequence<std::int64_t, tile_rows>>::of_rows;
  Product<T> part = p;
  for (std::int64_t i = 0; i < p.m; i += tile_rows) {
    part.m = p.m - i < tile_rows ? p.m - i : tile_rows;
    part.a = p.a + i * p.k;
    part.c = p.c + i * p.c_m;
    panel_tiles(part, {1, part.m, 0}, add,
                [&](std::int64_t rows, const T* a, T* c, std::int64_t c_m, bool adds) {
                  tiles[rows - 1](p.k, a, p.b, c, c_m, adds);
                });
  }
}
#endif
