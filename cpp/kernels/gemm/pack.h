// kernels/gemm/pack.h - packing of operands, and the matrix-vector product of rows.
//
// Included by <isa>.cpp inside its own namespace, after microkernel.h.

template <class T, class S>
[[gnu::always_inline]] inline T widen(S x) {
  if constexpr (std::is_same_v<S, bfloat16_t> || std::is_same_v<S, float16_t>) {
    return static_cast<T>(to_float(x));
  } else {
    return static_cast<T>(x);
  }
}

// Fewer than 2 * size elements: the rows of a tile do not fill vectors.
template <class T, std::int64_t size>
[[gnu::always_inline]] inline void copy_rest(const T* in, std::int64_t n, T* out) {
  if constexpr (size > 1) {
    const std::int64_t done = n >= size ? size : 0;
    if (done) store(out, load<Vector<T, size>>(in));
    copy_rest<T, size / 2>(in + done, n - done, out + done);
  } else if (n > 0) {
    *out = *in;
  }
}

template <class T, class S>
[[gnu::always_inline]] inline void pack_row(const S* in, std::int64_t n, T* out) {
  std::int64_t j = 0;
#if SHARDAX_VECTOR_BYTES >= 32
  if constexpr (std::is_same_v<S, float16_t> && std::is_same_v<T, float>) {
    for (; j + 8 <= n; j += 8) {
      _mm256_storeu_ps(out + j,
                       _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + j))));
    }
  }
#endif
  constexpr std::int64_t size = full_size<T>;
  for (; j + size <= n; j += size) {
    if constexpr (std::is_same_v<S, T>) {
      store(out + j, load<Vector<T, size>>(in + j));
    } else {
      for (std::int64_t i = 0; i < size; ++i) out[j + i] = widen<T>(in[j + i]);
    }
  }
  if constexpr (std::is_same_v<S, T>) return copy_rest<T, size / 2>(in + j, n - j, out + j);
  for (const S* end = in + n; in + j < end; ++j) out[j] = widen<T>(in[j]);
}

// Rows [0, end) of as many columns as a vector of `size` has.
template <class T, std::int64_t size>
[[gnu::always_inline]] inline void turn_square(const T* from, std::int64_t step, std::int64_t end,
                                               std::int64_t width, T* to) {
  constexpr std::int64_t lane = lane_size<T>;
  using V = Vector<T, size>;
  std::int64_t i = 0;
  for (; i + lane <= end; i += lane) {
    V v[lane];
#pragma GCC unroll 4
    for (int l = 0; l < lane; ++l) v[l] = load_lanes<V>(from + l * step + i, lane * step);
    transpose_lanes<T>(v);
#pragma GCC unroll 4
    for (int l = 0; l < lane; ++l) store(to + (i + l) * width, v[l]);
  }
  for (; i < end; ++i) {
    for (std::int64_t l = 0; l < size; ++l) to[i * width + l] = from[l * step + i];
  }
}

// Columns of `in` from j on, in vectors of `size` elements, then in smaller ones. They are
// contiguous: squares are transposed on the way, after widening. A cache line of each column is
// used up before the next.
template <class T, class S, std::int64_t size = full_size<T>>
void pack_columns_from(std::int64_t j, const S* in, std::int64_t in_j, std::int64_t rows,
                       std::int64_t columns, std::int64_t width, T* out) {
  if constexpr (size < lane_size<T>) {
    for (; j < columns; ++j) {
      for (std::int64_t i = 0; i < rows; ++i) out[i * width + j] = widen<T>(in[j * in_j + i]);
    }
  } else {
    constexpr std::int64_t run = 64 / sizeof(S);
    const std::int64_t whole = j + (columns - j) / size * size;
    for (std::int64_t first = 0; j < whole && first < rows; first += run) {
      const std::int64_t end = rows - first < run ? rows - first : run;
      for (std::int64_t to = j; to < whole; to += size) {
        const S* line = in + to * in_j + first;
        if constexpr (std::is_same_v<S, T>) {
          turn_square<T, size>(line, in_j, end, width, out + first * width + to);
        } else {
          T wide[size * run];
          for (std::int64_t l = 0; l < size; ++l) pack_row(line + l * in_j, end, wide + l * run);
          turn_square<T, size>(wide, run, end, width, out + first * width + to);
        }
      }
    }
    if (whole < columns)
      pack_columns_from<T, S, size / 2>(whole, in, in_j, rows, columns, width, out);
  }
}

