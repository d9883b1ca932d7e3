// kernels/gemm/simd.h - vectors of the instruction set that a matmul source file is compiled for.
//
// Included by <isa>.cpp inside its own namespace, after SHARDAX_BEGIN_TARGET, and with
// SHARDAX_VECTOR_BYTES defined: 32 and 64 have AVX2 and AVX-512 with fma, 16 has NEON on AArch64. A
// vector is a GCC vector type, or T itself as a vector of one.

constexpr std::int64_t vector_bytes = SHARDAX_VECTOR_BYTES;

template <class T, std::int64_t n>
struct VectorOf {
  typedef T type __attribute__((vector_size(n * sizeof(T))));
};
template <class T>
struct VectorOf<T, 1> {
  using type = T;
};
template <class T, std::int64_t n>
using Vector = typename VectorOf<T, n>::type;

template <class T>
constexpr std::int64_t full_size = vector_bytes / static_cast<std::int64_t>(sizeof(T));

template <class V, class T>
[[gnu::always_inline]] inline V load(const T* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof(V));
  return v;
}

template <class V, class T>
[[gnu::always_inline]] inline void store(T* p, V v) {
  __builtin_memcpy(p, &v, sizeof(V));
}

template <class V, class T>
[[gnu::always_inline]] inline V splat(T x) {
  if constexpr (std::is_same_v<V, T>) {
    return x;
  } else {
    return x - V{};  // folds to a broadcast: x - 0 is x, for -0 too
  }
}

// a * b + c with one rounding, in each lane.
template <class V>
[[gnu::always_inline]] inline V fma(V a, V b, V c) {
  if constexpr (std::is_same_v<V, float>) {
    return __builtin_fmaf(a, b, c);
  } else if constexpr (std::is_same_v<V, double>) {
    return __builtin_fma(a, b, c);
  } else {
    using T = std::remove_cvref_t<decltype(a[0])>;
    [[maybe_unused]] constexpr bool single = std::is_same_v<T, float>;
#if SHARDAX_VECTOR_BYTES >= 64
    if constexpr (sizeof(V) == 64 && single)
      return V(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(c)));
    if constexpr (sizeof(V) == 64 && !single)
      return V(_mm512_fmadd_pd(__m512d(a), __m512d(b), __m512d(c)));
#endif
#if SHARDAX_VECTOR_BYTES >= 32
    if constexpr (sizeof(V) == 32 && single)
      return V(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c)));
    if constexpr (sizeof(V) == 32 && !single)
      return V(_mm256_fmadd_pd(__m256d(a), __m256d(b), __m256d(c)));
    if constexpr (sizeof(V) == 16 && single)
      return V(_mm_fmadd_ps(__m128(a), __m128(b), __m128(c)));
    if constexpr (sizeof(V) == 16 && !single)
      return V(_mm_fmadd_pd(__m128d(a), __m128d(b), __m128d(c)));
#elif SHARDAX_AARCH64
    if constexpr (sizeof(V) == 16 && single)
      return V(vfmaq_f32(float32x4_t(c), float32x4_t(a), float32x4_t(b)));
    if constexpr (sizeof(V) == 16 && !single)
      return V(vfmaq_f64(float64x2_t(c), float64x2_t(a), float64x2_t(b)));
#endif
    for (std::size_t i = 0; i < sizeof(V) / sizeof(T); ++i) a[i] = fma<T>(a[i], b[i], c[i]);
    return a;
  }
}

// Elements in 128 bits, the unit within which shuffles are cheap.
template <class T>
constexpr std::int64_t lane_size = 16 / static_cast<std::int64_t>(sizeof(T));

template <class V, class H, int... i>
[[gnu::always_inline]] inline V join(H low, H high, std::integer_sequence<int, i...>) {
  V joined;
  shuffle<i...>(joined, low, high);
  return joined;
}

// The vector whose 128-bit lane g is 16 bytes from p + g * step.
template <class V, class T>
[[gnu::always_inline]] inline V load_lanes(const T* p, [[maybe_unused]] std::int64_t step) {
  if constexpr (sizeof(V) == 16) {
    return load<V>(p);
  } else {
    constexpr std::int64_t half = sizeof(V) / sizeof(T) / 2;
    using Half = Vector<T, half>;
    const Half low = load_lanes<Half>(p, step);
    const Half high = load_lanes<Half>(p + half / lane_size<T> * step, step);
    return join<V>(low, high, std::make_integer_sequence<int, 2 * half>());
  }
}

// A shuffle of vectors a and b: units of `unit` elements, in turns from a and b. They come from the
// low (0) or the high (1) half of each 128-bit lane. The source of lane i of n:
template <class T>
constexpr int interleaved(int unit, int half, int n, int i) {
  constexpr int lane = lane_size<T>;
  const int in_lane = i % lane, from = in_lane / unit % 2;
  return from * n + i / lane * lane + half * lane / 2 + in_lane / (2 * unit) * unit +
         in_lane % unit;
}
template <class T, int unit, class V, int... i>
[[gnu::always_inline]] inline void interleave(V& low, V& high, const V& a, const V& b,
                                              std::integer_sequence<int, i...>) {
  constexpr int n = sizeof...(i);
  const V first = a, second = b;
  shuffle<interleaved<T>(unit, 0, n, i)...>(low, first, second);
  shuffle<interleaved<T>(unit, 1, n, i)...>(high, first, second);
}

// Transposes within each 128-bit lane: lane g of v[i] becomes column i of the lane_size rows that
// lane g of v[0], v[1], ... held.
template <class T, class V>
[[gnu::always_inline]] inline void transpose_lanes(V (&v)[lane_size<T>]) {
  constexpr auto all = std::make_integer_sequence<int, sizeof(V) / sizeof(T)>();
  if constexpr (lane_size<T> == 2) {
    interleave<T, 1>(v[0], v[1], v[0], v[1], all);
  } else {
    V low01, high01, low23, high23;
    interleave<T, 1>(low01, high01, v[0], v[1], all);
    interleave<T, 1>(low23, high23, v[2], v[3], all);
    interleave<T, 2>(v[0], v[1], low01, low23, all);
    interleave<T, 2>(v[2], v[3], high01, high23, all);
  }
}
