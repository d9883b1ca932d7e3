// kernels/small_linalg/eigenvectors.h - eigenvectors from Schur forms, one small matrix per lane.
#pragma once

#include "kernels/small_linalg/hessenberg.h"
#include "kernels/small_linalg/jacobi.h"

namespace shardax::kernels::interleaved {

template <class L>
using ComplexLanes = Lanes<std::complex<Real<L>>, L::bytes>;

// The complex Schur form, upper triangular, out of that of real matrices; and the vectors, unless
// they are null.
template <class L, class C = ComplexLanes<L>>
SHARDAX_INLINE void make_triangular(const Cell<L>* h, const Cell<L>* z, Cell<C>* t, Cell<C>* u,
                                    std::int64_t n) {
  using V = Vector<L>;
  for (std::int64_t i = 0; i < n * n; ++i) {
    t[i] = {h[i].re, V{}};
    if (z) u[i] = {z[i].re, V{}};
  }
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    const V b = h[k * n + k + 1].re, c = h[(k + 1) * n + k].re;
    const Index<L> pair = c != 0;
    if (!any<L>(pair)) continue;
    V size_b, size_c, root_b, root_c, length;
    magnitude<L>(size_b, b);
    magnitude<L>(size_c, c);
    root<L>(root_b, size_b);
    root<L>(root_c, size_c);
    // The eigenvector of a + w i is b, w i, or the roots of both, and its orthogonal complement.
    root<L>(length, size_b + size_c);
    const V divisor = pair ? length : V{} + 1;
    const V x = pair ? (b < 0 ? -root_b : root_b) / divisor : V{} + 1;
    const V y = pair ? root_c / divisor : V{};
    const auto rotate = [&](Cell<C>& p, Cell<C>& q, const V& turn) {  // x p + i turn q, ...
      const Cell<C> old = p;
      p.re = x * old.re - turn * q.im;
      p.im = x * old.im + turn * q.re;
      q.re = x * q.re - turn * old.im;
      q.im = x * q.im + turn * old.re;
    };
    for (std::int64_t j = k; j < n; ++j) rotate(t[k * n + j], t[(k + 1) * n + j], -y);
    for (std::int64_t i = 0; i < k + 2; ++i) rotate(t[i * n + k], t[i * n + k + 1], y);
    for (std::int64_t i = 0; z && i < n; ++i) rotate(u[i * n + k], u[i * n + k + 1], y);
    const V value = h[k * n + k].re, w = root_b * root_c;
    t[(k + 1) * n + k] = Cell<C>();
    assign_where(t[k * n + k], pair, Cell<C>{value, w});
    assign_where(t[(k + 1) * n + k + 1], pair, Cell<C>{value, -w});
  }
}

// Scales rows and columns by powers of 2, until those of each number are alike. The method is
// Parlett and Reinsch's, "Balancing a matrix for calculation of eigenvalues and eigenvectors",
// 1969.
template <class L>
SHARDAX_INLINE void balance(Cell<L>* a, Cell<RealLanes<L>>* scales, std::int64_t n) {
  using V = Vector<L>;
  constexpr Real<L> most = sizeof(Real<L>) == 4 ? 0x1p60 : 0x1p500;
  for (std::int64_t i = 0; i < n; ++i) scales[i].re = V{} + 1;
  bool more = true;
  for (int round = 0; more && round < 100; ++round) {
    more = false;
    for (std::int64_t i = 0; i < n; ++i) {
      V column{}, line{}, size, factor = V{} + 1;
      for (std::int64_t j = 0; j < n; ++j) {
        size_of(size, a[j * n + i]);
        column += size;
        size_of(size, a[i * n + j]);
        line += size;
      }
      const V sum = column + line;
      Index<L> off = (column > 0) & (line > 0);
      for (int step = 0; step < 500; ++step) {
        const Index<L> short_one = off & (column * 2 < line), long_one = off & (column >= line * 2);
        if (!any<L>(short_one | long_one)) break;
        const V by = short_one ? V{} + 2 : (long_one ? V{} + Real<L>(0.5) : V{} + 1);
        factor *= by;
        column *= by;
        line /= by;
      }
      const V scale = scales[i].re * factor;
      off = off & (column + line < Real<L>(0.95) * sum) & (scale < most) & (scale > 1 / most);
      if (!any<L>(off)) continue;
      more = true;
      factor = off ? factor : V{} + 1;
      scales[i].re *= factor;
      const V inverse = 1 / factor;
      for (std::int64_t j = 0; j < n; ++j) {
        multiply_real(a[i * n + j], inverse);
        multiply_real(a[j * n + i], factor);
      }
    }
  }
}

