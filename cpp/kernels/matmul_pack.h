// kernels/matmul_pack.h - packing of operands, and the matrix-vector product of rows.
//
// Included by matmul_<isa>.cpp inside its own namespace, after matmul_tile.h.

template <class T, class S>
[[gnu::always_inline]] inline T widen(S x) {
  if constexpr (std::is_same_v<S, bfloat16_t> || std::is_same_v<S, float16_t>) {
    return static_cast<T>(to_float(x));
  } else {
    return static_cast<T>(x);
  }
}

template <class T, class S>
[[gnu::always_inline]] inline void pack_row(const S* in, std::int64_t n, T* out) {
  std::int64_t j = 0;
#if SHARDAX_VECTOR_BYTES >= 32
  if constexpr (std::is_same_v<S, float16_t> && std::is_same_v<T, float>) {
    for (; j + 8 <= n; j += 8) {
      _mm256_storeu_ps(out + j, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + j))));
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
  for (; j < n; ++j) out[j] = widen<T>(in[j]);
}

// Columns of `in` are contiguous: squares of a vector's length are transposed on the way.
template <class T, class S>
void pack_columns(const S* in, std::int64_t in_j, std::int64_t rows, std::int64_t columns,
                  std::int64_t width, T* out) {
  constexpr std::int64_t size = full_size<T>, lane = lane_size<T>;
  std::int64_t j = 0;
  for (; j + size <= columns; j += size) {
    const S* from = in + j * in_j;
    std::int64_t i = 0;
    if constexpr (std::is_same_v<S, T>) {
      for (; i + lane <= rows; i += lane) {
        Vector<T, size> v[lane];
#pragma GCC unroll 4
        for (int l = 0; l < lane; ++l) v[l] = load_lanes<Vector<T, size>>(from + l * in_j + i, lane * in_j);
        transpose_lanes<T>(v);
#pragma GCC unroll 4
        for (int l = 0; l < lane; ++l) store(out + (i + l) * width + j, v[l]);
      }
    }
    for (; i < rows; ++i) {
      for (std::int64_t l = 0; l < size; ++l) out[i * width + j + l] = widen<T>(from[l * in_j + i]);
    }
  }
  for (; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) out[i * width + j] = widen<T>(in[j * in_j + i]);
  }
}

template <class T, class S>
void pack(const void* data, std::int64_t in_i, std::int64_t in_j, std::int64_t rows,
          std::int64_t columns, std::int64_t width, T* out) {
  const S* in = static_cast<const S*>(data);
  if (in_j == 1) {
    for (std::int64_t i = 0; i < rows; ++i) pack_row<T>(in + i * in_i, columns, out + i * width);
  } else if (in_i == 1) {
    pack_columns(in, in_j, rows, columns, width, out);
  } else {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) out[i * width + j] = widen<T>(in[i * in_i + j * in_j]);
    }
  }
  if (columns == width) return;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = columns; j < width; ++j) out[i * width + j] = T{};
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

// groups * size rows of a, each lane the chain of one row.
template <class T, int groups>
void dot_rows(const Product<T>& p, std::int64_t row) {
  constexpr std::int64_t size = full_size<T>, lane = lane_size<T>;
  using V = Vector<T, size>;
  const T* rows = p.a + row * p.a_m;
  V sum[groups] = {};
  for (std::int64_t done = 0; done < p.k; done += matmul_k_block) {
    const std::int64_t end = p.k - done < matmul_k_block ? p.k : done + matmul_k_block;
    V acc[groups];
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g) acc[g] = V{};
    std::int64_t k = done;
    for (; k + lane <= end; k += lane) {
#pragma GCC unroll 4
      for (int g = 0; g < groups; ++g) {
        V v[lane];
#pragma GCC unroll 4
        for (int l = 0; l < lane; ++l) v[l] = load_lanes<V>(rows + (g * size + l) * p.a_m + k, lane * p.a_m);
        transpose_lanes<T>(v);
#pragma GCC unroll 4
        for (int l = 0; l < lane; ++l) acc[g] = fma(v[l], splat<V>(p.b[(k + l) * p.b_k]), acc[g]);
      }
    }
    for (; k < end; ++k) {
      const V x = splat<V>(p.b[k * p.b_k]);
#pragma GCC unroll 4
      for (int g = 0; g < groups; ++g) {
        T column[size];
        for (int l = 0; l < size; ++l) column[l] = rows[(g * size + l) * p.a_m + k];
        acc[g] = fma(load<V>(column), x, acc[g]);
      }
    }
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g) sum[g] = done ? sum[g] + acc[g] : acc[g];
  }
  for (int g = 0; g < groups; ++g) store(p.c + row + g * size, sum[g]);
}

template <class T>
void dots(const Product<T>& p) {
  constexpr std::int64_t size = full_size<T>;
  std::int64_t i = 0;
  for (; i + 4 * size <= p.m; i += 4 * size) dot_rows<T, 4>(p, i);
  for (; i + size <= p.m; i += size) dot_rows<T, 1>(p, i);
  if (i < p.m) dot_rows<T, 1>(p, p.m - size);  // overlaps rows that are written already
}

template <class T>
constexpr FloatKernels<T> table = {full_size<T>, tile_rows, panel_columns<T>, direct<T>,
                                   dots<T>,      panel<T>,  pack_from<T>};
