// kernels/fft/lines.h - lines of complex numbers as lanes (kernels/fft/lanes.h), and back.
#pragma once

#include <cstring>
#include <utility>

#include "base/target.h"
#include "kernels/fft/lanes.h"

namespace shardax::kernels::lanes {

// Lanes whose number lacks the bit `apart` from a, the others from b; of lanes in pairs that differ
// in that bit, those with `bit`.
template <int apart, int bit, class V, int... l>
SHARDAX_INLINE void pick(V& out, const V& a, const V& b, std::integer_sequence<int, l...>) {
  constexpr int n = sizeof...(l);
  shuffle<((l & ~apart) + bit + (l & apart ? n : 0))...>(out, a, b);
}
// A matrix of as many vectors as these have elements, transposed.
template <class V, int apart = 1>
SHARDAX_INLINE void transpose(V* x) {
  constexpr int n = sizeof(V) / sizeof(V{}[0]);
  if constexpr (apart < n) {
    constexpr auto all = std::make_integer_sequence<int, n>();
    for (int i = 0; i < n; ++i) {
      if (i & apart) continue;
      const V a = x[i], b = x[i + apart];
      pick<apart, 0>(x[i], a, b, all);
      pick<apart, apart>(x[i + apart], a, b, all);
    }
    transpose<V, 2 * apart>(x);
  }
}

// Complex numbers in a row, as many as a vector has elements, as their parts, and back.
template <class T>
SHARDAX_INLINE void parted(const std::complex<T>* x, Few<T>& out) {
  using V = typename Few<T>::Vector;
  V a, b;
  std::memcpy(&a, x, sizeof a);
  std::memcpy(&b, x + Few<T>::lines / 2, sizeof b);
  if constexpr (Few<T>::lines == 4) {
    shuffle<0, 2, 4, 6>(out.re, a, b);
    shuffle<1, 3, 5, 7>(out.im, a, b);
  } else {
    shuffle<0, 2, 4, 6, 8, 10, 12, 14>(out.re, a, b);
    shuffle<1, 3, 5, 7, 9, 11, 13, 15>(out.im, a, b);
  }
}
template <class T>
SHARDAX_INLINE void joined(const Few<T>& from, T scale, std::complex<T>* x) {
  using V = typename Few<T>::Vector;
  const V re = from.re * scale, im = from.im * scale;
  V a, b;
  if constexpr (Few<T>::lines == 4) {
    shuffle<0, 4, 1, 5>(a, re, im);
    shuffle<2, 6, 3, 7>(b, re, im);
  } else {
    shuffle<0, 8, 1, 9, 2, 10, 3, 11>(a, re, im);
    shuffle<4, 12, 5, 13, 6, 14, 7, 15>(b, re, im);
  }
  std::memcpy(static_cast<void*>(x), &a, sizeof a);
  std::memcpy(static_cast<void*>(x + Few<T>::lines / 2), &b, sizeof b);
}

// Eight lines (fewer at the end: the last one again) to lanes, and back. `adjacent`: each begins
// behind the one before.
template <class T>
void gather(const std::complex<T>* const* from, std::int64_t step, bool adjacent, std::int64_t n,
            Lanes<T>* to) {
  dispatch([=] {
    constexpr int lines = Few<T>::lines, parts = Lanes<T>::parts;
    if (adjacent) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (int h = 0; h < parts; ++h) parted(from[0] + j * step + h * lines, to[j].part[h]);
      }
      return;
    }
    std::int64_t j = 0;
    for (; step == 1 && j + lines <= n; j += lines) {
      for (int h = 0; h < parts; ++h) {
        typename Few<T>::Vector re[lines], im[lines];
        for (int l = 0; l < lines; ++l) {
          Few<T> row;
          parted(from[h * lines + l] + j, row);
          re[l] = row.re;
          im[l] = row.im;
        }
        transpose(re);
        transpose(im);
        for (int i = 0; i < lines; ++i) {
          to[j + i].part[h].re = re[i];
          to[j + i].part[h].im = im[i];
        }
      }
    }
    for (; j < n; ++j) {
      for (std::int64_t l = 0; l < width; ++l) to[j].set(l, from[l][j * step]);
    }
  });
}
// Real lines, as real parts without imaginary ones, or as imaginary parts beside existing real
// ones.
template <class T>
SHARDAX_INLINE void set_part(Few<T>& to, const typename Few<T>::Vector& value, bool imaginary) {
  if (imaginary)
    to.im = value;
  else
    to = Few<T>{value, {}};
}
template <bool imaginary = false, class T>
void gather(const T* const* from, std::int64_t step, bool adjacent, std::int64_t n, Lanes<T>* to) {
  dispatch([=] {
    using V = typename Few<T>::Vector;
    constexpr int lines = Few<T>::lines, parts = Lanes<T>::parts;
    std::int64_t j = 0;
    for (; adjacent && j < n; ++j) {
      for (int h = 0; h < parts; ++h) {
        V row;
        std::memcpy(&row, from[0] + j * step + h * lines, sizeof row);
        set_part<T>(to[j].part[h], row, imaginary);
      }
    }
    for (; step == 1 && j + lines <= n; j += lines) {
      for (int h = 0; h < parts; ++h) {
        V rows[lines];
        for (int l = 0; l < lines; ++l) std::memcpy(&rows[l], from[h * lines + l] + j, sizeof(V));
        transpose(rows);
        for (int i = 0; i < lines; ++i) set_part<T>(to[j + i].part[h], rows[i], imaginary);
      }
    }
    for (; j < n; ++j) {
      for (std::int64_t l = 0; l < width; ++l) {
        const T value = from[l][j * step];
        to[j].set(l, imaginary ? std::complex<T>(to[j].of(l).real(), value) : value);
      }
    }
  });
}
template <class T>
void scatter(const Lanes<T>* from, std::int64_t n, T scale, std::complex<T>* const* to,
             std::int64_t step, bool adjacent, std::int64_t count) {
  dispatch([=] {
    constexpr int lines = Few<T>::lines, parts = Lanes<T>::parts;
    if (adjacent && count == width) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (int h = 0; h < parts; ++h)
          joined(from[j].part[h], scale, to[0] + j * step + h * lines);
      }
      return;
    }
    std::int64_t j = 0;
    for (; step == 1 && count == width && j + lines <= n; j += lines) {
      for (int h = 0; h < parts; ++h) {
        typename Few<T>::Vector re[lines], im[lines];
        for (int i = 0; i < lines; ++i) {
          re[i] = from[j + i].part[h].re;
          im[i] = from[j + i].part[h].im;
        }
        transpose(re);
        transpose(im);
        for (int l = 0; l < lines; ++l) {
          const Few<T> row{re[l], im[l]};
          joined(row, scale, to[h * lines + l] + j);
        }
      }
    }
    for (; j < n; ++j) {
      for (std::int64_t l = 0; l < count; ++l) to[l][j * step] = from[j].of(l) * scale;
    }
  });
}

