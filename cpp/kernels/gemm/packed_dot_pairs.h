// kernels/gemm/packed_dot_pairs.h - the packing of rows that lie side by side, in pairs of 16 bits.
//
// Included inside the namespace of packed_dot_packing.h, after it, where AVX-512BW is allowed.
// packed_dot_rows.h has the same function of groups of any size.

// The pairs along k of n columns, of `count` rows. Words of a pair are out_row apart.
template <class S>
void pack_rows(const S* in, std::int64_t row, std::int64_t n, std::int64_t count, unsigned,
               std::uint32_t* out, std::int64_t out_row) {
  static_assert(sizeof(S) == sizeof(std::uint16_t) && group == 2);
  constexpr std::int64_t columns = 32, ahead = 32;  // rows that are fetched early
  struct Places {  // of the elements of words, in two vectors side by side
    alignas(64) std::uint16_t low[columns], high[columns];
  };
  static constexpr Places places = [] {
    Places p{};
    for (int i = 0; i < columns; ++i) {
      p.low[i] = static_cast<std::uint16_t>(i / 2 + ((i % 2 != 0) == descending ? 0 : columns));
      p.high[i] = static_cast<std::uint16_t>(p.low[i] + columns / 2);
    }
    return p;
  }();
  const __m512i first = _mm512_load_si512(places.low), second = _mm512_load_si512(places.high);
  for (std::int64_t l = 0; l < n; l += columns) {
    const __mmask32 mask = n - l < columns ? (1u << (n - l)) - 1 : ~0u;
    const S* from = in + l;
    std::uint32_t* to = out + l;
    for (std::int64_t k = 0; k < count; k += group, from += group * row, to += out_row) {
      const __m512i a = _mm512_maskz_loadu_epi16(mask, from),
                    b = _mm512_maskz_loadu_epi16(k + 1 < count ? mask : 0, from + row);
      for (int r = 0; r < group; ++r) __builtin_prefetch(from + (ahead + r) * row, 0, 1);
      _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask),
                               _mm512_permutex2var_epi16(a, first, b));
      _mm512_mask_storeu_epi32(to + columns / 2, static_cast<__mmask16>(mask >> columns / 2),
                               _mm512_permutex2var_epi16(a, second, b));
    }
  }
}
