// kernels/small_linalg/tridiagonal.h - Hermitian matrices in tridiagonal form and their
// eigenvalues, and matrices in bidiagonal form: small ones, as many at a time as a vector has
// lanes.
//
// Sources: Golub and Van Loan, Matrix Computations, 5.4 and 8.3. A lane goes its own way, turning
// by no angle once it is done. A matrix's result thus does not depend on its neighbours.
#pragma once

#include <utility>

#include "kernels/small_linalg/hessenberg.h"
#include "kernels/small_linalg/jacobi.h"

namespace shardax::kernels::interleaved {

// The tridiagonal form of the n x n matrix of which the lower triangle is read. Its diagonals come
// there, and below them Householder's vectors, whose n - 1 factors are taus. `w` is room for n.
template <class L>
SHARDAX_INLINE void tridiagonalise(Cell<L>* a, Cell<L>* taus, Cell<L>* w, std::int64_t n) {
  if constexpr (complex_cells<L>) a[0].im = Vector<L>{};
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    const std::int64_t head = k + 1;
    make_reflector(a, taus[k], n, n, head, k);
    const Cell<L> left = a[head * n + k];
    a[head * n + k] = Cell<L>();
    a[head * n + k].re += 1;
    // w = -A v, each element of the triangle taken twice.
    for (std::int64_t i = head; i < n; ++i) w[i] = Cell<L>();
    for (std::int64_t i = head; i < n; ++i) {
      const Cell<L> v = a[i * n + k];
      Cell<L> sum{};
      for (std::int64_t j = head; j < i; ++j) {
        const Cell<L> x = a[i * n + j];
        take(sum, x, a[j * n + k]);
        take_conjugate(w[j], v, x);
      }
      Cell<L> diagonal{};
      diagonal.re = a[i * n + i].re;
      take(sum, diagonal, v);
      w[i].re += sum.re;
      if constexpr (complex_cells<L>) w[i].im += sum.im;
    }
    // w = x - 1/2 (x* v) v with x = tau A v. The reflector then makes A - v w* - w v* of A.
    Cell<L> minus_tau{}, product{};
    subtract(minus_tau, taus[k]);
    for (std::int64_t i = head; i < n; ++i) {
      multiply(w[i], minus_tau);
      add_conjugate(product, w[i], a[i * n + k]);
    }
    multiply(product, taus[k]);
    product.re *= Real<L>(0.5);
    if constexpr (complex_cells<L>) product.im *= Real<L>(0.5);
    for (std::int64_t i = head; i < n; ++i) take(w[i], product, a[i * n + k]);
    for (std::int64_t i = head; i < n; ++i) {
      const Cell<L> v = a[i * n + k], own = w[i];
      for (std::int64_t j = head; j <= i; ++j) {
        take_conjugate(a[i * n + j], v, w[j]);
        take_conjugate(a[i * n + j], own, a[j * n + k]);
      }
      if constexpr (complex_cells<L>) a[i * n + i].im = Vector<L>{};
    }
    a[head * n + k] = left;
  }
}

// The product of the reflectors that `tridiagonalise` or `hessenberg` left below the diagonal of a.
template <class L>
SHARDAX_INLINE void product_below(const Cell<L>* a, const Cell<L>* taus, Cell<L>* q,
                                  std::int64_t n) {
  make_identity(q, n);
  for (std::int64_t k = n - 2; k >= 0; --k) {
    reflect(a, n, k + 1, k, taus[k], false, q, n, n, k + 1);
  }
}

// The window of each lane: from `first`, the first element off the diagonal that counts, to `end`,
// the first one behind it that does not. Elements that do not count become 0. Gives the rows
// from the least `first` to the largest `end`.
struct Window {
  std::int64_t from, to;
};
template <class L>
SHARDAX_INLINE Window find_windows(const Cell<L>* d, Cell<L>* e, std::int64_t n, Index<L>& first,
                                   Index<L>& end) {
  using V = Vector<L>;
  constexpr Real<L> unit = std::numeric_limits<Real<L>>::epsilon() / 2,
                    least = std::numeric_limits<Real<L>>::min() / unit;
  first = Index<L>{} + row<L>(n + 1);
  end = Index<L>{};
  for (std::int64_t i = n - 2; i >= 0; --i) {
    V size, above, below;
    magnitude<L>(size, e[i].re);
    magnitude<L>(above, d[i].re);
    magnitude<L>(below, d[i + 1].re);
    V bound = unit * (above + below);
    bound = bound > least ? bound : V{} + least;
    const Index<L> counts = size > bound;
    end = (counts & (first != row<L>(i + 1))) ? Index<L>{} + row<L>(i + 1) : end;
    first = counts ? Index<L>{} + row<L>(i) : first;
    e[i].re = counts ? e[i].re : V{};
  }
  Window rows{n, 0};
  for (std::int64_t lane = 0; lane < width<L>; ++lane) {
    rows.from = std::min<std::int64_t>(rows.from, first[lane]);
    rows.to = std::max<std::int64_t>(rows.to, end[lane]);
  }
  return rows;
}

