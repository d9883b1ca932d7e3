// kernels/matrix_lanes.h - factors of small matrices, as many at a time as a vector has lanes.
//
// A cell is one element of each of these matrices, so that every operation is a vector's. Of a
// small matrix LAPACK's own calls and loops cost several times the arithmetic (1000 solves of 8 x 8
// in float64: 0.9 ms, here 0.15). Matrices are cells row after row. Algorithms, signs, choice of
// pivots and what becomes of singular matrices are LAPACK's.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>

#include "kernels/dispatch.h"

namespace shardax::kernels::matrix_lanes {

#define SHARDAX_INLINE [[gnu::always_inline]] inline

template <class R>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float Type __attribute__((vector_size(64)));
  typedef std::int32_t Index __attribute__((vector_size(64)));
};
template <>
struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(64)));
  typedef std::int64_t Index __attribute__((vector_size(64)));
};
template <class T>
struct RealOf {
  using Type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using Type = R;
};
template <class T>
using Real = typename RealOf<T>::Type;
template <class T>
using Vector = typename VectorOf<Real<T>>::Type;
template <class T>
using Index = typename VectorOf<Real<T>>::Index;
template <class T>
inline constexpr bool complex_cells = !std::is_same_v<T, Real<T>>;
template <class T>
inline constexpr std::int64_t width = 64 / static_cast<std::int64_t>(sizeof(Real<T>));

template <class T>
struct alignas(64) Cell {
  Vector<T> re;
};
template <class R>
struct alignas(64) Cell<std::complex<R>> {
  Vector<R> re, im;
};

template <class T>
SHARDAX_INLINE void set(Cell<T>& cell, std::int64_t lane, T x) {
  cell.re[lane] = std::real(x);
  if constexpr (complex_cells<T>) cell.im[lane] = std::imag(x);
}
template <class T>
SHARDAX_INLINE T get(const Cell<T>& cell, std::int64_t lane) {
  if constexpr (complex_cells<T>) {
    return {cell.re[lane], cell.im[lane]};
  } else {
    return cell.re[lane];
  }
}

// out -= a b
template <class T>
SHARDAX_INLINE void take(Cell<T>& out, const Cell<T>& a, const Cell<T>& b) {
  out.re -= a.re * b.re;
  if constexpr (complex_cells<T>) {
    out.re += a.im * b.im;
    out.im -= a.re * b.im;
    out.im -= a.im * b.re;
  }
}
// out -= a conj(b)
template <class T>
SHARDAX_INLINE void take_conjugate(Cell<T>& out, const Cell<T>& a, const Cell<T>& b) {
  out.re -= a.re * b.re;
  if constexpr (complex_cells<T>) {
    out.re -= a.im * b.im;
    out.im += a.re * b.im;
    out.im -= a.im * b.re;
  }
}
// out += conj(a) b
template <class T>
SHARDAX_INLINE void add_conjugate(Cell<T>& out, const Cell<T>& a, const Cell<T>& b) {
  out.re += a.re * b.re;
  if constexpr (complex_cells<T>) {
    out.re += a.im * b.im;
    out.im += a.re * b.im;
    out.im -= a.im * b.re;
  }
}
template <class T>
SHARDAX_INLINE void multiply(Cell<T>& x, const Cell<T>& by) {
  if constexpr (complex_cells<T>) {
    const Vector<T> re = x.re * by.re - x.im * by.im;
    x.im = x.re * by.im + x.im * by.re;
    x.re = re;
  } else {
    x.re *= by.re;
  }
}
template <class T>
SHARDAX_INLINE void multiply_real(Cell<T>& x, const Vector<T>& by) {
  x.re *= by;
  if constexpr (complex_cells<T>) x.im *= by;
}
template <class T>
SHARDAX_INLINE void select(Cell<T>& out, const Index<T>& where, const Cell<T>& a,
                           const Cell<T>& b) {
  out.re = where ? a.re : b.re;
  if constexpr (complex_cells<T>) out.im = where ? a.im : b.im;
}
template <class R>
SHARDAX_INLINE void magnitude(typename VectorOf<R>::Type& out,
                              const typename VectorOf<R>::Type& x) {
  out = x < 0 ? -x : x;
}
// |re| + |im|, by which LAPACK picks pivots.
template <class T>
SHARDAX_INLINE void size_of(Vector<T>& out, const Cell<T>& x) {
  magnitude<Real<T>>(out, x.re);
  if constexpr (complex_cells<T>) {
    Vector<T> im;
    magnitude<Real<T>>(im, x.im);
    out += im;
  }
}
template <class T>
SHARDAX_INLINE void add_square(Vector<T>& out, const Cell<T>& x) {
  out += x.re * x.re;
  if constexpr (complex_cells<T>) out += x.im * x.im;
}
template <class T>
SHARDAX_INLINE void root(Vector<T>& out, const Vector<T>& x) {
  for (std::int64_t lane = 0; lane < width<T>; ++lane) out[lane] = __builtin_sqrt(x[lane]);
}
template <class T>
SHARDAX_INLINE void reciprocal(Cell<T>& out, const Cell<T>& x) {
  if constexpr (complex_cells<T>) {
    Vector<T> re, im;
    magnitude<Real<T>>(re, x.re);
    magnitude<Real<T>>(im, x.im);
    const Vector<T> scale = re > im ? re : im;
    re = x.re / scale;
    im = x.im / scale;
    const Vector<T> norm = (re * re + im * im) * scale;
    out.re = re / norm;
    out.im = -im / norm;
  } else {
    out.re = 1 / x.re;
  }
}

