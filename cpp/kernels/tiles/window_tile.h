// kernels/tiles/window_tile.h - a tile of windows, and one step of their search for an extreme.
//
// Private to kernels/tiles/select_window.cpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/tiles/dispatch.h"
#include "kernels/tiles/reduce_window.h"
#include "kernels/wide.h"

namespace shardax::kernels {

// Windows of some rows, which begin `pitch` apart here, whole vectors of `lanes` elements.
inline constexpr std::int64_t lanes = 8, most_windows = 1024, most_rows = most_windows / lanes;
struct Tile {
  std::int64_t rows, n, pitch;
};

inline constexpr std::int32_t nowhere = -1;

// The working memory of a tile; behind its windows there is room for a vector.
template <class S>
struct TileRoom {
  alignas(64) Wide<S> best[most_windows + lanes];  // the best element so far
  alignas(64) std::int32_t place[most_windows];    // and the place that it has
  alignas(64) Wide<S> seen[most_windows + lanes];  // elements at the place that is looked at
  alignas(64) S values[most_windows], terms[most_windows];
  std::int64_t at[most_rows];  // positions of elements for each row; -1: none
};

// out[i] = in[2 * i] for i < n, and for up to seven more; reads before `end`.
template <class T>
[[gnu::always_inline]] inline void take_even(T* out, const T* in, std::int64_t n, const T* end) {
  std::int64_t i = 0;
  if constexpr (sizeof(T) == 4) {
    typedef T V __attribute__((vector_size(32)));
    for (; i < n && end - in >= 2 * i + 16; i += lanes) {
      V v, a, b;
      std::memcpy(&a, in + 2 * i, sizeof a);
      std::memcpy(&b, in + 2 * i + lanes, sizeof b);
      shuffle<0, 2, 4, 6, 8, 10, 12, 14>(v, a, b);
      std::memcpy(out + i, &v, sizeof v);
    }
  }
  for (; i < n; ++i) out[i] = in[2 * i];
}

// out[2 * i] += in[i] for i < n. Zeros, which follow in `in`, are added to the elements between,
// and to up to sixteen elements behind, before `end`.
[[gnu::always_inline]] inline void add_even(float* out, const float* in, std::int64_t n,
                                            const float* end) {
  typedef float V __attribute__((vector_size(32)));
  std::int64_t i = 0;
  for (; i < n && end - out >= 2 * i + 16; i += lanes) {
    V v, a, b, low, high;
    std::memcpy(&v, in + i, sizeof v);
    std::memcpy(&a, out + 2 * i, sizeof a);
    std::memcpy(&b, out + 2 * i + lanes, sizeof b);
    shuffle<0, 8, 1, 9, 2, 10, 3, 11>(low, v, V{});
    shuffle<4, 12, 5, 13, 6, 14, 7, 15>(high, v, V{});
    a += low;
    b += high;
    std::memcpy(out + 2 * i, &a, sizeof a);
    std::memcpy(out + 2 * i + lanes, &b, sizeof b);
  }
  for (; i < n; ++i) out[2 * i] += in[i];
}

// The elements that rows meet at a place, `absent` where there are none.
template <class S>
void see(TileRoom<S>& room, const Tile& tile, const Meeting& m, const S* from, const S* end,
         Wide<S> absent) {
  dispatch([=, &room, &tile, &m] {
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      Wide<S>* to = room.seen + r * tile.pitch;
      const std::int64_t count = room.at[r] < 0 ? 0 : m.count;
      if (count < tile.n) std::fill_n(to, tile.n, absent);
      if (count == 0) continue;
      const S* row = from + room.at[r] + m.from;
      to += m.first;
      if (m.step == 1 && m.from_step == 1) {
        for (std::int64_t i = 0; i < count; ++i) to[i] = lift(row[i]);
        continue;
      }
      if constexpr (!is_half_v<S>) {
        if (count == tile.n && m.from_step == 2) {
          take_even(to, row, count, end);
          continue;
        }
      }
      for (std::int64_t i = 0; i < count; ++i) to[i * m.step] = lift(row[i * m.from_step]);
    }
  });
}

// Takes over the element seen if the best is not as good.
template <class S>
void compare(TileRoom<S>& room, std::int64_t n, std::int32_t place) {
  dispatch([=, &room] {
    for (std::int64_t i = 0; i < n; ++i) {
      const Wide<S> x = room.seen[i], own = room.best[i];
      const bool kept = own >= x;
      room.best[i] = kept ? own : x;
      room.place[i] = kept ? room.place[i] : place;
    }
  });
}

// Values at a place where it is the best one, `out` as it is or 0 elsewhere.
template <bool keeps, class T>
void choose(const std::int32_t* best, std::int32_t place, const T* values, std::int64_t n, T* out) {
  dispatch([=] {
    for (std::int64_t i = 0; i < n; ++i)
      out[i] = best[i] == place ? values[i] : keeps ? out[i] : T{};
  });
}

template <class S>
S added(S a, S b) {
  return lower<S>(wrap_add(lift(a), lift(b)));
}

// The terms are added to the elements that rows meet at a place.
template <class S>
void add_terms(const TileRoom<S>& room, const Tile& tile, const Meeting& m, S* out, const S* end) {
  dispatch([=, &room, &tile, &m] {
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      if (room.at[r] < 0 || m.count == 0) continue;
      const S* in = room.terms + r * tile.pitch;
      S* to = out + room.at[r] + m.from;
      if (m.step == 1 && m.from_step == 1) {
        for (std::int64_t i = 0; i < m.count; ++i) to[i] = added(to[i], in[m.first + i]);
        continue;
      }
      if constexpr (std::is_same_v<S, float>) {
        if (m.count == tile.n && m.from_step == 2) {
          add_even(to, in, m.count, end);
          continue;
        }
      }
      for (std::int64_t i = 0; i < m.count; ++i) {
        S& target = to[i * m.from_step];
        target = added(target, in[m.first + i * m.step]);
      }
    }
  });
}

}  // namespace shardax::kernels