// Wilkinson's shift, as the distance from the last diagonal element of each window.
template <class L>
SHARDAX_INLINE void start_of(Vector<L>& out, const Cell<L>* d, const Cell<L>* e,
                             const Index<L>& first, const Index<L>& end, std::int64_t n) {
  using V = Vector<L>;
  V top{}, next{}, off = V{} + 1, last{};
  for (std::int64_t lane = 0; lane < width<L>; ++lane) {
    const std::int64_t at = first[lane];
    if (at >= n) continue;
    top[lane] = d[at].re[lane];
    next[lane] = d[at + 1].re[lane];
    off[lane] = e[at].re[lane];
    last[lane] = d[end[lane]].re[lane];
  }
  const V half = (next - top) / (2 * off);
  V length;
  root<L>(length, half * half + 1);
  out = last - top + off / (half < 0 ? half - length : half + length);
}

// Eigenvalues, in no order, in place of the diagonal d of tridiagonal matrices, by QL steps with
// implicit shifts. e are the n - 1 elements off the diagonal. Unless `v` is null, its n rows turn
// as the matrix does: those of the transposed basis become eigenvectors.
template <class L>
SHARDAX_INLINE void ql_steps(Cell<RealLanes<L>>* d, Cell<RealLanes<L>>* e, Cell<L>* v,
                             std::int64_t n) {
  using R = RealLanes<L>;
  using V = Vector<R>;
  constexpr std::int64_t most_steps = 30;  // for each eigenvalue, of which 2 are usual
  constexpr Real<L> least =
      std::numeric_limits<Real<L>>::min() / std::numeric_limits<Real<L>>::epsilon();
  for (std::int64_t step = 0; step < most_steps * n; ++step) {
    Index<R> first, end;
    const Window rows = find_windows<R>(d, e, n, first, end);
    if (rows.from >= rows.to) return;
    V start;
    start_of<R>(start, d, e, first, end, n);
    V c{}, s{}, p{}, g{};
    for (std::int64_t i = rows.to - 1; i >= rows.from; --i) {
      const Index<R> starts = end == row<R>(i + 1), ends = first == row<R>(i),
                     inside = (first <= row<R>(i)) & (end > row<R>(i));
      c = starts ? V{} + 1 : c;
      s = starts ? V{} + 1 : s;
      p = starts ? V{} : p;
      g = starts ? start : g;
      // The rotation by which the element that the last one left off the band becomes 0.
      const V f = s * e[i].re, b = c * e[i].re, square = f * f + g * g;
      const Index<R> none = square < least;
      V length;
      root<R>(length, square);
      const V inverse = none ? V{} : 1 / length;
      s = f * inverse;
      c = none ? V{} + 1 : g * inverse;
      if (i + 2 < n) {
        e[i + 1].re = inside & ~starts ? (none ? V{} : length) : e[i + 1].re;
      }
      const V under = d[i + 1].re - p, change = (d[i].re - under) * s + 2 * c * b;
      p = s * change;
      g = c * change - b;
      d[i + 1].re = inside ? under + p : d[i + 1].re;
      d[i].re = ends ? d[i].re - p : d[i].re;
      e[i].re = ends ? g : e[i].re;
      const V turn = inside ? s : V{}, keep = inside ? c : V{} + 1;
      for (std::int64_t k = 0; v && k < n; ++k) {
        Cell<L> x = v[i * n + k], y = v[(i + 1) * n + k];
        v[i * n + k].re = keep * x.re - turn * y.re;
        v[(i + 1) * n + k].re = turn * x.re + keep * y.re;
        if constexpr (complex_cells<L>) {
          v[i * n + k].im = keep * x.im - turn * y.im;
          v[(i + 1) * n + k].im = turn * x.im + keep * y.im;
        }
      }
    }
  }
}

