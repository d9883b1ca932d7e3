// kernels/gemm/packed_dot_round.h - sums of a panel of 32 columns, rounded to bfloat16.
//
// Included inside a namespace, where AVX-512 BF16 is allowed.

// Rows of sums, one after the other. Denormal numbers count as zero.
inline void round_rows(const float* sums, std::int64_t rows, std::uint16_t* out,
                       std::int64_t out_row) {
  for (std::int64_t r = 0; r < rows; ++r, sums += 32, out += out_row) {
    const auto both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(sums + 16), _mm512_loadu_ps(sums));
    __builtin_memcpy(out, &both, sizeof both);
  }
}
