// kernels/fft_lanes.h - the passes of a Fourier transform, eight lines at a time.
//
// A number of a pass is eight numbers, one of each line, so that every operation is a vector's and
// no pass has remainders. Passes are those of Stockham's method: they need no reordering.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>

#include "kernels/dispatch.h"

namespace shardax::kernels::lanes {

constexpr std::int64_t width = 8;
template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float Type __attribute__((vector_size(32)));
};
template <>
struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(64)));
};

// One complex number of each line.
template <class T>
struct alignas(64) Lanes {
  using Vector = typename VectorOf<T>::Type;
  Vector re, im;
};
// exp(-+2 pi i k / n), the same for all lines.
template <class T>
struct Root {
  T re, im;
};

#define SHARDAX_INLINE [[gnu::always_inline]] inline

template <class T>
SHARDAX_INLINE void add(Lanes<T>& out, const Lanes<T>& a, const Lanes<T>& b) {
  out.re = a.re + b.re;
  out.im = a.im + b.im;
}
template <class T>
SHARDAX_INLINE void sub(Lanes<T>& out, const Lanes<T>& a, const Lanes<T>& b) {
  out.re = a.re - b.re;
  out.im = a.im - b.im;
}
template <class T>
SHARDAX_INLINE void turn(Lanes<T>& out, const Lanes<T>& a, const Root<T>& w) {
  const typename Lanes<T>::Vector re = a.re * w.re - a.im * w.im;
  out.im = a.re * w.im + a.im * w.re;
  out.re = re;
}
// Times i `sign`.
template <class T>
SHARDAX_INLINE void quarter(Lanes<T>& out, const Lanes<T>& a, T sign) {
  const typename Lanes<T>::Vector re = -sign * a.im;
  out.im = sign * a.re;
  out.re = re;
}

// The transform of `p` numbers in place; `sign` is that of the exponent.
template <class T, int p>
SHARDAX_INLINE void small(Lanes<T>* x, T sign) {
  if constexpr (p == 2) {
    const Lanes<T> a = x[0];
    add(x[0], a, x[1]);
    sub(x[1], a, x[1]);
  } else if constexpr (p == 3) {
    constexpr T half = T(-0.5), root = T(0.86602540378443864676);
    Lanes<T> sum, across, middle;
    add(sum, x[1], x[2]);
    sub(across, x[1], x[2]);
    middle.re = x[0].re + half * sum.re;
    middle.im = x[0].im + half * sum.im;
    quarter(across, across, sign);
    across.re *= root;
    across.im *= root;
    add(x[0], x[0], sum);
    add(x[1], middle, across);
    sub(x[2], middle, across);
  } else if constexpr (p == 4) {
    Lanes<T> even, down, odd, across;
    add(even, x[0], x[2]);
    sub(down, x[0], x[2]);
    add(odd, x[1], x[3]);
    sub(across, x[1], x[3]);
    quarter(across, across, sign);
    add(x[0], even, odd);
    add(x[1], down, across);
    sub(x[2], even, odd);
    sub(x[3], down, across);
  } else if constexpr (p == 5) {
    constexpr T c1 = T(0.30901699437494742410), c2 = T(-0.80901699437494742410);
    constexpr T s1 = T(0.95105651629515357212), s2 = T(0.58778525229247312917);
    Lanes<T> a, b, c, d, u, v, f, g;
    add(a, x[1], x[4]);
    sub(b, x[1], x[4]);
    add(c, x[2], x[3]);
    sub(d, x[2], x[3]);
    u.re = x[0].re + c1 * a.re + c2 * c.re;
    u.im = x[0].im + c1 * a.im + c2 * c.im;
    v.re = x[0].re + c2 * a.re + c1 * c.re;
    v.im = x[0].im + c2 * a.im + c1 * c.im;
    f.re = s1 * b.re + s2 * d.re;
    f.im = s1 * b.im + s2 * d.im;
    g.re = s2 * b.re - s1 * d.re;
    g.im = s2 * b.im - s1 * d.im;
    quarter(f, f, sign);
    quarter(g, g, sign);
    add(x[0], x[0], a);
    add(x[0], x[0], c);
    add(x[1], u, f);
    sub(x[4], u, f);
    add(x[2], v, g);
    sub(x[3], v, g);
  } else {
    static_assert(p == 8);
    constexpr T root = T(0.70710678118654752440);
    Lanes<T> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
    small<T, 4>(even, sign);
    small<T, 4>(odd, sign);
    const Root<T> one{root, sign * root}, three{-root, sign * root};
    turn(odd[1], odd[1], one);
    quarter(odd[2], odd[2], sign);
    turn(odd[3], odd[3], three);
    for (int k = 0; k < 4; ++k) {
      add(x[k], even[k], odd[k]);
      sub(x[k + 4], even[k], odd[k]);
    }
  }
}

