// kernels/matrix_jacobi.h - eigenvectors and singular vectors of small matrices, as many at a time
// as a vector has lanes, by Jacobi's rotations (Golub and Van Loan, Matrix Computations, 8.5, 8.6).
//
// A lane turns by angles of its own, and not at all where it is done: what a matrix gives does not
// depend on its neighbours. Lanes that hold NaN or infinities end with them.
#pragma once

#include "kernels/matrix_lanes.h"

namespace shardax::kernels::matrix_lanes {

// Convergence is quadratic: 5 to 9 rounds over all pairs are usual.
inline constexpr int most_rounds = 40;

template <class T>
SHARDAX_INLINE bool any(const Index<T>& where) {
  std::remove_reference_t<decltype(where[0])> found{};
  for (std::int64_t lane = 0; lane < width<T>; ++lane) found |= where[lane];
  return found != 0;
}

template <class T>
SHARDAX_INLINE void conjugate(Cell<T>& x) {
  if constexpr (complex_cells<T>) x.im = -x.im;
}

// What makes the 2 x 2 matrix (alpha, g; conj(g), beta) diagonal: columns become
// p c - q phase s and p s + q phase c; alpha - step and beta + step are its diagonal then.
template <class T>
struct Turn {
  Vector<T> c, s, step;
  Cell<T> phase;
};
template <class T>
SHARDAX_INLINE void turn_of(Turn<T>& out, const Vector<T>& alpha, const Vector<T>& beta,
                            const Cell<T>& g, const Vector<T>& size, const Index<T>& active) {
  using V = Vector<T>;
  const V one = V{} + 1;
  V g_real = g.re;
  if constexpr (complex_cells<T>) {
    g_real = size;
    out.phase.re = active ? g.re / size : one;
    out.phase.im = active ? -g.im / size : V{};
  }
  const V tau = active ? (beta - alpha) / (2 * g_real) : one;
  V length, size_of_tau, secant;
  root<T>(length, one + tau * tau);
  magnitude<Real<T>>(size_of_tau, tau);
  V t = one / (size_of_tau + length);
  t = tau < 0 ? -t : t;
  t = active ? t : V{};
  root<T>(secant, one + t * t);
  out.c = one / secant;
  out.s = t * out.c;
  out.step = active ? t * g_real : V{};
}
template <class T>
SHARDAX_INLINE void apply(const Turn<T>& turn, Cell<T>& p, Cell<T>& q) {
  Cell<T> y = q;
  if constexpr (complex_cells<T>) multiply(y, turn.phase);
  q.re = turn.s * p.re + turn.c * y.re;
  p.re = turn.c * p.re - turn.s * y.re;
  if constexpr (complex_cells<T>) {
    q.im = turn.s * p.im + turn.c * y.im;
    p.im = turn.c * p.im - turn.s * y.im;
  }
}

// The size by which lanes are divided, so that squares neither overflow nor vanish.
template <class T>
SHARDAX_INLINE void scale_down(Cell<T>* a, std::int64_t count, Vector<T>& scale) {
  using V = Vector<T>;
  V largest{}, size;
  for (std::int64_t i = 0; i < count; ++i) {
    size_of(size, a[i]);
    largest = size > largest ? size : largest;
  }
  scale = largest > std::numeric_limits<Real<T>>::min() ? largest : V{} + 1;
  for (std::int64_t i = 0; i < count; ++i) {
    a[i].re /= scale;
    if constexpr (complex_cells<T>) a[i].im /= scale;
  }
}

template <class T>
SHARDAX_INLINE void make_identity(Cell<T>* v, std::int64_t n) {
  for (std::int64_t i = 0; i < n * n; ++i) v[i] = Cell<T>();
  for (std::int64_t i = 0; i < n; ++i) v[i * n + i].re += 1;
}

// Eigenvalues, in no order, of Hermitian matrices, of which the upper triangle is read and
// overwritten, and unless `v` is null eigenvectors in rows.
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void jacobi_eigh(Cell<T>* a, Cell<Real<T>>* values, Cell<T>* v,
                                                 std::int64_t n) {
  using V = Vector<T>;
  constexpr Real<T> small = std::numeric_limits<Real<T>>::epsilon() / 8;
  V scale;
  scale_down(a, n * n, scale);
  if (v) make_identity(v, n);
  bool more = true;
  for (int round = 0; more && round < most_rounds; ++round) {
    more = false;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        const Cell<T> g = a[p * n + q];
        V size;
        if constexpr (complex_cells<T>) {
          root<T>(size, g.re * g.re + g.im * g.im);
        } else {
          magnitude<T>(size, g.re);
        }
        const Index<T> active = size > small;
        if (!any<T>(active)) continue;
        more = true;
        Turn<T> turn;
        turn_of(turn, a[p * n + p].re, a[q * n + q].re, g, size, active);
        for (std::int64_t k = 0; k < p; ++k) apply(turn, a[k * n + p], a[k * n + q]);
        for (std::int64_t k = p + 1; k < q; ++k) {
          conjugate(a[p * n + k]);
          apply(turn, a[p * n + k], a[k * n + q]);
          conjugate(a[p * n + k]);
        }
        for (std::int64_t k = q + 1; k < n; ++k) {
          conjugate(a[p * n + k]);
          conjugate(a[q * n + k]);
          apply(turn, a[p * n + k], a[q * n + k]);
          conjugate(a[p * n + k]);
          conjugate(a[q * n + k]);
        }
        a[p * n + p].re -= turn.step;
        a[q * n + q].re += turn.step;
        select(a[p * n + q], active, Cell<T>(), g);
        for (std::int64_t k = 0; v && k < n; ++k) apply(turn, v[p * n + k], v[q * n + k]);
      }
    }
  }
  for (std::int64_t i = 0; i < n; ++i) values[i].re = a[i * n + i].re * scale;
}