// Eigenvalues, in no order, of Hermitian matrices, of which the lower triangle is read and
// overwritten, and unless `v` is null eigenvectors in rows. `taus` and `work` have room for n, `e`
// likewise.
template <class L>
SHARDAX_INLINE void eigh(Cell<L>* a, Cell<RealLanes<L>>* values, Cell<L>* v, std::int64_t n,
                         Cell<L>* taus, Cell<L>* work, Cell<RealLanes<L>>* e) {
  Vector<L> scale;
  scale_down(a, n * n, scale);
  tridiagonalise(a, taus, work, n);
  for (std::int64_t i = 0; i < n; ++i) values[i].re = a[i * n + i].re;
  for (std::int64_t i = 0; i + 1 < n; ++i) e[i].re = a[(i + 1) * n + i].re;
  if (v) {
    product_below(a, taus, v, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < i; ++j) std::swap(v[i * n + j], v[j * n + i]);
    }
  }
  ql_steps<L>(values, e, v, n);
  for (std::int64_t i = 0; i < n; ++i) values[i].re *= scale;
}

// The singular values of n x m matrices, n <= m, and their negatives, in no order. They are the
// eigenvalues of a tridiagonal matrix of twice the size, whose elements are those of the bidiagonal
// form. `values` and `e` have room for 2 n.
template <class L>
SHARDAX_INLINE void singular_values(Cell<L>* a, Cell<RealLanes<L>>* values, Cell<RealLanes<L>>* e,
                                    std::int64_t n, std::int64_t m) {
  Vector<L> scale;
  scale_down(a, m * n, scale);
  Cell<L> tau;
  for (std::int64_t k = 0; k < n; ++k) {
    Cell<L>* const top = a + k * m;
    make_reflector(top, tau, m, 1, k, 0);
    e[2 * k].re = top[k].re;
    if constexpr (complex_cells<L>) tau.im = -tau.im;
    by_columns(k + 1, n, [&](std::int64_t r, auto count) {
      Cell<L> w[count];
      for (int q = 0; q < count; ++q) w[q] = a[(r + q) * m + k];
      for (std::int64_t j = k + 1; j < m; ++j) {
        for (int q = 0; q < count; ++q) add_conjugate(w[q], top[j], a[(r + q) * m + j]);
      }
      for (int q = 0; q < count; ++q) {
        multiply(w[q], tau);
        subtract(a[(r + q) * m + k], w[q]);
      }
      for (std::int64_t j = k + 1; j < m; ++j) {
        for (int q = 0; q < count; ++q) take(a[(r + q) * m + j], top[j], w[q]);
      }
    });
    if (k + 1 == n) break;
    make_reflector(a, tau, n, m, k + 1, k);
    e[2 * k + 1].re = a[(k + 1) * m + k].re;
    reflect(a, m, k + 1, k, tau, true, a, n, m, k + 1);
  }
  for (std::int64_t i = 0; i < 2 * n; ++i) values[i].re = Vector<L>{};
  ql_steps<L>(values, e, static_cast<Cell<L>*>(nullptr), 2 * n);
  for (std::int64_t i = 0; i < 2 * n; ++i) values[i].re *= scale;
}

// Multiplies m x n matrices, given by their columns, one after the other, by eigenvectors of their
// adjoints times themselves. These go into the rows of v. Columns are then nearly orthogonal, and
// `jacobi_svd` needs two or three rounds. Matrices must be of a size that squares bear. `gram` has
// room for n^2, `image` for m n, the others for n.
template <class L>
SHARDAX_INLINE void turn_to_eigenvectors(Cell<L>* a, Cell<L>* v, std::int64_t m, std::int64_t n,
                                         Cell<L>* gram, Cell<L>* image, Cell<L>* taus,
                                         Cell<L>* work, Cell<RealLanes<L>>* values,
                                         Cell<RealLanes<L>>* e) {
  for (std::int64_t p = 0; p < n; ++p) {
    by_columns(0, n, [&](std::int64_t c, auto count) {
      if (c > p) return;
      Cell<L> sum[count]{};
      for (std::int64_t i = 0; i < m; ++i) {
        const Cell<L> x = a[p * m + i];
        for (int q = 0; q < count; ++q) add_conjugate(sum[q], x, a[(c + q) * m + i]);
      }
      for (int q = 0; q < count; ++q) gram[p * n + c + q] = sum[q];
    });
  }
  // The upper triangle is not read, but takes part where the size of all is found.
  for (std::int64_t p = 0; p < n; ++p) {
    for (std::int64_t c = p + 1; c < n; ++c) gram[p * n + c] = Cell<L>();
  }
  eigh(gram, values, v, n, taus, work, e);
  for (std::int64_t p = 0; p < n; ++p) {
    by_columns(0, m, [&](std::int64_t i, auto count) {
      Cell<L> sum[count]{};
      for (std::int64_t k = 0; k < n; ++k) {
        Cell<L> factor = v[p * n + k];
        conjugate(factor);
        for (int q = 0; q < count; ++q) add_conjugate(sum[q], factor, a[k * m + i + q]);
      }
      for (int q = 0; q < count; ++q) image[p * m + i + q] = sum[q];
    });
  }
  std::copy(image, image + m * n, a);
}

