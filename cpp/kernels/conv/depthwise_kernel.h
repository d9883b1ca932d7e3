// kernels/conv/depthwise_kernel.h - outputs of one channel each, and the gradients of its kernel.
//
// Included by gemm/<isa>.cpp inside its own namespace, after gemm/microkernel.h. Vectors go along
// columns or along channels; where the last one is not full, it overlaps the one before.

// Calls f(start, last, vectors) for strips of `most` vectors and, where fewer are left, of half as
// many, that cover n elements. These are no fewer than a vector. Vector j is at start + j * size,
// the last at start + last.
template <std::int64_t size, int most, class F>
[[gnu::always_inline]] inline void each_strip(std::int64_t n, std::int64_t j, const F& f) {
  const std::int64_t vectors = (n + size - 1) / size, room = n - most * size;
  for (; j + most <= vectors; j += most) {
    const std::int64_t start = room < 0 ? 0 : room < j * size ? room : j * size;
    f(start, room < 0 ? n - size : (most - 1) * size, std::integral_constant<int, most>());
  }
  if constexpr (most > 1) {
    if (j < vectors) each_strip<size, most / 2>(n, j, f);
  }
}

// The vectors that n elements fill: of `size` elements, or of fewer.
template <class T, std::int64_t size, class F>
[[gnu::always_inline]] inline void with_vectors(std::int64_t n, const F& f) {
  if constexpr (size > 1) {
    constexpr std::int64_t narrower = size / 2 < lane_size<T> ? 1 : size / 2;
    if (n < size) return with_vectors<T, narrower>(n, f);
  }
  f(std::integral_constant<std::int64_t, size>());
}

// Calls f(first, count) with a constant count of at most `most`, for parts of n of nearly the same
// size.
template <int most, class F>
[[gnu::always_inline]] inline void each_part(std::int64_t n, const F& f) {
  if (n == 0) return;
  const TileSplit split = tile_split(n, most);
  std::int64_t first = 0;
  for (std::int64_t t = 0; t < split.tiles; ++t) {
    const std::int64_t count = split.rows + (t < split.taller);
    const auto one_of = [&]<int... i>(std::integer_sequence<int, i...>) {
      ((count == i + 1 ? f(first, std::integral_constant<int, i + 1>()) : void()), ...);
    };
    one_of(std::make_integer_sequence<int, most>());
    first += count;
  }
}

// ---- outputs ---------------------------------------------------------------------------------

// Rows of a plane, whose columns are adjacent. A vector may have more than these: the rest is
// written to the place of a later row.
template <class T, class V, int rows, int vectors>
[[gnu::noinline]] void depthwise_plane_tile(const Depthwise<T>& p, std::int64_t row,
                                            std::int64_t start, std::int64_t last) {
  constexpr int size = sizeof(V) / sizeof(T);
  const T* const in = p.in + row * p.in_row + start;
  V acc[rows][vectors] = {};
  const std::int64_t* at = p.at;
  for (const T *w = p.weights, *end = w + p.taps; w != end; ++w) {
    const T* from = in + *at++;
    const V weight = splat<V>(*w);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i, from += p.in_row) {
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j)
        acc[i][j] = fma(load<V>(from + (j + 1 < vectors ? j * size : last)), weight, acc[i][j]);
    }
  }
  T* out = p.out + row * p.out_row + start;
  if (vectors > 1 || p.columns >= size) {
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j)
        store(out + i * p.out_row + (j + 1 < vectors ? j * size : last), acc[i][j]);
    }
    return;
  }
  const std::int64_t left = p.out_row == p.columns ? (p.rows - row) * p.columns : 0;
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i, out += p.out_row) {
    if (i * p.columns + size <= left) {
      store(out, acc[i][0]);
    } else {
      T part[size];
      store(part, acc[i][0]);
      for (std::int64_t j = 0; j < p.columns; ++j) out[j] = part[j];
    }
  }
}

template <class T, std::int64_t size>
void depthwise_planes_of(const Depthwise<T>& p) {
  if constexpr (size > lane_size<T>) {
    if (p.columns <= size / 2) return depthwise_planes_of<T, size / 2>(p);
  }
  using V = Vector<T, size>;
  const auto strip = [&](std::int64_t start, std::int64_t last, auto vectors) {
    each_part<8 / vectors>(p.rows, [&](std::int64_t row, auto rows) {
      depthwise_plane_tile<T, V, rows, vectors>(p, row, start, last);
    });
  };
  if constexpr (size == full_size<T>) {
    if (p.columns > size) return each_strip<size, 4>(p.columns, 0, strip);
  }
  strip(0, 0, std::integral_constant<int, 1>());
}

template <class T>
void depthwise_planes(const Depthwise<T>& p) {
  depthwise_planes_of<T, full_size<T>>(p);
}

