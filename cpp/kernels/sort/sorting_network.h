// kernels/sort/sorting_network.h - a few vectors of AVX2 sorted in registers. Included by
// vector_sort.cpp alone, where that instruction set is on.
//
// Rows are vectors. A network across rows sorts each column. Columns are then merged two by two
// (Batcher's bitonic merges), until the elements ascend column after column.

#define SHARDAX_INLINE inline __attribute__((always_inline))

template <class K>
struct Register;

// The lanes of a mask's zeros, then those of its ones: bytes, one for a lane of 32 bits.
template <unsigned lanes>
constexpr auto zeros_first = [] {
  std::array<std::uint64_t, 1 << lanes> table{};
  constexpr unsigned words = 8 / lanes;
  for (unsigned mask = 0; mask < 1 << lanes; ++mask) {
    unsigned at = 0;
    for (unsigned side = 0; side < 2; ++side) {
      for (unsigned lane = 0; lane < lanes; ++lane) {
        if ((mask >> lane & 1) != side) continue;
        for (unsigned w = 0; w < words; ++w)
          table[mask] |= std::uint64_t{lane * words + w} << (8 * at++);
      }
    }
  }
  return table;
}();

// The parts that both widths share; L is the register of the width in question.
template <class K, class L>
struct Common {
  static constexpr int lanes = 32 / sizeof(K);
  static SHARDAX_INLINE __m256i load(const K* x) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  }
  static SHARDAX_INLINE void store(K* x, __m256i v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(x), v);
  }
  static SHARDAX_INLINE __m256i largest() { return L::all(std::numeric_limits<K>::max()); }
  // The first `count` elements, of fewer than a vector's; then the largest number.
  static SHARDAX_INLINE __m256i load_some(const K* x, std::int64_t count) {
    static constexpr std::int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const __m256i mask = _mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(ones + 8 - count * static_cast<int>(sizeof(K) / 4)));
    const __m256i v = _mm256_maskload_epi32(reinterpret_cast<const int*>(x), mask);
    return _mm256_blendv_epi8(largest(), v, mask);
  }
  // The lanes of the mask's zeros first.
  static SHARDAX_INLINE __m256i split(__m256i v, unsigned mask) {
    const __m128i order = _mm_cvtsi64_si128(static_cast<long long>(zeros_first<lanes>[mask]));
    return _mm256_permutevar8x32_epi32(v, _mm256_cvtepu8_epi32(order));
  }
  // Lane l is that of l ^ x.
  template <int x>
  static SHARDAX_INLINE __m256i crossed(__m256i v) {
    typedef K Lanes __attribute__((vector_size(32)));
    const auto a = reinterpret_cast<Lanes>(v);
    Lanes out;
    if constexpr (lanes == 8) {
      shuffle<0 ^ x, 1 ^ x, 2 ^ x, 3 ^ x, 4 ^ x, 5 ^ x, 6 ^ x, 7 ^ x>(out, a, a);
    } else {
      shuffle<0 ^ x, 1 ^ x, 2 ^ x, 3 ^ x>(out, a, a);
    }
    return reinterpret_cast<__m256i>(out);
  }
  // Lanes whose number has the bit `step` come from b, the others from a.
  template <int step>
  static SHARDAX_INLINE __m256i blended(__m256i a, __m256i b) {
    constexpr int words = step * static_cast<int>(sizeof(K) / 4);
    return _mm256_blend_epi32(a, b, words == 1 ? 0xAA : words == 2 ? 0xCC : 0xF0);
  }
};

template <>
struct Register<std::int32_t> : Common<std::int32_t, Register<std::int32_t>> {
  static SHARDAX_INLINE __m256i all(std::int32_t x) { return _mm256_set1_epi32(x); }
  static SHARDAX_INLINE unsigned greater(__m256i a, __m256i b) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b))));
  }
  static SHARDAX_INLINE void order(__m256i& a, __m256i& b) {
    const __m256i low = _mm256_min_epi32(a, b);
    b = _mm256_max_epi32(a, b);
    a = low;
  }
};

template <>
struct Register<std::int64_t> : Common<std::int64_t, Register<std::int64_t>> {
  static SHARDAX_INLINE __m256i all(std::int64_t x) { return _mm256_set1_epi64x(x); }
  static SHARDAX_INLINE unsigned greater(__m256i a, __m256i b) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(a, b))));
  }
  static SHARDAX_INLINE void order(__m256i& a, __m256i& b) {
    const __m256d more = _mm256_castsi256_pd(_mm256_cmpgt_epi64(a, b));
    const __m256d x = _mm256_castsi256_pd(a), y = _mm256_castsi256_pd(b);
    a = _mm256_castpd_si256(_mm256_blendv_pd(x, y, more));
    b = _mm256_castpd_si256(_mm256_blendv_pd(y, x, more));
  }
};