// As `jacobi_svd`; memory is as `turn_to_eigenvectors` takes it.
template <class L>
SHARDAX_INLINE void svd(Cell<L>* a, Cell<RealLanes<L>>* values, Cell<L>* v, std::int64_t m,
                        std::int64_t n, Cell<L>* gram, Cell<L>* image, Cell<L>* taus, Cell<L>* work,
                        Cell<RealLanes<L>>* e) {
  constexpr std::int64_t worth_start = 12;  // below it rounds are as quick
  if (n < worth_start) {
    make_identity(v, n);
    return jacobi_svd(a, values, v, m, n);
  }
  Vector<L> scale;
  scale_down(a, m * n, scale);
  turn_to_eigenvectors(a, v, m, n, gram, image, taus, work, values, e);
  jacobi_svd(a, values, v, m, n);
  for (std::int64_t j = 0; j < n; ++j) values[j].re *= scale;
}

// x of a x = b in place of the n x r matrix b, by elimination with row pivots; NaN where a is
// singular. a has its diagonals, which are overwritten, in `below` from element 1 on, `middle` and
// `above`; `second` has room for n.
template <class L>
SHARDAX_INLINE void solve_tridiagonal(Cell<L>* below, Cell<L>* middle, Cell<L>* above,
                                      Cell<L>* second, Cell<L>* b, std::int64_t n, std::int64_t r) {
  using V = Vector<L>;
  V poison{}, size, other;
  const auto check = [&](const Cell<L>& pivot) {
    size_of(size, pivot);
    poison = size == 0 ? V{} + std::numeric_limits<Real<L>>::quiet_NaN() : poison;
  };
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    size_of(size, middle[k]);
    size_of(other, below[k + 1]);
    const Index<L> swaps = size < other;
    const Cell<L> zero{}, beyond = k + 2 < n ? above[k + 1] : zero, right = above[k],
                          under = middle[k + 1];
    Cell<L> pivot, factor;
    select(pivot, swaps, below[k + 1], middle[k]);
    select(factor, swaps, middle[k], below[k + 1]);
    select(above[k], swaps, under, right);
    select(middle[k + 1], swaps, right, under);
    select(second[k], swaps, beyond, zero);
    select(above[k + 1], swaps, zero, beyond);
    middle[k] = pivot;
    check(pivot);
    if constexpr (complex_cells<L>) {
      Cell<L> inverse;
      reciprocal(inverse, pivot);
      multiply(factor, inverse);
    } else {
      factor.re /= pivot.re;
    }
    take(middle[k + 1], factor, above[k]);
    take(above[k + 1], factor, second[k]);
    for (std::int64_t j = 0; j < r; ++j) {
      const Cell<L> x = b[k * r + j], y = b[(k + 1) * r + j];
      select(b[k * r + j], swaps, y, x);
      select(b[(k + 1) * r + j], swaps, x, y);
      take(b[(k + 1) * r + j], factor, b[k * r + j]);
    }
  }
  check(middle[n - 1]);
  for (std::int64_t k = n - 1; k >= 0; --k) {
    Cell<L> inverse;
    reciprocal(inverse, middle[k]);
    for (std::int64_t j = 0; j < r; ++j) {
      Cell<L> x = b[k * r + j];
      if (k + 1 < n) take(x, above[k], b[(k + 1) * r + j]);
      if (k + 2 < n) take(x, second[k], b[(k + 2) * r + j]);
      if constexpr (complex_cells<L>) {
        multiply(x, inverse);
        x.im += poison;
      } else {
        x.re /= middle[k].re;
      }
      x.re += poison;
      b[k * r + j] = x;
    }
  }
}

}  // namespace shardax::kernels::interleaved
