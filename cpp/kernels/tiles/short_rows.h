// kernels/tiles/short_rows.h - reductions of many short rows at a time.
//
// Rows of fewer than 16 elements combine one element after the other, many rows in the lanes of a
// vector. Longer rows are padded to whole blocks of 16 lanes with the identity. Their blocks
// combine lane by lane, and the lanes in a tree: l and l + 8, l and l + 4, and so on. Several rows
// share the vectors of the tree. A row's result depends on the row alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/index.h"
#include "kernels/tiles/dispatch.h"

namespace shardax::kernels {

inline constexpr std::int64_t row_lanes = 16;
// Longer rows have more chains of lanes (kernels/tiles/reduce_loops.h).
inline constexpr std::int64_t short_row = 128;

// The vectors of 32 bytes that the widest registers of AVX2 take, for numbers of 4 or 8 bytes.
template <class T>
struct ShortRows {
  static constexpr int width = 32 / sizeof(T), vectors = row_lanes / width;
  typedef T V __attribute__((vector_size(32)));
  using Mask = decltype(V{} != V{});
  using Index = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

  // Lanes whose bit `distance` of the index is clear, then those where it is set: of a, then b.
  template <int distance, int set, int... l>
  [[gnu::always_inline]] static void pick(V& out, const V& a, const V& b,
                                          std::integer_sequence<int, l...>) {
    shuffle<place(l, distance, set)...>(out, a, b);
  }
  // Lanes come from a if their `bit` is clear, else from b. Lanes that differ in that bit from
  // `set` come from their neighbours.
  template <int bit, int set, int... l>
  [[gnu::always_inline]] static void swap(V& out, const V& a, const V& b,
                                          std::integer_sequence<int, l...>) {
    shuffle<((l & ~bit) + set + (l & bit ? width : 0))...>(out, a, b);
  }
  static constexpr int place(int lane, int distance, int set) {
    const int half = lane % (width / 2), from = half / distance * 2 * distance + half % distance;
    return from + set * distance + (lane >= width / 2 ? width : 0);
  }
};

// Element c of row r becomes element r of row c.
template <class T, int distance = 1>
[[gnu::always_inline]] inline void turn(typename ShortRows<T>::V* v) {
  using S = ShortRows<T>;
  if constexpr (distance < S::width) {
    constexpr auto all = std::make_integer_sequence<int, S::width>{};
#pragma GCC unroll 8
    for (int i = 0; i < S::width; ++i) {
      if (i & distance) continue;
      const typename S::V a = v[i], b = v[i + distance];
      S::template swap<distance, 0>(v[i], a, b, all);
      S::template swap<distance, distance>(v[i + distance], a, b, all);
    }
    turn<T, 2 * distance>(v);
  }
}

// Reductions that have a faster way to join numbers of which none is NaN.
template <class R, class V>
concept HasJoinOfNumbers = requires(V& a, const V& b) { R::join_numbers(a, b); };

template <class R, bool numbers, class V>
[[gnu::always_inline]] inline void join_lanes(V& a, const V& b) {
  if constexpr (numbers)
    R::join_numbers(a, b);
  else
    R::join(a, b);
}
// Combines elements; with `numbers`, notes which are NaN.
template <class R, bool numbers, class V, class Mask>
[[gnu::always_inline]] inline void join_element(V& a, const V& b, Mask& nan) {
  if constexpr (numbers) nan |= b != b;
  join_lanes<R, numbers>(a, b);
}

// Combines rows [0, width) of 16 lanes each to one vector of their results.
template <class R, class T, int distance, bool numbers>
[[gnu::always_inline]] inline void combine_lanes(typename ShortRows<T>::V* v) {
  using S = ShortRows<T>;
  if constexpr (distance > 0) {
    constexpr auto all = std::make_integer_sequence<int, S::width>{};
#pragma GCC unroll 8
    for (int i = 0; i < distance; ++i) {
      typename S::V low, high;
      S::template pick<distance, 0>(low, v[2 * i], v[2 * i + 1], all);
      S::template pick<distance, 1>(high, v[2 * i], v[2 * i + 1], all);
      join_lanes<R, numbers>(low, high);
      v[i] = low;
    }
    combine_lanes<R, T, distance / 2, numbers>(v);
  }
}

// The lanes of a row's last block that have an element.
template <class T>
struct LastLanes {
  explicit LastLanes(std::int64_t n) {
    typename ShortRows<T>::Index has_element[row_lanes];
    for (int l = 0; l < row_lanes; ++l) has_element[l] = l < n % row_lanes ? -1 : 0;
    std::memcpy(lanes, has_element, sizeof lanes);
  }
  typename ShortRows<T>::Mask lanes[ShortRows<T>::vectors];
};

template <class Mask>
[[gnu::always_inline]] inline bool any_lane(const Mask& mask) {
  std::uint64_t words[sizeof(Mask) / 8], any = 0;
  std::memcpy(words, &mask, sizeof words);
  for (const std::uint64_t word : words) any |= word;
  return any != 0;
}

// `width` rows of n elements to their results. load(out, row, at) reads a vector of a row's
// elements, and may be asked for all lanes of its last block.
template <class R, class T, bool numbers, class Load>
[[gnu::always_inline]] inline void combine_few(typename ShortRows<T>::V& out, std::int64_t n,
                                               const Load& load, typename ShortRows<T>::Mask& nan) {
  using S = ShortRows<T>;
  out = typename S::V{} + R::template identity<T>();
  for (std::int64_t first = 0; first < n; first += S::width) {
    typename S::V v[S::width];
#pragma GCC unroll 8
    for (int k = 0; k < S::width; ++k) load(v[k], k, first);
    turn<T>(v);
#pragma GCC unroll 8
    for (int k = 0; k < S::width; ++k) {
      if (first + k < n) join_element<R, numbers>(out, v[k], nan);
    }
  }
}
template <class R, class T, bool numbers, class Load>
[[gnu::always_inline]] inline void combine_blocks(typename ShortRows<T>::V& out, std::int64_t n,
                                                  const LastLanes<T>& last, const Load& load,
                                                  typename ShortRows<T>::Mask& nan) {
  using S = ShortRows<T>;
  using V = typename S::V;
  const V identity = V{} + R::template identity<T>();
  V rows[S::width];
  for (int k = 0; k < S::width; ++k) {
    V part[S::vectors], more;
#pragma GCC unroll 4
    for (int v = 0; v < S::vectors; ++v) {
      load(part[v], k, v * S::width);
      if constexpr (numbers) nan |= part[v] != part[v];
    }
    std::int64_t i = row_lanes;
    for (; i + row_lanes <= n; i += row_lanes) {
#pragma GCC unroll 4
      for (int v = 0; v < S::vectors; ++v) {
        load(more, k, i + v * S::width);
        join_element<R, numbers>(part[v], more, nan);
      }
    }
    if (i < n) {
#pragma GCC unroll 4
      for (int v = 0; v < S::vectors; ++v) {
        load(more, k, i + v * S::width);
        more = last.lanes[v] ? more : identity;
        join_element<R, numbers>(part[v], more, nan);
      }
    }
#pragma GCC unroll 2
    for (int half = S::vectors / 2; half > 0; half /= 2) {
      for (int v = 0; v < half; ++v) join_lanes<R, numbers>(part[v], part[v + half]);
    }
    rows[k] = part[0];
  }
  combine_lanes<R, T, S::width / 2, numbers>(rows);
  out = rows[0];
}
template <class R, class T, class Load>
[[gnu::always_inline]] inline void combine_rows(typename ShortRows<T>::V& out, std::int64_t n,
                                                const LastLanes<T>& last, const Load& load) {
  typename ShortRows<T>::Mask nan{};
  if constexpr (HasJoinOfNumbers<R, typename ShortRows<T>::V>) {
    if (n < row_lanes)
      combine_few<R, T, true>(out, n, load, nan);
    else
      combine_blocks<R, T, true>(out, n, last, load, nan);
    if (!any_lane(nan)) return;
  }
  if (n < row_lanes)
    combine_few<R, T, false>(out, n, load, nan);
  else
    combine_blocks<R, T, false>(out, n, last, load, nan);
}

// Calls part(x, first, rows) for rows of n elements at x, as many as fill vectors of results.
// Behind them 16 lanes may be read; the last ones come in a copy, of which `rows` are wanted.
template <class T, class F>
[[gnu::always_inline]] inline void in_padded_rows(const T* x, std::int64_t n, std::int64_t rows,
                                                  F&& part) {
  constexpr std::int64_t width = ShortRows<T>::width;
  const std::int64_t beyond = (row_lanes - n % row_lanes) % row_lanes;
  const std::int64_t safe = rows - (beyond + n - 1) / n;
  const std::int64_t whole = safe > 0 ? safe / width * width : 0;
  T copy[width * short_row + row_lanes];
  for (std::int64_t r = 0; r < rows; r += width) {
    const std::int64_t count = std::min(width, rows - r);
    const T* from = x + r * n;
    if (r >= whole) {
      std::memcpy(copy, from, index(count * n) * sizeof(T));
      from = copy;
    }
    part(from, r, count);
  }
}

// One row alone, in the same order.
template <class R, class T>
[[gnu::always_inline]] inline T combine_row(const T* x, std::int64_t n) {
  std::int64_t i = 0;
  if (n < row_lanes) {
    T total = R::template identity<T>();
    for (; i < n; ++i) total = R::combine(total, x[i]);
    return total;
  }
  T part[row_lanes];
  for (T& lane : part) lane = R::template identity<T>();
  for (; i + row_lanes <= n; i += row_lanes) {
    for (int l = 0; l < row_lanes; ++l) part[l] = R::combine(part[l], x[i + l]);
  }
  for (int l = 0; i < n; ++i, ++l) part[l] = R::combine(part[l], x[i]);
  for (std::int64_t half = row_lanes / 2; half > 0; half /= 2) {
    for (std::int64_t l = 0; l < half; ++l) part[l] = R::combine(part[l], part[l + half]);
  }
  return part[0];
}

// acc[r] = acc[r] (op) row r, for rows of 0 < n < short_row elements.
template <class R, class T, class Acc>
[[gnu::always_inline]] inline void fold_short_rows(Acc* acc, const T* x, std::int64_t n,
                                                   std::int64_t rows) {
  using S = ShortRows<T>;
  typedef Acc Results __attribute__((vector_size(S::width * sizeof(Acc))));
  const LastLanes<T> last(n);
  // Inlined: a separate function would be compiled for any processor.
  const auto part = [&](const T* from, std::int64_t first, std::int64_t count)
      __attribute__((always_inline)) {
    typename S::V results;
    const auto load = [&](auto& out, std::int64_t row, std::int64_t at)
        __attribute__((always_inline)) {
      std::memcpy(&out, from + row * n + at, sizeof out);
    };
    combine_rows<R, T>(results, n, last, load);
    const auto found = __builtin_convertvector(results, Results);
    const auto bytes = index(count) * sizeof(Acc);
    Results total = {};
    if (count == S::width) {
      std::memcpy(&total, acc + first, sizeof total);
      R::join(total, found);
      std::memcpy(acc + first, &total, sizeof total);
    } else {
      std::memcpy(&total, acc + first, bytes);
      R::join(total, found);
      std::memcpy(acc + first, &total, bytes);
    }
  };
  in_padded_rows(x, n, rows, part);
}

}  // namespace shardax::kernels
