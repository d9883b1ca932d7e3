// kernels/conv/microkernel.h - tiles of products whose operands are found through offsets.
//
// Included by gemm/<isa>.cpp inside its own namespace, after gemm/microkernel.h.

// Rows of a tile whose columns are not packed.
constexpr std::int64_t found_height = tile_rows < 6 ? tile_rows : 6;

// The way in which the columns of b are found.
enum class Columns {
  packed,  // step k at k times the width of the tile
  chosen,  // step k of a packed panel at an offset, matmul_k_block places after that of a
  placed,  // step k at an offset of its own
  lanes,   // likewise, and rows of a have columns too: those of b are multiplied one by one
};

// As `accumulate`, with a row of a wherever a pointer says, and step k of a row at an offset of its
// own.
template <class T, class V, int rows, int vectors, Columns columns>
[[gnu::always_inline]] inline void accumulate_found(V (&acc)[rows][vectors], std::int64_t k,
                                                    const T* const* a, const std::int64_t* a_k,
                                                    const T* b, const std::int64_t* b_k,
                                                    std::int64_t last) {
  constexpr int size = sizeof(V) / sizeof(T);
  constexpr bool packed = columns == Columns::packed, chosen = columns == Columns::chosen;
  if constexpr (packed || chosen) last = (vectors - 1) * size;
  const T* row[rows];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    row[i] = a[i];
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) acc[i][j] = V{};
  }
  const T* from_b = b;
  for (const std::int64_t* const end = a_k + k; a_k != end; ++a_k) {
    const std::int64_t at = *a_k;
    if constexpr (chosen) from_b = b + a_k[matmul_k_block];
    if constexpr (!packed && !chosen) from_b = b + *b_k++;
    V column[vectors];
#pragma GCC unroll 8
    for (int j = 0; j + 1 < vectors; ++j) column[j] = load<V>(from_b + j * size);
    column[vectors - 1] = load<V>(from_b + last);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      if constexpr (columns == Columns::lanes) {
#pragma GCC unroll 8
        for (int j = 0; j < vectors; ++j) {
          const V x = load<V>(row[i] + at + (j + 1 < vectors ? j * size : last));
          acc[i][j] = fma(x, column[j], acc[i][j]);
        }
      } else {
        const V x = splat<V>(row[i][at]);
#pragma GCC unroll 8
        for (int j = 0; j < vectors; ++j) acc[i][j] = fma(x, column[j], acc[i][j]);
      }
    }
    if constexpr (packed) from_b += vectors * size;
  }
}

template <class T, class V, int rows, int vectors, Columns columns>
[[gnu::noinline]] void found_tile(std::int64_t k, const T* const* a, const std::int64_t* a_k,
                                  const T* b, const std::int64_t* b_k, std::int64_t last,
                                  T* const* c, bool add) {
  constexpr int size = sizeof(V) / sizeof(T);
  V acc[rows][vectors];
  accumulate_found<T, V, rows, vectors, columns>(acc, k, a, a_k, b, b_k, last);
  if (add) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < vectors; ++j)
        acc[i][j] = load<V>(c[i] + (j + 1 < vectors ? j * size : last)) + acc[i][j];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) store(c[i] + (j + 1 < vectors ? j * size : last), acc[i][j]);
  }
}

template <class T>
using FoundTile = void (*)(std::int64_t, const T* const*, const std::int64_t*, const T*,
                           const std::int64_t*, std::int64_t, T* const*, bool);
template <class T, class V, int vectors, Columns columns, class Rows>
struct FoundTable;
template <class T, class V, int vectors, Columns columns, std::int64_t... i>
struct FoundTable<T, V, vectors, columns, std::integer_sequence<std::int64_t, i...>> {
  static constexpr FoundTile<T> of_rows[] = {found_tile<T, V, i + 1, vectors, columns>...};
};
template <class T, class V, int vectors, std::int64_t highest, Columns columns>
constexpr const FoundTile<T>* found_tiles =
    FoundTable<T, V, vectors, columns, std::make_integer_sequence<std::int64_t, highest>>::of_rows;

// Columns from j on of all rows of p, whose a has columns too with lanes.
template <class T, Columns columns>
[[gnu::always_inline]] inline void found_strip(FoundTile<T> tile, const FoundProduct<T>& p,
                                               std::int64_t j, std::int64_t last) {
  T* c[tile_rows];
  const T* a[tile_rows];
  for (std::int64_t i = 0; i < p.m; ++i)
    c[i] = p.c[i] + j, a[i] = columns == Columns::lanes ? p.a[i] + j : p.a[i];
  tile(p.k, a, p.a_k, p.b + j, p.b_k, last, c, p.add);
}