// Eigenvectors of length 1, whose largest component is real, in the columns of v. The matrices have
// the triangular forms t and the vectors u, whose row i has been scaled by scales[i]. Those of real
// matrices (`real`) are real, or come in conjugate pairs. `x` is room for n cells.
template <class C>
SHARDAX_INLINE void eigenvectors(const Cell<C>* t, const Cell<C>* u,
                                 const Cell<RealLanes<C>>* scales, Cell<C>* v, Cell<C>* x,
                                 std::int64_t n, bool real) {
  using V = Vector<C>;
  constexpr Real<C> eps = std::numeric_limits<Real<C>>::epsilon();
  const Real<C> smallest = std::numeric_limits<Real<C>>::min() * static_cast<Real<C>>(n) / eps;
  constexpr Real<C> limit = 0x1p40f;  // its powers and sums neither overflow nor lose anything
  for (std::int64_t j = 0; j < n; ++j) {
    const Cell<C> value = t[j * n + j];
    V least, size;
    size_of(least, value);
    least *= eps;
    least = least > smallest ? least : V{} + smallest;
    x[j] = {V{} - 1, V{}};
    for (std::int64_t i = j - 1; i >= 0; --i) {
      Cell<C> sum{}, gap = t[i * n + i], inverse;
      for (std::int64_t m = i + 1; m <= j; ++m) take(sum, t[i * n + m], x[m]);
      subtract(gap, value);
      size_of(size, gap);
      select(gap, size < least, Cell<C>{least, V{}}, gap);
      reciprocal(inverse, gap);
      multiply(sum, inverse);
      x[i] = sum;
      size_of(size, sum);
      const Index<C> large = size > limit;
      if (!any<C>(large)) continue;
      const V factor = large ? 1 / size : V{} + 1;
      for (std::int64_t m = i; m <= j; ++m) multiply_real(x[m], factor);
    }
    V largest{};
    for (std::int64_t r = 0; r < n; ++r) {
      Cell<C>& out = v[r * n + j];
      out = Cell<C>();
      for (std::int64_t m = 0; m <= j; ++m) take(out, u[r * n + m], x[m]);
      multiply_real(out, scales[r].re);
      size_of(size, out);
      largest = size > largest ? size : largest;
    }
    const V shrink = 1 / (largest > 0 ? largest : V{} + 1);
    V total{}, best{};
    Cell<C> pivot{};
    Index<C> at{};
    for (std::int64_t r = 0; r < n; ++r) {
      multiply_real(v[r * n + j], shrink);
      V square{};
      add_square(square, v[r * n + j]);
      total += square;
      const Index<C> more = square > best;
      best = more ? square : best;
      at = more ? Index<C>{} + row<C>(r) : at;
      assign_where(pivot, more, v[r * n + j]);
    }
    root<C>(size, best * total);
    Cell<C> turn = pivot;
    conjugate(turn);
    multiply_real(turn, 1 / (size > 0 ? size : V{} + 1));
    const Index<C> no_parts = real ? value.im == 0 : Index<C>{};
    const Index<C> second = real && j > 0 ? value.im < 0 : Index<C>{};
    for (std::int64_t r = 0; r < n; ++r) {
      Cell<C>& out = v[r * n + j];
      multiply(out, turn);
      out.im = (at == row<C>(r)) | no_parts ? V{} : out.im;
      if (j == 0) continue;
      Cell<C> other = v[r * n + j - 1];
      conjugate(other);
      assign_where(out, second, other);
    }
  }
}

}  // namespace shardax::kernels::interleaved