// A row, whose channels are adjacent.
template <class T, class V, int columns, int vectors>
[[gnu::noinline]] void depthwise_lane_tile(const Depthwise<T>& p, const T* in, const T* weights,
                                           T* out, std::int64_t last) {
  constexpr int size = sizeof(V) / sizeof(T);
  V acc[columns][vectors] = {};
  for (std::int64_t k = 0; k < p.taps; ++k) {
    const T* from = in + p.at[k];
    const T* w = weights + p.weights_at[k];
    V weight[vectors];
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) weight[j] = load<V>(w + (j + 1 < vectors ? j * size : last));
#pragma GCC unroll 6
    for (int i = 0; i < columns; ++i, from += p.in_column) {
#pragma GCC unroll 8
      for (int j = 0; j < vectors; ++j)
        acc[i][j] = fma(load<V>(from + (j + 1 < vectors ? j * size : last)), weight[j], acc[i][j]);
    }
  }
  // The last tap of the next row is the first to see its part of `in`.
  const T* next = in + (p.taps > 0 ? p.at[p.taps - 1] : 0) + p.in_row;
#pragma GCC unroll 6
  for (int i = 0; i < columns; ++i, next += p.in_column) {
#pragma GCC unroll 8
    for (int byte = 0; byte < vectors * int{sizeof(V)}; byte += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(next) + byte);
  }
#pragma GCC unroll 6
  for (int i = 0; i < columns; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j)
      store(out + i * p.out_column + (j + 1 < vectors ? j * size : last), acc[i][j]);
  }
}

template <class T>
void depthwise_lanes(const Depthwise<T>& p) {
  with_vectors<T, full_size<T>>(p.lanes, [&](auto size) {
    using V = Vector<T, size>;
    for (std::int64_t y = 0; y < p.rows; ++y) {
      each_part<6>(p.columns, [&](std::int64_t x, auto columns) {
        const T* in = p.in + y * p.in_row + x * p.in_column;
        T* out = p.out + y * p.out_row + x * p.out_column;
        // Sums of so many vectors hide the time that one takes.
        constexpr int most = size < full_size<T> ? 1 : columns == 1 ? 8 : columns <= 3 ? 4 : 2;
        each_strip<size, most>(p.lanes, 0,
                               [&](std::int64_t start, std::int64_t last, auto vectors) {
                                 depthwise_lane_tile<T, V, columns, vectors>(
                                     p, in + start, p.weights + start, out + start, last);
                               });
      });
    }
  });
}

// ---- gradients of kernels --------------------------------------------------------------------

// Taps of a sum that are in registers together.
constexpr int depthwise_taps = vector_bytes == 64 ? 12 : 6;

// Elements of all ones, then as many of zeros.
template <class Bit, int n>
struct DepthwiseMasks {
  constexpr DepthwiseMasks() {
    for (int i = 0; i < n; ++i) of[i] = -1;
  }
  alignas(64) Bit of[2 * n] = {};
};
template <class Bit, int n>
constexpr DepthwiseMasks<Bit, n> depthwise_masks{};

// The sums of so many taps over all rows, in 64 bytes of chains each. The last columns of a row
// fill `full` vectors of these and, if there are more, a part of one. `tails` has them for rows
// from `safe` on: 64 bytes of those before can be read.
template <class T, int taps, int full>
[[gnu::noinline]] void depthwise_plane_sums(const DepthwiseSums<T>& p, std::int64_t tap,
                                            std::int64_t safe, const T* tails) {
  using V = Vector<T, full_size<T>>;
  using Bits = Vector<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>, full_size<T>>;
  using Bit = std::remove_cvref_t<decltype(Bits{}[0])>;
  constexpr int size = full_size<T>, chains = depthwise_chains<T>, vectors = chains / size;
  const std::int64_t whole = p.columns / chains * chains, rest = p.columns - whole - full * size;
  // Elements past the end are not of this row, and may be no numbers.
  const Bits inside = load<Bits>(depthwise_masks<Bit, size>.of + size - rest);
  const std::int64_t* const at = p.at + tap;
  V acc[taps][vectors] = {};
  for (std::int64_t y = 0; y < p.rows; ++y) {
    const T* row[taps];
#pragma GCC unroll 12
    for (int k = 0; k < taps; ++k) row[k] = p.in + y * p.in_row + at[k];
    const T* const from = p.factor + y * p.factor_row;
    for (std::int64_t x = 0; x < whole; x += chains) {
      V factor[vectors];
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j) factor[j] = load<V>(from + x + j * size);
#pragma GCC unroll 12
      for (int k = 0; k < taps; ++k) {
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j)
          acc[k][j] = fma(load<V>(row[k] + x + j * size), factor[j], acc[k][j]);
      }
    }
    const T* const tail = y < safe ? from + whole : tails + (y - safe) * chains;
#pragma GCC unroll 4
    for (int j = 0; j < full; ++j) {
      const V factor = load<V>(tail + j * size);
#pragma GCC unroll 12
      for (int k = 0; k < taps; ++k)
        acc[k][j] = fma(load<V>(row[k] + whole + j * size), factor, acc[k][j]);
    }
    if (rest == 0) continue;
    const V factor = V(load<Bits>(tail + full * size) & inside);