// The columns from j on, fewer than a vector: the vector that ends with them. Those before j are
// written again with the same values, or, where they would be added twice, not at all.
template <class T, class V, Columns columns>
void found_rest(const FoundTile<T>* tiles, const FoundProduct<T>& p, std::int64_t j) {
  constexpr std::int64_t size = sizeof(V) / sizeof(T);
  const std::int64_t start = p.n - size;
  if (!p.add) return found_strip<T, columns>(tiles[p.m - 1], p, start, 0);
  T part[tile_rows * size];
  T* c[tile_rows];
  FoundProduct<T> own = p;
  own.add = false;
  for (std::int64_t i = 0; i < p.m; ++i) c[i] = part + i * size - start;
  own.c = c;
  found_strip<T, columns>(tiles[p.m - 1], own, start, 0);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t l = j; l < p.n; ++l) p.c[i][l] = p.c[i][l] + part[i * size + l - start];
  }
}

template <class T, std::int64_t size, Columns columns>
void found_narrow(const FoundProduct<T>& p) {
  if constexpr (size < lane_size<T>) {
    for (std::int64_t j = 0; j < p.n; ++j)
      found_strip<T, columns>(found_tiles<T, T, 1, found_height, columns>[p.m - 1], p, j, 0);
  } else {
    using V = Vector<T, size>;
    if (p.n < size) return found_narrow<T, size / 2, columns>(p);
    const FoundTile<T>* tiles = found_tiles<T, V, 1, found_height, columns>;
    std::int64_t j = 0;
    for (; j + size <= p.n; j += size) found_strip<T, columns>(tiles[p.m - 1], p, j, 0);
    if (j < p.n) found_rest<T, V, columns>(tiles, p, j);
  }
}

// All columns of at most found_height rows, b and c in place.
template <class T, Columns columns>
void found_wide(const FoundProduct<T>& p) {
  constexpr std::int64_t size = full_size<T>;
  using V = Vector<T, size>;
  if (p.n < size) return found_narrow<T, size / 2, columns>(p);
  std::int64_t j = 0;
  if (p.m <= 3) {
    for (; j + 4 * size <= p.n; j += 4 * size)
      found_strip<T, columns>(found_tiles<T, V, 4, 3, columns>[p.m - 1], p, j, 3 * size);
  }
  const FoundTile<T>* pairs = found_tiles<T, V, 2, found_height, columns>;
  for (; j + 2 * size <= p.n; j += 2 * size) found_strip<T, columns>(pairs[p.m - 1], p, j, size);
  const std::int64_t rest = p.n - j;
  if (rest == 0) return;
  if (rest > size && !p.add) return found_strip<T, columns>(pairs[p.m - 1], p, j, rest - size);
  const FoundTile<T>* tiles = found_tiles<T, V, 1, found_height, columns>;
  for (; j + size <= p.n; j += size) found_strip<T, columns>(tiles[p.m - 1], p, j, 0);
  if (j < p.n) found_rest<T, V, columns>(tiles, p, j);
}

template <class T, Columns columns>
void found_rows(const FoundProduct<T>& p) {
  const TileSplit split = tile_split(p.m, found_height);
  FoundProduct<T> part = p;
  for (std::int64_t t = 0; t < split.tiles; ++t) {
    part.m = split.rows + (t < split.taller);
    found_wide<T, columns>(part);
    part.a += part.m;
    part.c += part.m;
  }
}

template <class T, Columns columns>
const FoundTile<T>* tiles_of_panel(std::int64_t width) {
  constexpr std::int64_t size = full_size<T>;
  using V = Vector<T, size>;
  if (width > size) return found_tiles<T, V, 2, tile_rows, columns>;
  if constexpr (vector_bytes == 64) {
    using Half = Vector<T, size / 2>;
    if (width < size) return found_tiles<T, Half, 1, tile_rows, columns>;
  }
  return found_tiles<T, V, 1, tile_rows, columns>;
}

// All rows: columns of a packed panel, half a vector wide, or one or two, of which p.n are written.
template <class T>
void found_panel(const FoundProduct<T>& p, std::int64_t width) {
  const FoundTile<T>* const tiles =
      p.b_k ? tiles_of_panel<T, Columns::chosen>(width) : tiles_of_panel<T, Columns::packed>(width);
  const std::int64_t last = std::max<std::int64_t>(0, width - full_size<T>);
  const TileSplit split = tile_split(p.m, tile_rows);
  std::int64_t row = 0;
  for (std::int64_t t = 0; t < split.tiles; ++t) {
    const std::int64_t rows = split.rows + (t < split.taller);
    if (p.n == width) {
      tiles[rows - 1](p.k, p.a + row, p.a_k, p.b, p.b_k, last, p.c + row, p.add);
    } else {
      T part[tile_rows * panel_columns<T>];
      T* c[tile_rows];
      for (std::int64_t i = 0; i < rows; ++i) c[i] = part + i * width;
      tiles[rows - 1](p.k, p.a + row, p.a_k, p.b, p.b_k, last, c, false);
      for (std::int64_t i = 0; i < rows; ++i) {
        T* to = p.c[row + i];
        for (std::int64_t j = 0; j < p.n; ++j) to[j] = p.add ? to[j] + c[i][j] : c[i][j];
      }
    }
    row += rows;
  }
}