template <class T, class S>
void pack_columns(const S* in, std::int64_t in_j, std::int64_t rows, std::int64_t columns,
                  std::int64_t width, T* out) {
  pack_columns_from<T, S>(0, in, in_j, rows, columns, width, out);
}

#if SHARDAX_VECTOR_BYTES >= 64
// A panel of 12 rows that are contiguous, in_j apart: four steps of k make four stores.
inline void pack_rows_of_tile(const float* in, std::int64_t in_j, std::int64_t rows, float* out) {
  static_assert(tile_rows == 12);
  constexpr std::int64_t lane = lane_size<float>;
  using V = Vector<float, 16>;
  const auto group = [&](const float* from) {
    __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(from));
    v = _mm512_insertf32x4(v, _mm_loadu_ps(from + lane * in_j), 1);
    return V(_mm512_insertf32x4(v, _mm_loadu_ps(from + 2 * lane * in_j), 2));
  };
  std::int64_t i = 0;
  for (; i + lane <= rows; i += lane, out += lane * tile_rows) {
    V v[lane];
#pragma GCC unroll 4
    for (int l = 0; l < lane; ++l) v[l] = group(in + l * in_j + i);
    transpose_lanes<float>(v);
#pragma GCC unroll 4
    for (int l = 0; l < lane; ++l)
      _mm512_mask_storeu_ps(out + l * tile_rows, (1 << tile_rows) - 1, __m512(v[l]));
  }
  for (; i < rows; ++i, out += tile_rows) {
    for (std::int64_t j = 0; j < tile_rows; ++j) out[j] = in[j * in_j + i];
  }
}
#endif

template <class T, class S>
void pack(const void* data, std::int64_t in_i, std::int64_t in_j, std::int64_t rows,
          std::int64_t columns, std::int64_t width, T* out) {
  const S* in = static_cast<const S*>(data);
  const std::int64_t full = columns / width * width;
  if (in_j == 1) {
    // Some rows of `in` at a time, over all panels. Memory is read in long runs, and writes to a
    // panel fill lines of the cache.
    constexpr std::int64_t together = 4;
    for (std::int64_t first = 0; first < rows; first += together) {
      const std::int64_t end = first + together < rows ? first + together : rows;
      const auto panel = [&](std::int64_t j, std::int64_t n) {
        for (std::int64_t i = first; i < end; ++i)
          pack_row<T>(in + i * in_i + j, n, out + j * rows + i * width);
      };
      std::int64_t j = 0;
      if (width == panel_columns<T>) {
        for (; j < full; j += width) panel(j, panel_columns<T>);
      } else if (width == tile_rows) {
        for (; j < full; j += width) panel(j, tile_rows);
      } else {
        for (; j < full; j += width) panel(j, width);
      }
      if (full < columns) panel(full, columns - full);
    }
  } else {
    for (std::int64_t j = 0; j < columns; j += width) {
      const std::int64_t n = columns - j < width ? columns - j : width;
      if (in_i == 1) {
#if SHARDAX_VECTOR_BYTES >= 64
        if constexpr (std::is_same_v<T, float> && std::is_same_v<S, float>) {
          if (n == tile_rows && width == tile_rows) {
            pack_rows_of_tile(in + j * in_j, in_j, rows, out + j * rows);
            continue;
          }
        }
#endif
        pack_columns(in + j * in_j, in_j, rows, n, width, out + j * rows);
        continue;
      }
      for (std::int64_t i = 0; i < rows; ++i) {
        T* to = out + j * rows + i * width;
        for (std::int64_t l = 0; l < n; ++l) to[l] = widen<T>(in[i * in_i + (j + l) * in_j]);
      }
    }
  }
  if (full == columns) return;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = columns - full; j < width; ++j) out[full * rows + i * width + j] = T{};
  }
}

