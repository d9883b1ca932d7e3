// kernels/random/threefry_lanes.h - rounds on vectors of the including file's instruction set.
//
// Included by threefry.cpp in a namespace per instruction set. It defines SHARDAX_LANES (32-bit
// words in a vector) and SHARDAX_VECTORS (hashed side by side, so that their rounds overlap).

constexpr int lanes = SHARDAX_LANES;
constexpr int vectors = SHARDAX_VECTORS;
constexpr std::int64_t block = lanes * vectors;

typedef std::uint32_t Lanes __attribute__((vector_size(lanes * 4)));

struct State {
  Lanes x0[vectors], x1[vectors];
};

// Whole bytes rotate by one shuffle of bytes, other counts by two shifts.
template <int bits>
[[gnu::always_inline]] inline Lanes rotate(Lanes x) {
  typedef std::uint8_t Bytes __attribute__((vector_size(lanes * 4)));
  if constexpr (bits % 8 == 0 && lanes == 8) {
    Bytes order;
    for (int i = 0; i < lanes * 4; ++i) {
      order[i] = static_cast<std::uint8_t>((i & ~3) | ((i - bits / 8) & 3));
    }
    auto rotated = reinterpret_cast<Bytes>(x);
    permute(rotated, order);
    return reinterpret_cast<Lanes>(rotated);
  } else {
    return (x << bits) | (x >> (32 - bits));
  }
}

template <int bits>
[[gnu::always_inline]] inline void round_of(State& s) {
  for (int v = 0; v < vectors; ++v) s.x0[v] += s.x1[v];
  for (int v = 0; v < vectors; ++v) s.x1[v] = rotate<bits>(s.x1[v]);
  for (int v = 0; v < vectors; ++v) s.x1[v] ^= s.x0[v];
}

template <int a, int b, int c, int d, class Key>
[[gnu::always_inline]] inline void four_rounds(State& s, const Key& k0, const Key& k1,
                                               std::uint32_t number) {
  round_of<a>(s);
  round_of<b>(s);
  round_of<c>(s);
  round_of<d>(s);
  for (int v = 0; v < vectors; ++v) {
    s.x0[v] += k0.of(v);
    s.x1[v] += k1.of(v) + number;
  }
}

// A key word that all lanes share, and one for each lane.
struct SharedWord {
  std::uint32_t word;
  [[gnu::always_inline]] std::uint32_t of(int) const { return word; }
  friend SharedWord operator^(SharedWord a, SharedWord b) { return {a.word ^ b.word ^ key_parity}; }
};
struct LaneWords {
  Lanes words[vectors];
  [[gnu::always_inline]] Lanes of(int v) const { return words[v]; }
  [[gnu::always_inline]] friend LaneWords operator^(const LaneWords& a, const LaneWords& b) {
    LaneWords out;
    for (int v = 0; v < vectors; ++v) out.words[v] = a.words[v] ^ b.words[v] ^ key_parity;
    return out;
  }
};

// 20 rounds, with words of the key schedule added after every four.
template <class Key>
[[gnu::always_inline]] inline void hash(State& s, const Key& k0, const Key& k1) {
  const Key k2 = k0 ^ k1;
  for (int v = 0; v < vectors; ++v) {
    s.x0[v] += k0.of(v);
    s.x1[v] += k1.of(v);
  }
  four_rounds<13, 15, 26, 6>(s, k1, k2, 1);
  four_rounds<17, 29, 16, 24>(s, k2, k0, 2);
  four_rounds<13, 15, 26, 6>(s, k0, k1, 3);
  four_rounds<17, 29, 16, 24>(s, k1, k2, 4);
  four_rounds<13, 15, 26, 6>(s, k2, k0, 5);
}

[[gnu::always_inline]] inline void hash_counters(State& s, ThreefryKey key, std::uint32_t first0,
                                                 std::uint32_t step0, std::uint32_t first1) {
  for (int v = 0; v < vectors; ++v) {
    Lanes position;
    for (int i = 0; i < lanes; ++i) position[i] = static_cast<std::uint32_t>(v * lanes + i);
    s.x0[v] = first0 + position * step0;
    s.x1[v] = first1 + position;
  }
  hash(s, SharedWord{key.word0}, SharedWord{key.word1});
}

[[gnu::always_inline]] inline std::size_t block_bytes(std::int64_t left) {
  return static_cast<std::size_t>(left < block ? left : block) * 4;
}

void counters(ThreefryKey key, std::uint32_t first0, std::uint32_t step0, std::uint32_t first1,
              std::int64_t n, std::uint32_t* out0, std::uint32_t* out1) {
  State s;
  for (std::int64_t i = 0; i < n; i += block) {
    const auto at = static_cast<std::uint32_t>(i);
    hash_counters(s, key, first0 + at * step0, step0, first1 + at);
    __builtin_memcpy(out0 + i, s.x0, block_bytes(n - i));
    __builtin_memcpy(out1 + i, s.x1, block_bytes(n - i));
  }
}

void elements(const std::uint32_t* key0, const std::uint32_t* key1, const std::uint32_t* count0,
              const std::uint32_t* count1, std::int64_t n, std::uint32_t* out0,
              std::uint32_t* out1) {
  State s{};
  LaneWords k0{}, k1{};
  for (std::int64_t i = 0; i < n; i += block) {
    const std::size_t bytes = block_bytes(n - i);
    __builtin_memcpy(s.x0, count0 + i, bytes);
    __builtin_memcpy(s.x1, count1 + i, bytes);
    __builtin_memcpy(k0.words, key0 + i, bytes);
    __builtin_memcpy(k1.words, key1 + i, bytes);
    hash(s, k0, k1);
    __builtin_memcpy(out0 + i, s.x0, bytes);
    __builtin_memcpy(out1 + i, s.x1, bytes);
  }
}
