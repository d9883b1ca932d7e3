// kernels/gemm/packed_dot_rows.h - the packing of rows that lie side by side, in groups of 32 bits.
//
// Included inside the namespace of packed_dot_packing.h, after it. packed_dot_pairs.h has the same
// function of pairs, in vectors.

// The groups along k of n columns, of `count` rows. Words of a group are out_row apart.
template <class S>
void pack_rows(const S* in, std::int64_t row, std::int64_t n, std::int64_t count, unsigned flip,
               std::uint32_t* out, std::int64_t out_row) {
  for (; count >= group; count -= group, in += group * row, out += out_row) {
    for (std::int64_t l = 0; l < n; ++l) out[l] = word_of(in + l, row, group, flip);
  }
  if (count > 0) {
    for (std::int64_t l = 0; l < n; ++l)
      out[l] = word_of(in + l, row, static_cast<int>(count), flip);
  }
}