#pragma GCC unroll 12
    for (int k = 0; k < taps; ++k) {
      const V value = V(load<Bits>(row[k] + whole + full * size) & inside);
      acc[k][full] = fma(value, factor, acc[k][full]);
    }
  }
#pragma GCC unroll 12
  for (int k = 0; k < taps; ++k) {
    T* sums = p.sums + p.sums_at[tap + k];
#pragma GCC unroll 4
    for (int j = 0; j < vectors; ++j, sums += size) store(sums, load<V>(sums) + acc[k][j]);
  }
}

template <class T>
void depthwise_sums_of_planes(const DepthwiseSums<T>& p) {
  constexpr std::int64_t chains = depthwise_chains<T>;
  const std::int64_t rest = p.columns % chains;
  std::int64_t safe = rest == 0 ? p.rows : 0;
  while (safe < p.rows && (p.rows - 1 - safe) * p.factor_row + rest >= chains) ++safe;
  alignas(64) T tails[depthwise_most_rows * chains];
  for (std::int64_t y = safe; y < p.rows; ++y) {
    const T* from = p.factor + y * p.factor_row + p.columns - rest;
    for (std::int64_t x = 0; x < rest; ++x) tails[(y - safe) * chains + x] = from[x];
    for (std::int64_t x = rest; x < chains; ++x) tails[(y - safe) * chains + x] = T{};
  }
  constexpr int vectors = chains / full_size<T>;
  const auto run = [&](auto full) {
    each_part<depthwise_taps>(p.taps, [&](std::int64_t tap, auto taps) {
      depthwise_plane_sums<T, taps, full>(p, tap, safe, tails);
    });
  };
  const auto one_of = [&]<int... i>(std::integer_sequence<int, i...>) {
    ((rest / full_size<T> == i ? run(std::integral_constant<int, i>()) : void()), ...);
  };
  one_of(std::make_integer_sequence<int, vectors>());
}

// The sums of so many taps over all rows and columns, for the channels of some vectors.
template <class T, class V, int taps, int vectors>
[[gnu::noinline]] void depthwise_lane_sums(const DepthwiseSums<T>& p, std::int64_t tap) {
  constexpr int size = sizeof(V) / sizeof(T);
  const std::int64_t* const at = p.at + tap;
  V acc[taps][vectors] = {};
  for (std::int64_t y = 0; y < p.rows; ++y) {
    const T* in = p.in + y * p.in_row;
    const T* from = p.factor + y * p.factor_row;
    for (std::int64_t x = 0; x < p.columns; ++x, in += p.in_column, from += p.factor_column) {
      V factor[vectors];
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) factor[j] = load<V>(from + j * size);
#pragma GCC unroll 6
      for (int k = 0; k < taps; ++k) {
        const T* row = in + at[k];
#pragma GCC unroll 2
        for (int j = 0; j < vectors; ++j)
          acc[k][j] = fma(load<V>(row + j * size), factor[j], acc[k][j]);
      }
    }
  }
#pragma GCC unroll 6
  for (int k = 0; k < taps; ++k) {
    T* sums = p.sums + p.sums_at[tap + k];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j, sums += size) store(sums, load<V>(sums) + acc[k][j]);
  }
}

template <class T, class V, int vectors>
void depthwise_sums_of_strip(DepthwiseSums<T> p, std::int64_t lane, T* sums) {
  p.in += lane, p.factor += lane, p.sums = sums;
  each_part<6>(p.taps, [&](std::int64_t tap, auto taps) {
    depthwise_lane_sums<T, V, taps, vectors>(p, tap);
  });
}

template <class T>
void depthwise_sums_of_lanes(const DepthwiseSums<T>& p) {
  with_vectors<T, full_size<T>>(p.lanes, [&](auto size) {
    using V = Vector<T, size>;
    std::int64_t lane = 0;
    if constexpr (size == full_size<T>) {
      for (; lane + 2 * size <= p.lanes; lane += 2 * size)
        depthwise_sums_of_strip<T, V, 2>(p, lane, p.sums + lane);
    }
    for (; lane + size <= p.lanes; lane += size)
      depthwise_sums_of_strip<T, V, 1>(p, lane, p.sums + lane);
    if (lane == p.lanes) return;
    // Channels of the vector that ends with the last one: those before have been added.
    T last[depthwise_most_taps * size] = {};
    std::int64_t last_at[depthwise_most_taps];
    for (std::int64_t k = 0; k < p.taps; ++k) last_at[k] = k * size;
    DepthwiseSums<T> end = p;
    end.sums_at = last_at;
    const std::int64_t first = p.lanes - size;
    depthwise_sums_of_strip<T, V, 1>(end, first, last);
    for (std::int64_t k = 0; k < p.taps; ++k) {
      for (std::int64_t i = lane; i < p.lanes; ++i)
        p.sums[p.sums_at[k] + i] += last[k * size + i - first];
    }
  });
}
