// kernels/small_linalg/interleaved_lapack.h - small factorizations, one matrix per SIMD lane.
//
// A cell is one element of each of these matrices, so that every operation is a vector's. For a
// small matrix LAPACK's own calls and loops cost several times the arithmetic (1000 solves of 8 x 8
// in float64: 0.9 ms, here 0.15). Matrices are cells row after row. Algorithms, signs, choice of
// pivots and results for singular matrices are LAPACK's.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>

#include "kernels/tiles/dispatch.h"

namespace shardax::kernels::interleaved {

#define SHARDAX_INLINE [[gnu::always_inline]] inline

template <class T>
struct RealOf {
  using Type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using Type = R;
};
template <class R>
using IndexOf = std::conditional_t<sizeof(R) == 4, std::int32_t, std::int64_t>;

// Lanes of numbers T, in vectors of so many bytes: as many as the processor's have. Compilers make
// selections of wider ones element by element, and keep them in memory.
template <class T, int size>
struct Lanes {
  using Number = T;
  using Real = typename RealOf<T>::Type;
  static constexpr int bytes = size;
  typedef Real Vector __attribute__((vector_size(size)));
  typedef IndexOf<Real> Index __attribute__((vector_size(size)));
  // One that begins with a number somewhere in memory. A typedef's alignment is lost where clang
  // instantiates a template.
  struct __attribute__((packed, may_alias)) Loose {
    Vector vector;
  };
  static_assert(alignof(Loose) == 1);
};
template <class L>
using Number = typename L::Number;
template <class L>
using Real = typename L::Real;
template <class L>
using RealLanes = Lanes<Real<L>, L::bytes>;
template <class L>
using Vector = typename L::Vector;
template <class L>
using Index = typename L::Index;
template <class L>
inline constexpr bool complex_cells = !std::is_same_v<Number<L>, Real<L>>;
template <class L>
inline constexpr int parts = complex_cells<L> ? 2 : 1;
template <class L>
inline constexpr std::int64_t width = L::bytes / static_cast<int>(sizeof(Real<L>));

// Calls f, which is compiled for processors whose vectors have as many bytes.
template <class L, class F>
void in_vectors(const F& f) {
  if constexpr (L::bytes == 64) {
    at_v4(f);
  } else {
    at_v3(f);
  }
}

template <class L, bool parts = complex_cells<L>>
struct alignas(L::bytes) Cell {
  Vector<L> re;
};
template <class L>
struct alignas(L::bytes) Cell<L, true> {
  Vector<L> re, im;
};

template <class L>
SHARDAX_INLINE void set(Cell<L>& cell, std::int64_t lane, Number<L> x) {
  cell.re[lane] = std::real(x);
  if constexpr (complex_cells<L>) cell.im[lane] = std::imag(x);
}
template <class L>
SHARDAX_INLINE Number<L> get(const Cell<L>& cell, std::int64_t lane) {
  if constexpr (complex_cells<L>) {
    return {cell.re[lane], cell.im[lane]};
  } else {
    return cell.re[lane];
  }
}

// out -= a b
template <class L>
SHARDAX_INLINE void take(Cell<L>& out, const Cell<L>& a, const Cell<L>& b) {
  out.re -= a.re * b.re;
  if constexpr (complex_cells<L>) {
    out.re += a.im * b.im;
    out.im -= a.re * b.im;
    out.im -= a.im * b.re;
  }
}
// out -= a conj(b)
template <class L>
SHARDAX_INLINE void take_conjugate(Cell<L>& out, const Cell<L>& a, const Cell<L>& b) {
  out.re -= a.re * b.re;
  if constexpr (complex_cells<L>) {
    out.re -= a.im * b.im;
    out.im += a.re * b.im;
    out.im -= a.im * b.re;
  }
}
// out += conj(a) b
template <class L>
SHARDAX_INLINE void add_conjugate(Cell<L>& out, const Cell<L>& a, const Cell<L>& b) {
  out.re += a.re * b.re;
  if constexpr (complex_cells<L>) {
    out.re += a.im * b.im;
    out.im += a.re * b.im;
    out.im -= a.im * b.re;
  }
}
template <class L>
SHARDAX_INLINE void multiply(Cell<L>& x, const Cell<L>& by) {
  if constexpr (complex_cells<L>) {
    const Vector<L> re = x.re * by.re - x.im * by.im;
    x.im = x.re * by.im + x.im * by.re;
    x.re = re;
  } else {
    x.re *= by.re;
  }
}
template <class L>
SHARDAX_INLINE void multiply_real(Cell<L>& x, const Vector<L>& by) {
  x.re *= by;
  if constexpr (complex_cells<L>) x.im *= by;
}
template <class L>
SHARDAX_INLINE void select(Cell<L>& out, const Index<L>& where, const Cell<L>& a,
                           const Cell<L>& b) {
  out.re = where ? a.re : b.re;
  if constexpr (complex_cells<L>) out.im = where ? a.im : b.im;
}
template <class L>
SHARDAX_INLINE void magnitude(Vector<L>& out, const Vector<L>& x) {
  out = x < 0 ? -x : x;
}
// |re| + |im|, by which LAPACK picks pivots.
template <class L>
SHARDAX_INLINE void size_of(Vector<L>& out, const Cell<L>& x) {
  magnitude<L>(out, x.re);
  if constexpr (complex_cells<L>) {
    Vector<L> im;
    magnitude<L>(im, x.im);
    out += im;
  }
}
template <class L>
SHARDAX_INLINE void add_square(Vector<L>& out, const Cell<L>& x) {
  out += x.re * x.re;
  if constexpr (complex_cells<L>) out += x.im * x.im;
}
template <class L>
SHARDAX_INLINE void root(Vector<L>& out, const Vector<L>& x) {
  for (std::int64_t lane = 0; lane < width<L>; ++lane) out[lane] = __builtin_sqrt(x[lane]);
}
template <class L>
SHARDAX_INLINE void reciprocal(Cell<L>& out, const Cell<L>& x) {
  if constexpr (complex_cells<L>) {
    Vector<L> re, im;
    magnitude<L>(re, x.re);
    magnitude<L>(im, x.im);
    const Vector<L> scale = re > im ? re : im;
    re = x.re / scale;
    im = x.im / scale;
    const Vector<L> norm = (re * re + im * im) * scale;
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
template <class L>
SHARDAX_INLINE void cholesky(Cell<L>* a, std::int64_t n) {
  using V = Vector<L>;
  V poison{};
  for (std::int64_t j = 0; j < n; ++j) {
    V pivot = a[j * n + j].re, length;
    for (std::int64_t k = 0; k < j; ++k) {
      const Cell<L>& x = a[j * n + k];
      pivot -= x.re * x.re;
      if constexpr (complex_cells<L>) pivot -= x.im * x.im;
    }
    poison = pivot <= 0 ? poison + std::numeric_limits<Real<L>>::quiet_NaN() : poison;
    root<L>(length, pivot);
    const V inverse = 1 / length;
    a[j * n + j] = Cell<L>();
    a[j * n + j].re = length;
    by_columns(j + 1, n, [&](std::int64_t i, auto count) {
      Cell<L> x[count];
      for (int r = 0; r < count; ++r) x[r] = a[(i + r) * n + j];
      for (std::int64_t k = 0; k < j; ++k) {
        const Cell<L> b = a[j * n + k];
        for (int r = 0; r < count; ++r) take_conjugate(x[r], a[(i + r) * n + k], b);
      }
      for (int r = 0; r < count; ++r) {
        multiply_real(x[r], inverse);
        a[(i + r) * n + j] = x[r];
        a[j * n + i + r] = Cell<L>();
      }
    });
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      a[i * n + j].re += poison;
      if constexpr (complex_cells<L>) a[i * n + j].im += poison;
    }
  }
}

// L and U in place, and the rows that were swapped with each.
template <class L>
SHARDAX_INLINE void lu(Cell<L>* a, Index<L>* pivots, std::int64_t m, std::int64_t n) {
  using V = Vector<L>;
  using Row = IndexOf<Real<L>>;
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    V best, size;
    size_of(best, a[k * n + k]);
    Index<L> at = Index<L>{} + static_cast<Row>(k);
    for (std::int64_t i = k + 1; i < m; ++i) {
      size_of(size, a[i * n + k]);
      const Index<L> larger = size > best;
      best = larger ? size : best;
      at = larger ? Index<L>{} + static_cast<Row>(i) : at;
    }
    pivots[k] = at;
    std::uint64_t chosen = 0;  // the rows that are somewhere a pivot's
    for (std::int64_t lane = 0; lane < width<L>; ++lane) chosen |= std::uint64_t{1} << at[lane];
    for (std::int64_t i = k + 1; i < m; ++i) {
      if ((chosen >> i & 1) == 0) continue;
      const Index<L> here = at == static_cast<Row>(i);
      for (std::int64_t c = 0; c < n; ++c) {
        const Cell<L> x = a[k * n + c], y = a[i * n + c];
        select(a[k * n + c], here, y, x);
        select(a[i * n + c], here, x, y);
      }
    }
    const Cell<L> pivot = a[k * n + k];
    Cell<L> inverse;
    reciprocal(inverse, pivot);
    const Index<L> zero = best == 0;
    for (std::int64_t i = k + 1; i < m; ++i) {
      Cell<L> x = a[i * n + k];
      if constexpr (complex_cells<L>) {
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
template <class L>
SHARDAX_INLINE void solve(const Cell<L>* a, Cell<L>* b, std::int64_t n, std::int64_t r, bool lower,
                          bool unit) {
  const std::int64_t start = lower ? 0 : n - 1, step = lower ? 1 : -1;
  by_columns(0, r, [&](std::int64_t c, auto count) {
    for (std::int64_t s = 0, i = start; s < n; ++s, i += step) {
      Cell<L> x[count];
      for (int q = 0; q < count; ++q) x[q] = b[i * r + c + q];
      for (std::int64_t t = 0, k = start; t < s; ++t, k += step) {
        const Cell<L> l = a[i * n + k];
        for (int q = 0; q < count; ++q) take(x[q], l, b[k * r + c + q]);
      }
      Cell<L> inverse;
      if (!unit) reciprocal(inverse, a[i * n + i]);
      for (int q = 0; q < count; ++q) {
        if (!unit) multiply(x[q], inverse);
        b[i * r + c + q] = x[q];
      }
    }
  });
}

// Makes Householder's vector v in place of column k of the m x n matrix a from row `head` on, and
// the factor of v. The first element becomes that of the reflected column.
template <class L>
SHARDAX_INLINE void make_reflector(Cell<L>* a, Cell<L>& tau, std::int64_t m, std::int64_t n,
                                   std::int64_t head, std::int64_t k) {
  using V = Vector<L>;
  V largest{}, size;
  for (std::int64_t i = head; i < m; ++i) {
    size_of(size, a[i * n + k]);
    largest = size > largest ? size : largest;
  }
  const V scale = largest > std::numeric_limits<Real<L>>::min() ? largest : V{} + 1;
  const V shrink = 1 / scale;
  V below{}, length;
  for (std::int64_t i = head + 1; i < m; ++i) {
    multiply_real(a[i * n + k], shrink);
    add_square(below, a[i * n + k]);
  }
  Cell<L> alpha = a[head * n + k];
  multiply_real(alpha, shrink);
  V total = below;
  add_square(total, alpha);
  root<L>(length, total);
  const V beta = alpha.re < 0 ? length : -length;
  Index<L> none = below == 0;
  Cell<L> gap = alpha, inverse;
  tau = Cell<L>();
  tau.re = none ? V{} : (beta - alpha.re) / beta;
  gap.re -= beta;
  if constexpr (complex_cells<L>) {
    none = (none & (alpha.im == 0)) | (total == 0);  // squares may vanish
    tau.re = none ? V{} : (beta - alpha.re) / beta;
    tau.im = none ? V{} : -alpha.im / beta;
  }
  gap.re = none ? V{} + 1 : gap.re;
  reciprocal(inverse, gap);
  for (std::int64_t i = head + 1; i < m; ++i) multiply(a[i * n + k], inverse);
  Cell<L> left{};
  left.re = beta * scale;
  select(a[head * n + k], none, a[head * n + k], left);
}

// Takes tau v v* x from columns first..end of x, which has `n` columns. v is 1 in row `head`, and
// its rest is below in column k of a, which has `columns`. `adjoint` takes the adjoint of the
// factor tau.
template <class L>
SHARDAX_INLINE void reflect(const Cell<L>* a, std::int64_t columns, std::int64_t head,
                            std::int64_t k, Cell<L> tau, bool adjoint, Cell<L>* x, std::int64_t m,
                            std::int64_t n, std::int64_t first) {
  if constexpr (complex_cells<L>) tau.im = adjoint ? -tau.im : tau.im;
  by_columns(first, n, [&](std::int64_t c, auto count) {
    Cell<L> w[count];
    for (int q = 0; q < count; ++q) w[q] = x[head * n + c + q];
    for (std::int64_t i = head + 1; i < m; ++i) {
      const Cell<L> v = a[i * columns + k];
      for (int q = 0; q < count; ++q) add_conjugate(w[q], v, x[i * n + c + q]);
    }
    for (int q = 0; q < count; ++q) {
      multiply(w[q], tau);
      x[head * n + c + q].re -= w[q].re;
      if constexpr (complex_cells<L>) x[head * n + c + q].im -= w[q].im;
    }
    for (std::int64_t i = head + 1; i < m; ++i) {
      const Cell<L> v = a[i * columns + k];
      for (int q = 0; q < count; ++q) take(x[i * n + c + q], v, w[q]);
    }
  });
}

// R and, below it, Householder's vectors in place of the m x n matrix; the factors of these.
template <class L>
SHARDAX_INLINE void qr(Cell<L>* a, Cell<L>* taus, std::int64_t m, std::int64_t n) {
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    make_reflector(a, taus[k], m, n, k, k);
    reflect(a, n, k, k, taus[k], true, a, m, n, k + 1);
  }
}

// The first p columns of the product of the reflectors that `qr` left in the m x n matrix a.
template <class L>
SHARDAX_INLINE void product_of_reflectors(const Cell<L>* a, const Cell<L>* taus, Cell<L>* q,
                                          std::int64_t m, std::int64_t n, std::int64_t p) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < p; ++j) {
      q[i * p + j] = Cell<L>();
      if (i == j) q[i * p + j].re += 1;
    }
  }
  for (std::int64_t k = std::min(std::min(m, n), p) - 1; k >= 0; --k) {
    reflect(a, n, k, k, taus[k], false, q, m, p, k);
  }
}

}  // namespace shardax::kernels::interleaved