// f(c, count) for groups of columns first..end: of four while there are as many, then of one.
template <class F>
SHARDAX_INLINE void by_columns(std::int64_t first, std::int64_t end, const F& f) {
  std::int64_t c = first;
  for (; c + 4 <= end; c += 4) f(c, std::integral_constant<int, 4>());
  for (; c < end; ++c) f(c, std::integral_constant<int, 1>());
}

// The lower factor of matrices of which the lower triangle is read; NaN where a pivot is not
// positive.
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void cholesky(Cell<T>* a, std::int64_t n) {
  using V = Vector<T>;
  V poison{};
  for (std::int64_t j = 0; j < n; ++j) {
    V pivot = a[j * n + j].re, length;
    for (std::int64_t k = 0; k < j; ++k) {
      const Cell<T>& x = a[j * n + k];
      pivot -= x.re * x.re;
      if constexpr (complex_cells<T>) pivot -= x.im * x.im;
    }
    poison = pivot <= 0 ? poison + std::numeric_limits<Real<T>>::quiet_NaN() : poison;
    root<T>(length, pivot);
    const V inverse = 1 / length;
    a[j * n + j] = Cell<T>();
    a[j * n + j].re = length;
    by_columns(j + 1, n, [&](std::int64_t i, auto count) {
      Cell<T> x[count];
      for (int r = 0; r < count; ++r) x[r] = a[(i + r) * n + j];
      for (std::int64_t k = 0; k < j; ++k) {
        const Cell<T> b = a[j * n + k];
        for (int r = 0; r < count; ++r) take_conjugate(x[r], a[(i + r) * n + k], b);
      }
      for (int r = 0; r < count; ++r) {
        multiply_real(x[r], inverse);
        a[(i + r) * n + j] = x[r];
        a[j * n + i + r] = Cell<T>();
      }
    });
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      a[i * n + j].re += poison;
      if constexpr (complex_cells<T>) a[i * n + j].im += poison;
    }
  }
}

// L and U in place, and the rows that were swapped with each.
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void lu(Cell<T>* a, Index<T>* pivots, std::int64_t m,
                                        std::int64_t n) {
  using V = Vector<T>;
  using Number = std::remove_reference_t<decltype(pivots[0][0])>;
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    V best, size;
    size_of(best, a[k * n + k]);
    Index<T> at = Index<T>{} + static_cast<Number>(k);
    for (std::int64_t i = k + 1; i < m; ++i) {
      size_of(size, a[i * n + k]);
      const Index<T> larger = size > best;
      best = larger ? size : best;
      at = larger ? Index<T>{} + static_cast<Number>(i) : at;
    }
    pivots[k] = at;
    std::uint64_t chosen = 0;  // the rows that are somewhere a pivot's
    for (std::int64_t lane = 0; lane < width<T>; ++lane) chosen |= std::uint64_t{1} << at[lane];
    for (std::int64_t i = k + 1; i < m; ++i) {
      if ((chosen >> i & 1) == 0) continue;
      const Index<T> here = at == static_cast<Number>(i);
      for (std::int64_t c = 0; c < n; ++c) {
        const Cell<T> x = a[k * n + c], y = a[i * n + c];
        select(a[k * n + c], here, y, x);
        select(a[i * n + c], here, x, y);
      }
    }
    const Cell<T> pivot = a[k * n + k];
    Cell<T> inverse;
    reciprocal(inverse, pivot);
    const Index<T> zero = best == 0;
    for (std::int64_t i = k + 1; i < m; ++i) {
      Cell<T> x = a[i * n + k];
      if constexpr (complex_cells<T>) {
        multiply(x, inverse);
      } else {
        x.re /= pivot.re;
      }
      select(x, zero, a[i * n + k], x);
      a[i * n + k] = x;
      for (std::int64_t c = k + 1; c < n; ++c) take(a[i * n + c], x, a[k * n + c]);
    }
  }
}

