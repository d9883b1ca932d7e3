// kernels/gemm/packed_dot_packing.h - the packing of operands in groups of 32 bits.
//
// Included inside a namespace which defines `group`, the number of elements of a group, and `Part`,
// the integer that holds one. It also defines `descending`: the first element is in the highest
// bits.

// The position of element r of a group in its lane.
constexpr int shift_of(int r) { return 32 / group * (descending ? group - 1 - r : r); }

// An element as one part of a lane, `flip` reversed in it.
template <class S>
[[gnu::always_inline]] inline std::uint32_t part_of(S x, unsigned flip) {
  return static_cast<std::uint32_t>(static_cast<Part>(static_cast<Part>(x) ^ flip));
}

// The group of elements `step` apart, the last `group` - count of which are zero.
template <class S>
[[gnu::always_inline]] inline std::uint32_t word_of(const S* in, std::int64_t step, int count,
                                                    unsigned flip) {
  std::uint32_t word = 0;
  for (int r = 0; r < count; ++r) word |= part_of(in[r * step], flip) << shift_of(r);
  return word;
}

// Groups of `count` elements `step` apart.
template <class S>
void pack_line(const S* in, std::int64_t step, std::int64_t count, unsigned flip,
               std::uint32_t* out) {
  const std::int64_t whole = count / group;
  if (sizeof(Part) == sizeof(S) && step == 1) {
    for (std::int64_t g = 0; g < whole; ++g) {
      std::uint32_t word;
      __builtin_memcpy(&word, in + g * group, sizeof word);
      if (descending) word = word >> 16 | word << 16;
      out[g] = word ^ (flip * 0x01010101u);
    }
  } else {
    for (std::int64_t g = 0; g < whole; ++g)
      out[g] = word_of(in + g * group * step, step, group, flip);
  }
  if (whole * group < count)
    out[whole] =
        word_of(in + whole * group * step, step, static_cast<int>(count - whole * group), flip);
}
