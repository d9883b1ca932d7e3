// kernels/small_linalg/jacobi.h - singular vectors by Jacobi's rotations (Golub and Van Loan,
// Matrix Computations, 8.6), one small matrix per lane.
//
// A lane turns by angles of its own, and not at all once it is done. A matrix's result thus does
// not depend on its neighbours. Lanes that hold NaN or infinities end with them.
#pragma once

#include "kernels/small_linalg/interleaved_lapack.h"

namespace shardax::kernels::interleaved {

// Convergence is quadratic: 5 to 9 rounds over all pairs are usual.
inline constexpr int most_rounds = 40;

template <class L>
SHARDAX_INLINE bool any(const Index<L>& where) {
  std::remove_cvref_t<decltype(where[0])> found{};
  for (std::int64_t lane = 0; lane < width<L>; ++lane) found |= where[lane];
  return found != 0;
}

template <class L>
SHARDAX_INLINE void conjugate(Cell<L>& x) {
  if constexpr (complex_cells<L>) x.im = -x.im;
}

// |x| and, of complex numbers, x of size 1 (0 for 0), however small x is.
template <class L>
SHARDAX_INLINE void split_size(Vector<L>& size, Cell<L>& x) {
  if constexpr (complex_cells<L>) {
    Vector<L> largest, im;
    magnitude<L>(largest, x.re);
    magnitude<L>(im, x.im);
    largest = im > largest ? im : largest;
    const Vector<L> divisor = largest > 0 ? largest : Vector<L>{} + 1;
    x.re /= divisor;
    x.im /= divisor;
    root<L>(size, x.re * x.re + x.im * x.im);
    const Vector<L> length = size > 0 ? size : Vector<L>{} + 1;
    x.re /= length;
    x.im /= length;
    size *= largest;
  } else {
    magnitude<L>(size, x.re);
  }
}

// Makes the 2 x 2 matrix (alpha, g; conj(g), beta) diagonal. Columns become p c - q phase s and p s
// + q phase c; its diagonal is then alpha - step and beta + step. `g` has been split where it is
// complex.
template <class L>
struct Turn {
  Vector<L> c, s, step;
  Cell<L> phase;
};
template <class L>
SHARDAX_INLINE void turn_of(Turn<L>& out, const Vector<L>& alpha, const Vector<L>& beta,
                            const Cell<L>& g, const Vector<L>& size, const Index<L>& active) {
  using V = Vector<L>;
  const V one = V{} + 1;
  V g_real = g.re;
  if constexpr (complex_cells<L>) {
    g_real = size;
    out.phase.re = active ? g.re : one;
    out.phase.im = active ? -g.im : V{};
  }
  const V tau = active ? (beta - alpha) / (2 * g_real) : one;
  V length, size_of_tau, secant;
  root<L>(length, one + tau * tau);
  magnitude<L>(size_of_tau, tau);
  V t = one / (size_of_tau + length);
  t = tau < 0 ? -t : t;
  t = active ? t : V{};
  root<L>(secant, one + t * t);
  out.c = one / secant;
  out.s = t * out.c;
  out.step = active ? t * g_real : V{};
}
template <class L>
SHARDAX_INLINE void apply(const Turn<L>& turn, Cell<L>& p, Cell<L>& q) {
  Cell<L> y = q;
  if constexpr (complex_cells<L>) multiply(y, turn.phase);
  q.re = turn.s * p.re + turn.c * y.re;
  p.re = turn.c * p.re - turn.s * y.re;
  if constexpr (complex_cells<L>) {
    q.im = turn.s * p.im + turn.c * y.im;
    p.im = turn.c * p.im - turn.s * y.im;
  }
}

// The size by which lanes are divided, so that squares neither overflow nor vanish.
template <class L>
SHARDAX_INLINE void scale_down(Cell<L>* a, std::int64_t count, Vector<L>& scale) {
  using V = Vector<L>;
  V largest{}, size;
  for (std::int64_t i = 0; i < count; ++i) {
    size_of(size, a[i]);
    largest = size > largest ? size : largest;
  }
  scale = largest > std::numeric_limits<Real<L>>::min() ? largest : V{} + 1;
  for (std::int64_t i = 0; i < count; ++i) {
    a[i].re /= scale;
    if constexpr (complex_cells<L>) a[i].im /= scale;
  }
}

template <class L>
SHARDAX_INLINE void make_identity(Cell<L>* v, std::int64_t n) {
  for (std::int64_t i = 0; i < n * n; ++i) v[i] = Cell<L>();
  for (std::int64_t i = 0; i < n; ++i) v[i * n + i].re += 1;
}

// The singular values, in no order, of m x n matrices, m >= n, given by their columns, one after
// the other. The left singular vectors come in place (0 for values of 0). The n rows of v, the
// identity say, turn as columns do, and become the right ones.
template <class L>
SHARDAX_INLINE void jacobi_svd(Cell<L>* a, Cell<RealLanes<L>>* values, Cell<L>* v, std::int64_t m,
                               std::int64_t n) {
  using V = Vector<L>;
  constexpr Real<L> small = std::numeric_limits<Real<L>>::epsilon(),
                    least = std::numeric_limits<Real<L>>::min() / small;
  V scale;
  scale_down(a, m * n, scale);
  const auto square_of = [&](std::int64_t j) {
    values[j].re = V{};
    for (std::int64_t i = 0; i < m; ++i) add_square(values[j].re, a[j * m + i]);
  };
  bool more = true;
  for (int round = 0; more && round < most_rounds; ++round) {
    more = false;
    for (std::int64_t j = 0; j < n; ++j) square_of(j);
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        Cell<L>*const x = a + p * m, *const y = a + q * m;
        Cell<L> g{};
        for (std::int64_t i = 0; i < m; ++i) add_conjugate(g, x[i], y[i]);
        V size, bound;
        split_size(size, g);
        root<L>(bound, values[p].re * values[q].re);
        bound *= small;
        bound = bound > least ? bound : V{} + least;
        const Index<L> active = size > bound;
        if (!any<L>(active)) continue;
        more = true;
        Turn<L> turn;
        turn_of(turn, values[p].re, values[q].re, g, size, active);
        for (std::int64_t i = 0; i < m; ++i) apply(turn, x[i], y[i]);
        values[p].re -= turn.step;
        values[q].re += turn.step;
        for (std::int64_t k = 0; k < n; ++k) apply(turn, v[p * n + k], v[q * n + k]);
      }
    }
  }
  for (std::int64_t j = 0; j < n; ++j) {
    square_of(j);
    V length;
    root<L>(length, values[j].re);
    const V inverse = length > 0 ? 1 / length : V{};
    for (std::int64_t i = 0; i < m; ++i) multiply_real(a[j * m + i], inverse);
    values[j].re = length * scale;
  }
}

}  // namespace shardax::kernels::interleaved