// One pass: in[inner][p][outer] to out[p][inner][outer], of which `outer` places have twiddles
// w[(r - 1) outer + i].
template <class T, int p>
SHARDAX_CLONES [[gnu::flatten]] void pass(const Lanes<T>* in, Lanes<T>* out, const Root<T>* w,
                                          std::int64_t inner, std::int64_t outer, T sign) {
  for (std::int64_t k = 0; k < inner; ++k) {
    for (std::int64_t i = 0; i < outer; ++i) {
      Lanes<T> x[p];
      for (int r = 0; r < p; ++r) x[r] = in[i + outer * (r + p * k)];
      small<T, p>(x, sign);
      out[i + outer * k] = x[0];
      for (int r = 1; r < p; ++r) {
        Lanes<T>& to = out[i + outer * (k + inner * r)];
        if (i > 0)
          turn(to, x[r], w[(r - 1) * outer + i]);
        else
          to = x[r];
      }
    }
  }
}

constexpr std::int64_t largest_factor = 127;

// The same for an odd p, whose roots are exp(-+2 pi i q / p): numbers r and p - r go together.
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void pass_any(std::int64_t p, const Root<T>* roots,
                                              const Lanes<T>* in, Lanes<T>* out, const Root<T>* w,
                                              std::int64_t inner, std::int64_t outer) {
  const std::int64_t half = (p - 1) / 2;
  Lanes<T> sums[largest_factor / 2], differences[largest_factor / 2];
  for (std::int64_t k = 0; k < inner; ++k) {
    for (std::int64_t i = 0; i < outer; ++i) {
      const Lanes<T>* x = in + i + outer * p * k;
      Lanes<T> total = x[0];
      for (std::int64_t r = 1; r <= half; ++r) {
        add(sums[r - 1], x[outer * r], x[outer * (p - r)]);
        sub(differences[r - 1], x[outer * r], x[outer * (p - r)]);
        add(total, total, sums[r - 1]);
      }
      out[i + outer * k] = total;
      for (std::int64_t q = 1; q <= half; ++q) {
        Lanes<T> even = x[0], odd = {{}, {}};
        std::int64_t at = 0;
        for (std::int64_t r = 0; r < half; ++r) {
          at += q;
          if (at >= p) at -= p;
          const Root<T> root = roots[at];
          even.re += root.re * sums[r].re;
          even.im += root.re * sums[r].im;
          odd.re -= root.im * differences[r].im;
          odd.im += root.im * differences[r].re;
        }
        Lanes<T> low, high;
        add(low, even, odd);
        sub(high, even, odd);
        turn(out[i + outer * (k + inner * q)], low, w[(q - 1) * outer + i]);
        turn(out[i + outer * (k + inner * (p - q))], high, w[(p - q - 1) * outer + i]);
      }
    }
  }
}

// ---- lines and lanes ----------------------------------------------------------------------

// A matrix of eight vectors, transposed.
template <class V>
SHARDAX_INLINE void transpose(V* x) {
  using Order = decltype(V{} < V{});
  constexpr Order low1{0, 8, 2, 10, 4, 12, 6, 14}, high1{1, 9, 3, 11, 5, 13, 7, 15};
  constexpr Order low2{0, 1, 8, 9, 4, 5, 12, 13}, high2{2, 3, 10, 11, 6, 7, 14, 15};
  constexpr Order low4{0, 1, 2, 3, 8, 9, 10, 11}, high4{4, 5, 6, 7, 12, 13, 14, 15};
  const auto stage = [&](int apart, const Order& low, const Order& high) {
    for (int i = 0; i < 8; ++i) {
      if (i & apart) continue;
      const V a = x[i], b = x[i + apart];
      x[i] = __builtin_shuffle(a, b, low);
      x[i + apart] = __builtin_shuffle(a, b, high);
    }
  };
  stage(1, low1, high1);
  stage(2, low2, high2);
  stage(4, low4, high4);
}

// Eight complex numbers in a row as their parts, and back.
template <class T>
SHARDAX_INLINE void parted(const std::complex<T>* x, typename Lanes<T>::Vector& re,
                           typename Lanes<T>::Vector& im) {
  using V = typename Lanes<T>::Vector;
  using Order = decltype(V{} < V{});
  V a, b;
  std::memcpy(&a, x, sizeof a);
  std::memcpy(&b, x + 4, sizeof b);
  re = __builtin_shuffle(a, b, Order{0, 2, 4, 6, 8, 10, 12, 14});
  im = __builtin_shuffle(a, b, Order{1, 3, 5, 7, 9, 11, 13, 15});
}
template <class T>
SHARDAX_INLINE void joined(const typename Lanes<T>::Vector& re, const typename Lanes<T>::Vector& im,
                           std::complex<T>* x) {
  using V = typename Lanes<T>::Vector;
  using Order = decltype(V{} < V{});
  const V a = __builtin_shuffle(re, im, Order{0, 8, 1, 9, 2, 10, 3, 11});
  const V b = __builtin_shuffle(re, im, Order{4, 12, 5, 13, 6, 14, 7, 15});
  std::memcpy(static_cast<void*>(x), &a, sizeof a);
  std::memcpy(static_cast<void*>(x + 4), &b, sizeof b);
}

