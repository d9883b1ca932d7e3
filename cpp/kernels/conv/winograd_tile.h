// kernels/conv/winograd_tile.h - linear maps of minimal filtering, channels in vectors.
//
// Included by <isa>.cpp inside its own namespace, after simd.h. A map of a square is one of a line,
// applied to its columns and then to its rows. The matrices are those of F(2, 3) in Lavin and Gray
// 2016, section 4.1, and their transposes.

// The map B^T of an operand: 4 places to 4 points.
struct FromOperand {
  static constexpr int from = 4, to = 4;
  template <class V, class T>
  [[gnu::always_inline]] static void line(const V* in, int i, V* out, int o) {
    const V a = in[0], b = in[i], c = in[2 * i], d = in[3 * i];
    out[0] = a - c;
    out[o] = b + c;
    out[2 * o] = c - b;
    out[3 * o] = b - d;
  }
};

// The map G of a kernel: 3 taps to 4 points.
struct FromKernel {
  static constexpr int from = 3, to = 4;
  template <class V, class T>
  [[gnu::always_inline]] static void line(const V* in, int i, V* out, int o) {
    const V a = in[0], b = in[i], c = in[2 * i], ends = a + c;
    out[0] = a;
    out[o] = (ends + b) * T(0.5);
    out[2 * o] = (ends - b) * T(0.5);
    out[3 * o] = c;
  }
};

// To the result: A^T. 4 points to 2 places.
struct ToResult {
  static constexpr int from = 4, to = 2;
  template <class V, class T>
  [[gnu::always_inline]] static void line(const V* in, int i, V* out, int o) {
    const V a = in[0], b = in[i], c = in[2 * i], d = in[3 * i];
    out[0] = a + b + c;
    out[o] = b - c - d;
  }
};

// The map A of the result's cotangent: 2 places to 4 points.
struct FromCotangent {
  static constexpr int from = 2, to = 4;
  template <class V, class T>
  [[gnu::always_inline]] static void line(const V* in, int i, V* out, int o) {
    const V a = in[0], b = in[i];
    out[0] = a;
    out[o] = a + b;
    out[2 * o] = a - b;
    out[3 * o] = -b;
  }
};

// To the kernel's cotangent: G^T. 4 points to 3 taps.
struct ToKernel {
  static constexpr int from = 4, to = 3;
  template <class V, class T>
  [[gnu::always_inline]] static void line(const V* in, int i, V* out, int o) {
    const V a = in[0], b = in[i], c = in[2 * i], d = in[3 * i];
    const V half = (b + c) * T(0.5);
    out[0] = a + half;
    out[o] = (b - c) * T(0.5);
    out[2 * o] = half + d;
  }
};

template <class T, class V, class Map>
[[gnu::always_inline]] inline void map_vector(const T* const* in, T* const* out, std::int64_t at) {
  V square[Map::from * Map::from], half[Map::to * Map::from], points[Map::to * Map::to];
#pragma GCC unroll 16
  for (int i = 0; i < Map::from * Map::from; ++i) square[i] = load<V>(in[i] + at);
#pragma GCC unroll 4
  for (int i = 0; i < Map::from; ++i)
    Map::template line<V, T>(square + i, Map::from, half + i, Map::from);
#pragma GCC unroll 4
  for (int i = 0; i < Map::to; ++i)
    Map::template line<V, T>(half + i * Map::from, 1, points + i * Map::to, 1);
#pragma GCC unroll 16
  for (int i = 0; i < Map::to * Map::to; ++i) store(out[i] + at, points[i]);
}

template <class T, std::int64_t size, class Map>
[[gnu::always_inline]] inline void map_rest(const T* const* in, T* const* out, std::int64_t at,
                                            std::int64_t n) {
  if constexpr (size < lane_size<T>) {
    for (; at < n; ++at) map_vector<T, T, Map>(in, out, at);
  } else {
    if (at + size <= n) map_vector<T, Vector<T, size>, Map>(in, out, at), at += size;
    map_rest<T, size / 2, Map>(in, out, at, n);
  }
}

// n channels of each of the squares' elements.
template <class T, class Map>
void map_channels(const T* const* in, T* const* out, std::int64_t n) {
  constexpr std::int64_t size = full_size<T>;
  std::int64_t at = 0;
  for (; at + size <= n; at += size) map_vector<T, Vector<T, size>, Map>(in, out, at);
  if (at < n) map_rest<T, size / 2, Map>(in, out, at, n);
}