// The real parts, or the imaginary ones.
template <bool imaginary = false, class T>
void scatter(const Lanes<T>* from, std::int64_t n, T scale, T* const* to, std::int64_t step,
             bool adjacent, std::int64_t count) {
  dispatch([=] {
    using V = typename Few<T>::Vector;
    constexpr int lines = Few<T>::lines, parts = Lanes<T>::parts;
    constexpr auto part = imaginary ? &Few<T>::im : &Few<T>::re;
    if (adjacent && count == width) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (int h = 0; h < parts; ++h) {
          const V row = from[j].part[h].*part * scale;
          std::memcpy(to[0] + j * step + h * lines, &row, sizeof row);
        }
      }
      return;
    }
    std::int64_t j = 0;
    for (; step == 1 && count == width && j + lines <= n; j += lines) {
      for (int h = 0; h < parts; ++h) {
        V rows[lines];
        for (int i = 0; i < lines; ++i) rows[i] = from[j + i].part[h].*part * scale;
        transpose(rows);
        for (int l = 0; l < lines; ++l) std::memcpy(to[h * lines + l] + j, &rows[l], sizeof(V));
      }
    }
    for (; j < n; ++j) {
      for (std::int64_t l = 0; l < count; ++l) {
        const std::complex<T> value = from[j].of(l);
        to[l][j * step] = (imaginary ? value.imag() : value.real()) * scale;
      }
    }
  });
}

}  // namespace shardax::kernels::lanes