// x of a x = b in place of the n x r matrix b, with a triangle of a.
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void solve(const Cell<T>* a, Cell<T>* b, std::int64_t n,
                                           std::int64_t r, bool lower, bool unit) {
  const std::int64_t start = lower ? 0 : n - 1, step = lower ? 1 : -1;
  by_columns(0, r, [&](std::int64_t c, auto count) {
    for (std::int64_t s = 0, i = start; s < n; ++s, i += step) {
      Cell<T> x[count];
      for (int q = 0; q < count; ++q) x[q] = b[i * r + c + q];
      for (std::int64_t t = 0, k = start; t < s; ++t, k += step) {
        const Cell<T> l = a[i * n + k];
        for (int q = 0; q < count; ++q) take(x[q], l, b[k * r + c + q]);
      }
      Cell<T> inverse;
      if (!unit) reciprocal(inverse, a[i * n + i]);
      for (int q = 0; q < count; ++q) {
        if (!unit) multiply(x[q], inverse);
        b[i * r + c + q] = x[q];
      }
    }
  });
}

// Makes Householder's vector v in place of column k of the m x n matrix a from row `head` on, whose
// first element becomes what is left of it, and the factor of v.
template <class T>
SHARDAX_INLINE void make_reflector(Cell<T>* a, Cell<T>& tau, std::int64_t m, std::int64_t n,
                                   std::int64_t head, std::int64_t k) {
  using V = Vector<T>;
  V largest{}, size;
  for (std::int64_t i = head; i < m; ++i) {
    size_of(size, a[i * n + k]);
    largest = size > largest ? size : largest;
  }
  const V scale = largest > std::numeric_limits<Real<T>>::min() ? largest : V{} + 1;
  const V shrink = 1 / scale;
  V below{}, length;
  for (std::int64_t i = head + 1; i < m; ++i) {
    multiply_real(a[i * n + k], shrink);
    add_square(below, a[i * n + k]);
  }
  Cell<T> alpha = a[head * n + k];
  multiply_real(alpha, shrink);
  V total = below;
  add_square(total, alpha);
  root<T>(length, total);
  const V beta = alpha.re < 0 ? length : -length;
  Index<T> none = below == 0;
  Cell<T> gap = alpha, inverse;
  tau = Cell<T>();
  tau.re = none ? V{} : (beta - alpha.re) / beta;
  gap.re -= beta;
  if constexpr (complex_cells<T>) {
    none = none & (alpha.im == 0);
    tau.re = none ? V{} : (beta - alpha.re) / beta;
    tau.im = none ? V{} : -alpha.im / beta;
  }
  gap.re = none ? V{} + 1 : gap.re;
  reciprocal(inverse, gap);
  for (std::int64_t i = head + 1; i < m; ++i) multiply(a[i * n + k], inverse);
  Cell<T> left{};
  left.re = beta * scale;
  select(a[head * n + k], none, a[head * n + k], left);
}

// Takes tau v v* x from columns first..end of x, which has `n` columns: v is 1 in row `head` and
// lies below in column k of a, which has `columns`; of the adjoint of the factor tau if that is
// asked for.
template <class T>
SHARDAX_INLINE void reflect(const Cell<T>* a, std::int64_t columns, std::int64_t head,
                            std::int64_t k, Cell<T> tau, bool adjoint, Cell<T>* x, std::int64_t m,
                            std::int64_t n, std::int64_t first) {
  if constexpr (complex_cells<T>) tau.im = adjoint ? -tau.im : tau.im;
  by_columns(first, n, [&](std::int64_t c, auto count) {
    Cell<T> w[count];
    for (int q = 0; q < count; ++q) w[q] = x[head * n + c + q];
    for (std::int64_t i = head + 1; i < m; ++i) {
      const Cell<T> v = a[i * columns + k];
      for (int q = 0; q < count; ++q) add_conjugate(w[q], v, x[i * n + c + q]);
    }
    for (int q = 0; q < count; ++q) {
      multiply(w[q], tau);
      x[head * n + c + q].re -= w[q].re;
      if constexpr (complex_cells<T>) x[head * n + c + q].im -= w[q].im;
    }
    for (std::int64_t i = head + 1; i < m; ++i) {
      const Cell<T> v = a[i * columns + k];
      for (int q = 0; q < count; ++q) take(x[i * n + c + q], v, w[q]);
    }
  });
}

// R and, below it, Householder's vectors in place of the m x n matrix; the factors of these.
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void qr(Cell<T>* a, Cell<T>* taus, std::int64_t m, std::int64_t n) {
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    make_reflector(a, taus[k], m, n, k, k);
    reflect(a, n, k, k, taus[k], true, a, m, n, k + 1);
  }
}

// The first p columns of the product of the reflectors that `qr` left in the m x n matrix a.
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void product_of_reflectors(const Cell<T>* a, const Cell<T>* taus,
                                                           Cell<T>* q, std::int64_t m,
                                                           std::int64_t n, std::int64_t p) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < p; ++j) {
      q[i * p + j] = Cell<T>();
      if (i == j) q[i * p + j].re += 1;
    }
  }
  for (std::int64_t k = std::min(std::min(m, n), p) - 1; k >= 0; --k) {
    reflect(a, n, k, k, taus[k], false, q, m, p, k);
  }
}

}  // namespace shardax::kernels::matrix_lanes