template <class T>
Pack<T> pack_from(DType source) {
  switch (source) {
    case DType::bfloat16: return pack<T, bfloat16_t>;
    case DType::float16: return pack<T, float16_t>;
    case DType::float32: return pack<T, float>;
    default: return pack<T, T>;
  }
}

// The bits of to_bfloat16.
[[gnu::always_inline]] inline Vector<std::uint16_t, full_size<float>> bfloat16_of(
    Vector<float, full_size<float>> x) {
  using Words = Vector<std::uint32_t, full_size<float>>;
  const Words bits = Words(x), high = bits >> 16;
  const Words rounded = (bits + 0x7fffu + (high & 1u)) >> 16;
  const Words whole = x == x ? rounded : high | 0x40u;
  return __builtin_convertvector(whole, Vector<std::uint16_t, full_size<float>>);
}

template <class T, class Out>
void round_row(const T* in, std::int64_t n, Out* out, std::int64_t step) {
  std::int64_t j = 0;
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Out, bfloat16_t>) {
    constexpr std::int64_t size = full_size<float>;
    for (; step == 1 && j + size <= n; j += size)
      store(&out[j].bits, bfloat16_of(load<Vector<float, size>>(in + j)));
  }
#if SHARDAX_VECTOR_BYTES >= 32
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Out, float16_t>) {
    for (; step == 1 && j + 8 <= n; j += 8) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + j),
                       _mm256_cvtps_ph(_mm256_loadu_ps(in + j), _MM_FROUND_TO_NEAREST_INT));
    }
  }
#endif
  for (; j < n; ++j) {
    if constexpr (std::is_same_v<Out, bfloat16_t>) {
      out[j * step] = to_bfloat16(static_cast<float>(in[j]));
    } else if constexpr (std::is_same_v<Out, float16_t>) {
      out[j * step] = to_float16(static_cast<float>(in[j]));
    } else {
      out[j * step] = static_cast<Out>(in[j]);
    }
  }
}

template <class T, class Out>
void round_block(const T* in, std::int64_t rows, std::int64_t columns, void* out, std::int64_t c_m,
                 std::int64_t c_n) {
  for (std::int64_t i = 0; i < rows; ++i) {
    Out* row = static_cast<Out*>(out) + i * c_m;
    c_n == 1 ? round_row(in + i * columns, columns, row, 1)
             : round_row(in + i * columns, columns, row, c_n);
  }
}

template <class T>
Round<T> round_to(DType out) {
  if (out == DType::bfloat16) return round_block<T, bfloat16_t>;
  if (out == DType::float16) return round_block<T, float16_t>;
  if (out == DType::float32) return round_block<T, float>;
  return round_block<T, T>;
}

template <class T>
constexpr FloatKernels<T> table_with(void (*row_panel)(const Product<T>&, bool)) {
  return {full_size<T>,
          tile_rows,
          panel_columns<T>,
          direct<T>,
          stream<T>,
          dots<T>,
          dot_sums<T>,
          stacked_dots<T>,
          panel<T>,
          row_panel,
          found_panel<T>,
          found_rows<T, Columns::placed>,
          found_rows<T, Columns::lanes>,
          pack_columns<T, T>,
          pack_from<T>,
          round_to<T>,
          {map_channels<T, FromOperand>, map_channels<T, FromKernel>, map_channels<T, ToResult>,
           map_channels<T, FromCotangent>, map_channels<T, ToKernel>},
          {depthwise_planes<T>, depthwise_lanes<T>, depthwise_sums_of_planes<T>,
           depthwise_sums_of_lanes<T>}};
}
template <class T>
constexpr FloatKernels<T> table = table_with<T>(nullptr);
