// kernels/copy/transposed_lanes.h - words in vectors of `longest` bytes, transposed and reordered
// in registers. Included by the file of an instruction set, in a namespace without a name, which
// defines SHARDAX_VECTOR_BYTES.

constexpr int longest = SHARDAX_VECTOR_BYTES;

// A square as wide as a vector of `bytes`. In round s, vectors that are s apart exchange elements
// that are s apart.
template <int bytes, class T>
inline void transpose_square(T* out, std::int64_t out_step, const T* in, std::int64_t in_step) {
  constexpr int width = bytes / sizeof(T);
  typedef T V __attribute__((vector_size(bytes)));
  V v[width];
#pragma GCC unroll 16
  for (int i = 0; i < width; ++i) {
    std::memcpy(&v[i], in + i * in_step, sizeof(V));
    __builtin_prefetch(in + i * in_step + width);  // for the rows below
  }
  V lane;
  for (int l = 0; l < width; ++l) lane[l] = static_cast<T>(l);
#pragma GCC unroll 4
  for (int s = 1; s < width; s *= 2) {
    const auto step = static_cast<T>(s);
    const V low = (lane & step) ? lane - step + static_cast<T>(width) : lane;
    const V high = (lane & step) ? lane + static_cast<T>(width) : lane + step;
#pragma GCC unroll 16
    for (int i = 0; i < width; ++i) {
      if (i & s) continue;
      const V a = v[i], b = v[i + s];
      shuffle(v[i], a, b, low);
      shuffle(v[i + s], a, b, high);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < width; ++i) std::memcpy(out + i * out_step, &v[i], sizeof(V));
}

// A block by squares of that size; false where one is larger than the block.
template <int bytes, class T>
bool transpose_squares(T* out, std::int64_t out_step, const T* in, std::int64_t in_step,
                       std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t width = bytes / sizeof(T);
  if (rows < width || columns < width) return false;
  // The last squares overlap those before.
  for (std::int64_t c = 0; c < columns; c += width) {
    const std::int64_t column = std::min(c, columns - width);
    for (std::int64_t r = 0; r < rows; r += width) {
      const std::int64_t row = std::min(r, rows - width);
      transpose_square<bytes>(out + row * out_step + column, out_step, in + row + column * in_step,
                              in_step);
    }
  }
  return true;
}
template <class T>
bool transpose(T* out, std::int64_t out_step, const T* in, std::int64_t in_step, std::int64_t rows,
               std::int64_t columns) {
  if constexpr (longest > 32) {
    if (transpose_squares<longest>(out, out_step, in, in_step, rows, columns)) return true;
  }
  return transpose_squares<32>(out, out_step, in, in_step, rows, columns);
}

// Reorders as many whole blocks as a line holds, in one or two vectors, from element 0 on and again
// while a line is left. Returns the end of the last ones. The elements behind them in their line
// are written too, and then again.
template <class T>
std::int64_t reorder(T* out, const T* in, std::int64_t n, const std::uint8_t* order,
                     std::int64_t size) {
  constexpr int vectors = 64 / longest, most = 64 / sizeof(T);
  static_assert(vectors == 1 || vectors == 2);
  typedef T V __attribute__((vector_size(longest)));
  const std::int64_t whole = most / size * size;
  T places[most];
  for (std::int64_t l = 0; l < most; ++l) places[l] = static_cast<T>(l);
  for (std::int64_t block = 0; block < whole; block += size) {
    for (std::int64_t at = 0; at < size; ++at)
      places[block + at] = static_cast<T>(block + order[at]);
  }
  V first, second;
  std::memcpy(&first, places, sizeof first);
  std::memcpy(&second, places + (most - longest / sizeof(T)), sizeof second);
  std::int64_t k = 0;
  for (; k + most <= n; k += whole) {
    V a, b;
    std::memcpy(&a, in + k, sizeof a);
    if constexpr (vectors == 1) {
      permute(a, first);
      std::memcpy(out + k, &a, sizeof a);
    } else {
      std::memcpy(&b, in + k + most / 2, sizeof b);
      V low, high;
      shuffle(low, a, b, first);
      shuffle(high, a, b, second);
      std::memcpy(out + k, &low, sizeof low);
      std::memcpy(out + k + most / 2, &high, sizeof high);
    }
  }
  return k;
}

// Elements from the last to the first.
template <class T>
std::int64_t reverse(T* out, const T* in, std::int64_t n) {
  constexpr int width = longest / sizeof(T);
  typedef T V __attribute__((vector_size(longest)));
  V lanes;
  for (int l = 0; l < width; ++l) lanes[l] = static_cast<T>(width - 1 - l);
  std::int64_t k = 0;
  for (; k + width <= n; k += width) {
    V v;
    std::memcpy(&v, in - k - (width - 1), sizeof v);
    permute(v, lanes);
    std::memcpy(out + k, &v, sizeof v);
  }
  return k;
}

// Every second element.
template <class T>
std::int64_t halve(T* out, const T* in, std::int64_t n) {
  constexpr int width = longest / sizeof(T);
  typedef T V __attribute__((vector_size(longest)));
  V lanes;
  for (int l = 0; l < width; ++l) lanes[l] = static_cast<T>(2 * l);
  std::int64_t k = 0;
  for (; k + width < n; k += width) {  // behind the last one there may be nothing
    V a, b;
    std::memcpy(&a, in + 2 * k, sizeof a);
    std::memcpy(&b, in + 2 * k + width, sizeof b);
    shuffle(a, a, b, lanes);
    std::memcpy(out + k, &a, sizeof a);
  }
  return k;
}

template <class T>
std::int64_t stride(T* out, const T* in, std::int64_t step, std::int64_t n) {
  return step == -1 ? reverse(out, in, n) : step == 2 ? halve(out, in, n) : 0;
}

template <class T>
constexpr WordKernels<T> words{transpose<T>, reorder<T>, stride<T>};
