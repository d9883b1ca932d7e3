// kernels/gemm/gemv.h - products that read one operand once: matrix-vector, dot, few rows.
//
// Included by <isa>.cpp inside its own namespace, after simd.h. These are bound by
// memory: they read it in runs of whole cache lines, and ahead of time.

// acc[g] = the chains of vector g of contiguous rows, a_m apart, with `count` elements of a column.
// `crowded`: lines of the rows compete for few places of the first-level cache, so each is copied
// from there at once.
template <bool crowded, class T, class V, int groups>
[[gnu::always_inline]] inline void chains(const T* a, std::int64_t a_m, const T* b,
                                          std::int64_t b_k, std::int64_t count, V (&acc)[groups]) {
  constexpr std::int64_t size = full_size<T>, lane = lane_size<T>;
  // Memory is read so many elements before they are needed.
  constexpr std::int64_t ahead = (crowded ? 256 : 128) / sizeof(T);
  const std::int64_t a_step = size * a_m;
#pragma GCC unroll 4
  for (int g = 0; g < groups; ++g) acc[g] = V{};
  const auto add_steps = [&](int g, std::int64_t k, const T* at, std::int64_t at_m) {
    V v[lane];
#pragma GCC unroll 4
    for (int l = 0; l < lane; ++l) v[l] = load_lanes<V>(at + l * at_m, lane * at_m);
    transpose_lanes<T>(v);
#pragma GCC unroll 4
    for (int l = 0; l < lane; ++l) acc[g] = fma(v[l], splat<V>(b[(k + l) * b_k]), acc[g]);
  };
  const auto steps = [&](int g, std::int64_t k) { add_steps(g, k, a + g * a_step + k, a_m); };
  // A line of a row is read in one go: before it is needed again, others may have taken its place.
  constexpr std::int64_t line = 64 / sizeof(T);
  alignas(64) T lines_of_rows[crowded ? size * line : 1];
  const std::int64_t lines = count / line * line, whole = count / lane * lane;
  for (std::int64_t k = 0; k < lines; k += line) {
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g) {
      for (std::int64_t l = 0; l < size; ++l) {
        const T* row = a + g * a_step + l * a_m + k;
        __builtin_prefetch(row + ahead, 0, crowded ? 2 : 3);
        if constexpr (crowded) {
          for (std::int64_t i = 0; i < line; i += size)
            store(lines_of_rows + l * line + i, load<V>(row + i));
        }
      }
#pragma GCC unroll 4
      for (std::int64_t i = 0; i < line; i += lane) {
        if constexpr (crowded) {
          add_steps(g, k + i, lines_of_rows + i, line);
        } else {
          steps(g, k + i);
        }
      }
    }
  }
  for (std::int64_t k = lines; k < whole; k += lane) {
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g) steps(g, k);
  }
  for (std::int64_t k = whole; k < count; ++k) {
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g) {
      T column[size];
      for (int l = 0; l < size; ++l) column[l] = a[g * a_step + l * a_m + k];
      acc[g] = fma(load<V>(column), splat<V>(b[k * b_k]), acc[g]);
    }
  }
}

template <class T, class V>
[[gnu::always_inline]] inline void put(T* c, V v, bool add) {
  store(c, add ? load<V>(c) + v : v);
}

// Rows [row, row + groups * size) of a times one column. Crowded are rows that lie a power of two
// apart: 2048 x 2048 numbers take 0.36 ms in place of 0.51 with a copy of each line (Zen 4).
template <class T, int groups, bool crowded = false>
void dot_rows(const Product<T>& p, std::int64_t row, bool add) {
  constexpr std::int64_t size = full_size<T>;
  const T* a = p.a + row * p.a_m;
  for (std::int64_t k = 0; k < p.k; k += matmul_k_block) {
    const std::int64_t count = p.k - k < matmul_k_block ? p.k - k : matmul_k_block;
    Vector<T, size> acc[groups];
    chains<crowded>(a + k, p.a_m, p.b + k * p.b_k, p.b_k, count, acc);
    for (int g = 0; g < groups; ++g) put(p.c + row + g * size, acc[g], add || k > 0);
  }
}

// `count` blocks of one dot product at a time, from block `first`: their sums.
template <class T, int count>
void block_sums(const T* a, const T* b, std::int64_t b_k, std::int64_t k, T* sums) {
  T acc[count] = {};
  const std::int64_t last = k - (count - 1) * matmul_k_block;
  for (std::int64_t i = 0; i < last; ++i) {
#pragma GCC unroll 4
    for (int n = 0; n < count; ++n) {
      acc[n] = fma(a[n * matmul_k_block + i], b[(n * matmul_k_block + i) * b_k], acc[n]);
    }
  }
  for (std::int64_t i = last; i < matmul_k_block; ++i) {
#pragma GCC unroll 4
    for (int n = 0; n + 1 < count; ++n) {
      acc[n] = fma(a[n * matmul_k_block + i], b[(n * matmul_k_block + i) * b_k], acc[n]);
    }
  }
  for (int n = 0; n < count; ++n) sums[n] = acc[n];
}