// Eight lines (fewer at the end: the last one again) to lanes, and back. `adjacent`: each begins
// behind the one before.
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void gather(const std::complex<T>* const* from, std::int64_t step,
                                            bool adjacent, std::int64_t n, Lanes<T>* to) {
  if (adjacent) {
    for (std::int64_t j = 0; j < n; ++j) parted(from[0] + j * step, to[j].re, to[j].im);
    return;
  }
  std::int64_t j = 0;
  for (; step == 1 && j + width <= n; j += width) {
    typename Lanes<T>::Vector re[width], im[width];
    for (std::int64_t l = 0; l < width; ++l) parted(from[l] + j, re[l], im[l]);
    transpose(re);
    transpose(im);
    for (std::int64_t i = 0; i < width; ++i) {
      to[j + i].re = re[i];
      to[j + i].im = im[i];
    }
  }
  for (; j < n; ++j) {
    for (std::int64_t l = 0; l < width; ++l) {
      const std::complex<T> x = from[l][j * step];
      to[j].re[l] = x.real();
      to[j].im[l] = x.imag();
    }
  }
}
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void scatter(const Lanes<T>* from, std::int64_t n, T scale,
                                             std::complex<T>* const* to, std::int64_t step,
                                             bool adjacent, std::int64_t count) {
  if (adjacent && count == width) {
    for (std::int64_t j = 0; j < n; ++j) {
      joined<T>(from[j].re * scale, from[j].im * scale, to[0] + j * step);
    }
    return;
  }
  std::int64_t j = 0;
  for (; step == 1 && count == width && j + width <= n; j += width) {
    typename Lanes<T>::Vector re[width], im[width];
    for (std::int64_t i = 0; i < width; ++i) {
      re[i] = from[j + i].re * scale;
      im[i] = from[j + i].im * scale;
    }
    transpose(re);
    transpose(im);
    for (std::int64_t l = 0; l < width; ++l) joined<T>(re[l], im[l], to[l] + j);
  }
  for (; j < n; ++j) {
    for (std::int64_t l = 0; l < count; ++l) {
      to[l][j * step] = {from[j].re[l] * scale, from[j].im[l] * scale};
    }
  }
}

// What turns the transform of the pairs (x_2j, x_2j+1) of real lines, n / 2 long, into the first
// n / 2 + 1 elements of theirs: with E = (Z_k + conj Z_(m-k)) / 2, that of the even elements, and
// O = (Z_k - conj Z_(m-k)) / 2i, X_k = E + w^k O and X_(m-k) = conj(E - w^k O).
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void unpair(Lanes<T>* z, std::int64_t m, const Root<T>* w) {
  z[m] = z[0];
  for (std::int64_t k = 0; k <= m / 2; ++k) {
    const Lanes<T> a = z[k], b = z[m - k];
    const auto even_re = (a.re + b.re) * T(0.5), even_im = (a.im - b.im) * T(0.5);
    const Lanes<T> less{(a.im + b.im) * T(0.5), (b.re - a.re) * T(0.5)};
    Lanes<T> odd;
    turn(odd, less, w[k]);
    z[k].re = even_re + odd.re;
    z[k].im = even_im + odd.im;
    z[m - k].re = even_re - odd.re;
    z[m - k].im = odd.im - even_im;
  }
  z[0].im = z[m].im = typename Lanes<T>::Vector{};
}
// The same backwards, twice as large. Imaginary parts of X_0 and X_m are ignored.
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void pair_up(Lanes<T>* x, std::int64_t m, const Root<T>* w) {
  const typename Lanes<T>::Vector none{};
  x[0].im = none;
  x[m].im = none;
  for (std::int64_t k = 0; k <= m / 2; ++k) {
    const Lanes<T> a = x[k], b = x[m - k];
    const auto even_re = a.re + b.re, even_im = a.im - b.im;
    const Lanes<T> less{a.re - b.re, a.im + b.im};
    Lanes<T> odd;
    turn(odd, less, w[k]);
    x[k].re = even_re - odd.im;
    x[k].im = even_im + odd.re;
    x[m - k].re = even_re + odd.im;
    x[m - k].im = odd.re - even_im;
  }
}

// x_k times w_k, and times `far`.
template <class T>
SHARDAX_CLONES void turn_by(Lanes<T>* x, const Lanes<T>* w, const Lanes<T>* far, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    auto re = w[k].re, im = w[k].im;
    if (far) {
      re = w[k].re * far->re - w[k].im * far->im;
      im = w[k].re * far->im + w[k].im * far->re;
    }
    const auto turned = x[k].re * re - x[k].im * im;
    x[k].im = x[k].re * im + x[k].im * re;
    x[k].re = turned;
  }
}

}  // namespace shardax::kernels::lanes
