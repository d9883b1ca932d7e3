// kernels/fft/lanes.h - the passes of a Fourier transform, eight lines at a time.
//
// A number of a pass is eight numbers, one of each line, so that every operation is a vector's and
// no pass has remainders. Eight doubles are two vectors. Passes are those of Stockham's method:
// they need no reordering.
#pragma once

#include <complex>
#include <cstdint>

#include "kernels/tiles/dispatch.h"

namespace shardax::kernels::lanes {

constexpr std::int64_t width = 8;

// One complex number of as many lines as a vector of 32 bytes has elements.
template <class T>
struct Few {
  static constexpr int lines = 32 / sizeof(T);
  typedef T Vector __attribute__((vector_size(32)));
  Vector re, im;
};
// One complex number of each line.
template <class T>
struct alignas(64) Lanes {
  static constexpr int parts = width / Few<T>::lines;
  Few<T> part[parts];

  std::complex<T> of(std::int64_t line) const {
    const Few<T>& x = part[line / Few<T>::lines];
    return {x.re[line % Few<T>::lines], x.im[line % Few<T>::lines]};
  }
  void set(std::int64_t line, std::complex<T> value) {
    Few<T>& x = part[line / Few<T>::lines];
    x.re[line % Few<T>::lines] = value.real();
    x.im[line % Few<T>::lines] = value.imag();
  }
  void make_real() {
    for (Few<T>& x : part) x.im = typename Few<T>::Vector{};
  }
};
// exp(-+2 pi i k / n), the same for all lines.
template <class T>
struct Root {
  T re, im;
};

#define SHARDAX_INLINE [[gnu::always_inline]] inline

template <class T>
SHARDAX_INLINE void add(Few<T>& out, const Few<T>& a, const Few<T>& b) {
  out.re = a.re + b.re;
  out.im = a.im + b.im;
}
template <class T>
SHARDAX_INLINE void sub(Few<T>& out, const Few<T>& a, const Few<T>& b) {
  out.re = a.re - b.re;
  out.im = a.im - b.im;
}
template <class T>
SHARDAX_INLINE void turn(Few<T>& out, const Few<T>& a, const Root<T>& w) {
  const typename Few<T>::Vector re = a.re * w.re - a.im * w.im;
  out.im = a.re * w.im + a.im * w.re;
  out.re = re;
}
// Times i `sign`.
template <class T>
SHARDAX_INLINE void quarter(Few<T>& out, const Few<T>& a, T sign) {
  const typename Few<T>::Vector re = -sign * a.im;
  out.im = sign * a.re;
  out.re = re;
}

// The transform of `p` numbers in place; `sign` is that of the exponent.
template <class T, int p>
SHARDAX_INLINE void small(Few<T>* x, T sign) {
  if constexpr (p == 2) {
    const Few<T> a = x[0];
    add(x[0], a, x[1]);
    sub(x[1], a, x[1]);
  } else if constexpr (p == 3) {
    constexpr T half = T(-0.5), root = T(0.86602540378443864676);
    Few<T> sum, across, middle;
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
    Few<T> even, down, odd, across;
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
    Few<T> a, b, c, d, u, v, f, g;
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
    Few<T> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
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
void pass(const Lanes<T>* in, Lanes<T>* out, const Root<T>* w, std::int64_t inner,
          std::int64_t outer, T sign) {
  dispatch([=] {
    for (std::int64_t k = 0; k < inner; ++k) {
      for (std::int64_t i = 0; i < outer; ++i) {
        for (int h = 0; h < Lanes<T>::parts; ++h) {
          Few<T> x[p];
          for (int r = 0; r < p; ++r) x[r] = in[i + outer * (r + p * k)].part[h];
          small<T, p>(x, sign);
          out[i + outer * k].part[h] = x[0];
          for (int r = 1; r < p; ++r) {
            Few<T>& to = out[i + outer * (k + inner * r)].part[h];
            if (i > 0)
              turn(to, x[r], w[(r - 1) * outer + i]);
            else
              to = x[r];
          }
        }
      }
    }
  });
}

constexpr std::int64_t largest_factor = 113;

// The same for an odd p, whose roots are exp(-+2 pi i q / p): numbers r and p - r go together.
template <class T>
void pass_any(std::int64_t p, const Root<T>* roots, const Lanes<T>* in, Lanes<T>* out,
              const Root<T>* w, std::int64_t inner, std::int64_t outer) {
  dispatch([=] {
    const std::int64_t half = (p - 1) / 2;
    Few<T> sums[largest_factor / 2], differences[largest_factor / 2];
    const auto part = [&](int h, std::int64_t k, std::int64_t i) __attribute__((always_inline)) {
      const Lanes<T>* x = in + i + outer * p * k;
      const Few<T> first = x[0].part[h];
      Few<T> total = first;
      for (std::int64_t r = 1; r <= half; ++r) {
        add(sums[r - 1], x[outer * r].part[h], x[outer * (p - r)].part[h]);
        sub(differences[r - 1], x[outer * r].part[h], x[outer * (p - r)].part[h]);
        add(total, total, sums[r - 1]);
      }
      out[i + outer * k].part[h] = total;
      for (std::int64_t q = 1; q <= half; ++q) {
        Few<T> even = first, odd = {{}, {}};
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
        Few<T> low, high;
        add(low, even, odd);
        sub(high, even, odd);
        turn(out[i + outer * (k + inner * q)].part[h], low, w[(q - 1) * outer + i]);
        turn(out[i + outer * (k + inner * (p - q))].part[h], high, w[(p - q - 1) * outer + i]);
      }
    };
    for (std::int64_t k = 0; k < inner; ++k) {
      for (std::int64_t i = 0; i < outer; ++i) {
        for (int h = 0; h < Lanes<T>::parts; ++h) part(h, k, i);
      }
    }
  });
}

// Takes the transform of the pairs (x_2j, x_2j+1) of real lines, n / 2 long, to the first n / 2 + 1
// elements of the lines' own. With E = (Z_k + conj Z_(m-k)) / 2, that of the even elements, and O =
// (Z_k - conj Z_(m-k)) / 2i, X_k = E + w^k O and X_(m-k) = conj(E - w^k O).
template <class T>
void unpair(Lanes<T>* z, std::int64_t m, const Root<T>* w) {
  dispatch([=] {
    z[m] = z[0];
    for (std::int64_t k = 0; k <= m / 2; ++k) {
      for (int h = 0; h < Lanes<T>::parts; ++h) {
        Few<T>&first = z[k].part[h], &last = z[m - k].part[h];
        const Few<T> a = first, b = last;
        const auto even_re = (a.re + b.re) * T(0.5), even_im = (a.im - b.im) * T(0.5);
        const Few<T> less{(a.im + b.im) * T(0.5), (b.re - a.re) * T(0.5)};
        Few<T> odd;
        turn(odd, less, w[k]);
        first.re = even_re + odd.re;
        first.im = even_im + odd.im;
        last.re = even_re - odd.re;
        last.im = odd.im - even_im;
      }
    }
    z[0].make_real();
    z[m].make_real();
  });
}
// The same backwards, twice as large. Imaginary parts of X_0 and X_m are ignored.
template <class T>
void pair_up(Lanes<T>* x, std::int64_t m, const Root<T>* w) {
  dispatch([=] {
    x[0].make_real();
    x[m].make_real();
    for (std::int64_t k = 0; k <= m / 2; ++k) {
      for (int h = 0; h < Lanes<T>::parts; ++h) {
        Few<T>&first = x[k].part[h], &last = x[m - k].part[h];
        const Few<T> a = first, b = last;
        const auto even_re = a.re + b.re, even_im = a.im - b.im;
        const Few<T> less{a.re - b.re, a.im + b.im};
        Few<T> odd;
        turn(odd, less, w[k]);
        first.re = even_re - odd.im;
        first.im = even_im + odd.re;
        last.re = even_re + odd.im;
        last.im = odd.re - even_im;
      }
    }
  });
}

// x_k times w_k, and times `far`.
template <class T>
void turn_by(Lanes<T>* x, const Lanes<T>* w, const Lanes<T>* far, std::int64_t n) {
  dispatch([=] {
    for (std::int64_t k = 0; k < n; ++k) {
      for (int h = 0; h < Lanes<T>::parts; ++h) {
        Few<T>& to = x[k].part[h];
        auto re = w[k].part[h].re, im = w[k].part[h].im;
        if (far) {
          const Few<T>& more = far->part[h];
          const auto turned = re * more.re - im * more.im;
          im = re * more.im + im * more.re;
          re = turned;
        }
        const auto turned = to.re * re - to.im * im;
        to.im = to.re * im + to.im * re;
        to.re = turned;
      }
    }
  });
}

// to_i = from_i w_i.
template <class T>
void turn_by_roots(const Lanes<T>* from, std::int64_t from_step, const Root<T>* w,
                   std::int64_t w_step, Lanes<T>* to, std::int64_t to_step, std::int64_t n) {
  dispatch([=] {
    for (std::int64_t i = 0; i < n; ++i) {
      for (int h = 0; h < Lanes<T>::parts; ++h) {
        turn(to[i * to_step].part[h], from[i * from_step].part[h], w[i * w_step]);
      }
    }
  });
}
// The same with the factors of one line of eight.
template <class T>
void turn_by_line(const Lanes<T>* from, const Lanes<T>* w, std::int64_t line, Lanes<T>* to,
                  std::int64_t to_step, std::int64_t n) {
  dispatch([=] {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::complex<T> factor = w[i].of(line);
      const Root<T> root{factor.real(), factor.imag()};
      for (int h = 0; h < Lanes<T>::parts; ++h) {
        turn(to[i * to_step].part[h], from[i].part[h], root);
      }
    }
  });
}

template <class T>
SHARDAX_INLINE void conjugate(Lanes<T>& out, const Lanes<T>& a) {
  for (int h = 0; h < Lanes<T>::parts; ++h) out.part[h] = {a.part[h].re, -a.part[h].im};
}

// Conjugates, and the lines in the opposite order.
template <class T>
void mirror(Lanes<T>* x, std::int64_t n) {
  dispatch([=] {
    using V = typename Few<T>::Vector;
    using Order = decltype(V{} < V{});
    constexpr int parts = Lanes<T>::parts;
    Order order;
    for (int l = 0; l < Few<T>::lines; ++l) order[l] = Few<T>::lines - 1 - l;
    for (std::int64_t i = 0; i < n; ++i) {
      const Lanes<T> from = x[i];
      for (int h = 0; h < parts; ++h) {
        const Few<T>& part = from.part[parts - 1 - h];
        V re = part.re, im = part.im;
        permute(re, order);
        permute(im, order);
        x[i].part[h] = {re, -im};
      }
    }
  });
}

}  // namespace shardax::kernels::lanes