// One contiguous row times one column: the sums of the blocks of k. These are independent chains, a
// vector of them.
template <class T>
void dot_sums(const T* a, const T* b, std::int64_t b_k, std::int64_t k, T* sums) {
  constexpr std::int64_t size = full_size<T>, lane = lane_size<T>, block = matmul_k_block,
                         group = size * block, line = 64 / sizeof(T);
  using V = Vector<T, size>;
  for (; b_k == 1 && k >= group; k -= group, a += group, b += group, sums += size) {
    V acc{};
    for (std::int64_t i = 0; i < block; i += line) {
      for (std::int64_t l = 0; l < size; ++l) {
        __builtin_prefetch(a + group + l * block + i, 0, 2);
        __builtin_prefetch(b + group + l * block + i, 0, 2);
      }
#pragma GCC unroll 4
      for (std::int64_t j = i; j < i + line; j += lane) {
        V x[lane], y[lane];
#pragma GCC unroll 4
        for (int l = 0; l < lane; ++l) {
          x[l] = load_lanes<V>(a + l * block + j, lane * block);
          y[l] = load_lanes<V>(b + l * block + j, lane * block);
        }
        transpose_lanes<T>(x);
        transpose_lanes<T>(y);
#pragma GCC unroll 4
        for (int l = 0; l < lane; ++l) acc = fma(x[l], y[l], acc);
      }
    }
    store(sums, acc);
  }
  while (k > 0) {
    const std::int64_t count = k > 3 * block ? 4 : (k + block - 1) / block;
    const std::int64_t taken = k < 4 * block ? k : 4 * block;
    if (count == 4) block_sums<T, 4>(a, b, b_k, taken, sums);
    if (count == 3) block_sums<T, 3>(a, b, b_k, taken, sums);
    if (count == 2) block_sums<T, 2>(a, b, b_k, taken, sums);
    if (count == 1) block_sums<T, 1>(a, b, b_k, taken, sums);
    k -= taken, a += taken, b += taken * b_k, sums += count;
  }
}

template <class T>
T dot(const T* a, const T* b, std::int64_t b_k, std::int64_t k) {
  constexpr std::int64_t together = 32, most = together * matmul_k_block;
  T sums[together], sum{};
  for (std::int64_t done = 0; done < k; done += most) {
    const std::int64_t n = k - done < most ? k - done : most;
    dot_sums(a + done, b + done * b_k, b_k, n, sums);
    for (std::int64_t i = 0; i * matmul_k_block < n; ++i)
      sum = done + i > 0 ? sum + sums[i] : sums[i];
  }
  return sum;
}

// As many dot products of a stack as a vector has lanes, each a chain of its own.
template <class T, std::int64_t size>
void dots_in_lanes(const StackOfDots<T>& p, std::int64_t first) {
  constexpr std::int64_t lane = lane_size<T>;
  using V = Vector<T, size>;
  const T *a = p.a + first * p.a_batch, *b = p.b + first * p.b_batch;
  V total{};
  for (std::int64_t from = 0; from < p.k; from += matmul_k_block) {
    const std::int64_t end = p.k - from < matmul_k_block ? p.k : from + matmul_k_block;
    V acc{};
    std::int64_t k = from;
    for (; k + lane <= end; k += lane) {
      V x[lane], y[lane];
#pragma GCC unroll 4
      for (int l = 0; l < lane; ++l) {
        x[l] = load_lanes<V>(a + l * p.a_batch + k, lane * p.a_batch);
        y[l] = load_lanes<V>(b + l * p.b_batch + k, lane * p.b_batch);
      }
      transpose_lanes<T>(x);
      transpose_lanes<T>(y);
#pragma GCC unroll 4
      for (int l = 0; l < lane; ++l) acc = fma(x[l], y[l], acc);
    }
    for (; k < end; ++k) {
      T x[size], y[size];
      for (int l = 0; l < size; ++l) {
        x[l] = a[l * p.a_batch + k];
        y[l] = b[l * p.b_batch + k];
      }
      acc = fma(load<V>(x), load<V>(y), acc);
    }
    total = from > 0 ? total + acc : acc;
  }
  T sums[size];
  store(sums, total);
  for (int l = 0; l < size; ++l) p.c[(first + l) * p.c_batch] = sums[l];
}