template <class K, int rows>
struct Block {
  using R = Register<K>;
  static constexpr int lanes = R::lanes;
  __m256i v[rows];

  SHARDAX_INLINE void sort() {
    sort_columns();
    merge<1>();
  }

  // The fewest comparisons known for so many rows (Knuth, The Art of Computer Programming, 5.3.4).
  SHARDAX_INLINE void sort_columns() {
    if constexpr (rows == 4) {
      order({{0, 2}, {1, 3}, {0, 1}, {2, 3}, {1, 2}});
    } else if constexpr (rows == 8) {
      order({{0, 2},
             {1, 3},
             {4, 6},
             {5, 7},
             {0, 4},
             {1, 5},
             {2, 6},
             {3, 7},
             {0, 1},
             {2, 3},
             {4, 5},
             {6, 7},
             {2, 4},
             {3, 5},
             {1, 4},
             {3, 6},
             {1, 2},
             {3, 4},
             {5, 6}});
    }
  }
  template <std::size_t count>
  SHARDAX_INLINE void order(const int (&pairs)[count][2]) {
#pragma GCC unroll 32
    for (std::size_t i = 0; i < count; ++i) R::order(v[pairs[i][0]], v[pairs[i][1]]);
  }

  // Columns ascend through groups of `half` lanes: makes them do so through twice as many.
  template <int half>
  SHARDAX_INLINE void merge() {
    constexpr int group = 2 * half;
    if constexpr (rows == 1) {
      __m256i a = v[0], b = R::template crossed<group - 1>(a);
      R::order(a, b);
      v[0] = R::template blended<half>(a, b);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows / 2; ++i) {
      __m256i &top = v[i], &bottom = v[rows - 1 - i];
      __m256i a = top, b = R::template crossed<group - 1>(bottom);
      R::order(a, b);
      top = R::template blended<half>(a, b);
      bottom = R::template crossed<group - 1>(R::template blended<half>(b, a));
    }
    order_lanes<half / 2>();
    order_rows<rows / 2>();
    if constexpr (group < lanes) merge<group>();
  }
  template <int step>
  SHARDAX_INLINE void order_lanes() {
    if constexpr (step > 0) {
#pragma GCC unroll 8
      for (int i = 0; i < rows; ++i) {
        __m256i a = v[i], b = R::template crossed<step>(a);
        R::order(a, b);
        v[i] = R::template blended<step>(a, b);
      }
      order_lanes<step / 2>();
    }
  }
  template <int step>
  SHARDAX_INLINE void order_rows() {
    if constexpr (step > 0) {
#pragma GCC unroll 8
      for (int i = 0; i < rows; ++i) {
        if ((i & step) == 0) R::order(v[i], v[i + step]);
      }
      order_rows<step / 2>();
    }
  }

  // Column after column.
  SHARDAX_INLINE void store(K* out) const {
#pragma GCC unroll 2
    for (int r = 0; r < rows; r += 4) {
      if constexpr (lanes == 4) {
        const __m256i a = _mm256_unpacklo_epi64(v[r], v[r + 1]),
                      b = _mm256_unpackhi_epi64(v[r], v[r + 1]),
                      c = _mm256_unpacklo_epi64(v[r + 2], v[r + 3]),
                      d = _mm256_unpackhi_epi64(v[r + 2], v[r + 3]);
        R::store(out + r, _mm256_permute2x128_si256(a, c, 0x20));
        R::store(out + rows + r, _mm256_permute2x128_si256(b, d, 0x20));
        R::store(out + 2 * rows + r, _mm256_permute2x128_si256(a, c, 0x31));
        R::store(out + 3 * rows + r, _mm256_permute2x128_si256(b, d, 0x31));
      } else {
        const __m256i a = _mm256_unpacklo_epi32(v[r], v[r + 1]),
                      b = _mm256_unpackhi_epi32(v[r], v[r + 1]),
                      c = _mm256_unpacklo_epi32(v[r + 2], v[r + 3]),
                      d = _mm256_unpackhi_epi32(v[r + 2], v[r + 3]);
        // Four of columns l and l + 4.
        const __m256i four[4] = {_mm256_unpacklo_epi64(a, c), _mm256_unpackhi_epi64(a, c),
                                 _mm256_unpacklo_epi64(b, d), _mm256_unpackhi_epi64(b, d)};
#pragma GCC unroll 4
        for (int l = 0; l < 4; ++l) {
          _mm_storeu_si128(reinterpret_cast<__m128i*>(out + l * rows + r),
                           _mm256_castsi256_si128(four[l]));
          _mm_storeu_si128(reinterpret_cast<__m128i*>(out + (l + 4) * rows + r),
                           _mm256_extracti128_si256(four[l], 1));
        }
      }
    }
  }
};