// Of m x n matrices, m >= n: singular values, in no order, the left singular vectors in place (0
// for values of 0), and unless `v` is null the right ones in rows.
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void jacobi_svd(Cell<T>* a, Cell<Real<T>>* values, Cell<T>* v,
                                                std::int64_t m, std::int64_t n) {
  using V = Vector<T>;
  constexpr Real<T> small = std::numeric_limits<Real<T>>::epsilon();
  V scale;
  scale_down(a, m * n, scale);
  if (v) make_identity(v, n);
  const auto square_of = [&](std::int64_t j) {
    values[j].re = V{};
    for (std::int64_t i = 0; i < m; ++i) add_square(values[j].re, a[i * n + j]);
  };
  bool more = true;
  for (int round = 0; more && round < most_rounds; ++round) {
    more = false;
    for (std::int64_t j = 0; j < n; ++j) square_of(j);
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        Cell<T> g{};
        for (std::int64_t i = 0; i < m; ++i) add_conjugate(g, a[i * n + p], a[i * n + q]);
        V square{}, size, bound;
        add_square(square, g);
        root<T>(size, square);
        root<T>(bound, values[p].re * values[q].re);
        const Index<T> active = size > small * bound;
        if (!any<T>(active)) continue;
        more = true;
        Turn<T> turn;
        turn_of(turn, values[p].re, values[q].re, g, size, active);
        for (std::int64_t i = 0; i < m; ++i) apply(turn, a[i * n + p], a[i * n + q]);
        values[p].re -= turn.step;
        values[q].re += turn.step;
        for (std::int64_t k = 0; v && k < n; ++k) apply(turn, v[p * n + k], v[q * n + k]);
      }
    }
  }
  for (std::int64_t j = 0; j < n; ++j) {
    square_of(j);
    V length;
    root<T>(length, values[j].re);
    const V inverse = length > 0 ? 1 / length : V{};
    for (std::int64_t i = 0; i < m; ++i) multiply_real(a[i * n + j], inverse);
    values[j].re = length * scale;
  }
}

}  // namespace shardax::kernels::matrix_lanes