template <class T>
void stacked_dots(const StackOfDots<T>& p) {
  constexpr std::int64_t size = full_size<T>, lane = lane_size<T>;
  std::int64_t i = 0;
  for (; i + size <= p.count; i += size) dots_in_lanes<T, size>(p, i);
  for (; i + lane <= p.count; i += lane) dots_in_lanes<T, lane>(p, i);
  for (; i < p.count; ++i)
    p.c[i * p.c_batch] = dot(p.a + i * p.a_batch, p.b + i * p.b_batch, std::int64_t{1}, p.k);
}

template <class T>
void dots(const Product<T>& p, bool add) {
  constexpr std::int64_t size = full_size<T>;
  const bool crowded = p.a_m * static_cast<std::int64_t>(sizeof(T)) % 1024 == 0;
  std::int64_t i = 0;
  if (crowded) {
    for (; i + size <= p.m; i += size) dot_rows<T, 1, true>(p, i, add);
  }
  for (; i + 4 * size <= p.m; i += 4 * size) dot_rows<T, 4>(p, i, add);
  for (; i + size <= p.m; i += size) dot_rows<T, 1>(p, i, add);
  if (i < p.m && p.m >= size && !add) {
    return dot_rows<T, 1>(p, p.m - size, add);  // overlaps rows that are written already
  }
  for (; i < p.m; ++i) {
    const T sum = dot(p.a + i * p.a_m, p.b, p.b_k, p.k);
    p.c[i] = add ? p.c[i] + sum : sum;
  }
}

// `rows` rows of a times `steps` rows of b, added to the sums in acc.
template <class T, int rows, int steps>
void stream_steps(const Product<T>& p, std::int64_t k, std::int64_t j, std::int64_t n, T* acc,
                  std::int64_t width) {
  constexpr std::int64_t size = full_size<T>;
  using V = Vector<T, size>;
  V x[rows][steps];
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int s = 0; s < steps; ++s) x[r][s] = splat<V>(p.a[r * p.a_m + (k + s) * p.a_k]);
  }
  const T* b = p.b + k * p.b_k + j;
  std::int64_t l = 0;
  for (; l + size <= n; l += size) {
    V sum[rows];
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) sum[r] = load<V>(acc + r * width + l);
#pragma GCC unroll 8
    for (int s = 0; s < steps; ++s) {
      const V y = load<V>(b + s * p.b_k + l);
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) sum[r] = fma(x[r][s], y, sum[r]);
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) store(acc + r * width + l, sum[r]);
  }
  for (; l < n; ++l) {
    for (int r = 0; r < rows; ++r) {
      for (int s = 0; s < steps; ++s) {
        acc[r * width + l] =
            fma(p.a[r * p.a_m + (k + s) * p.a_k], b[s * p.b_k + l], acc[r * width + l]);
      }
    }
  }
}

template <class T, int rows>
void stream_rows(const Product<T>& p) {
  constexpr std::int64_t width = 4096 / sizeof(T);
  constexpr int steps = rows == 1 ? 8 : rows == 2 ? 4 : 2;
  T acc[rows * width];
  for (std::int64_t j = 0; j < p.n; j += width) {
    const std::int64_t n = p.n - j < width ? p.n - j : width;
    for (std::int64_t done = 0; done < p.k; done += matmul_k_block) {
      const std::int64_t end = p.k - done < matmul_k_block ? p.k : done + matmul_k_block;
      for (T& x : acc) x = T{};
      std::int64_t k = done;
      for (; k + steps <= end; k += steps) stream_steps<T, rows, steps>(p, k, j, n, acc, width);
      for (; k < end; ++k) stream_steps<T, rows, 1>(p, k, j, n, acc, width);
      for (int r = 0; r < rows; ++r) {
        T* c = p.c + r * p.c_m + j;
        for (std::int64_t l = 0; l < n; ++l)
          c[l] = done ? c[l] + acc[r * width + l] : acc[r * width + l];
      }
    }
  }
}

template <class T>
void stream(const Product<T>& p) {
  Product<T> part = p;
  for (std::int64_t i = 0; i < p.m; i += part.m) {
    part.m = p.m - i < 4 ? p.m - i : 4;
    part.a = p.a + i * p.a_m;
    part.c = p.c + i * p.c_m;
    if (part.m == 4) stream_rows<T, 4>(part);
    if (part.m == 3) stream_rows<T, 3>(part);
    if (part.m == 2) stream_rows<T, 2>(part);
    if (part.m == 1) stream_rows<T, 1>(part);
  }
}
