// kernels/small_linalg/schur.cpp - steps with implicit shifts on Hessenberg forms (Golub and Van
// Loan, Matrix Computations, 7.5): with two shifts of real matrices, with one of complex ones.
//
// A lane works on a window of its rows, and rests where it is done, or where the window of another
// lane is longer.
#include "kernels/small_linalg/schur.h"

#include <cmath>

#include "kernels/small_linalg/hessenberg.h"
#include "kernels/small_linalg/jacobi.h"

namespace shardax::kernels::interleaved {
namespace {

// Steps for each row; two or three are usual.
constexpr std::int64_t most_steps = 30;

// The product z of the reflectors that `hessenberg` left in h, of which the form remains. Without
// it, if z is null.
template <class L>
SHARDAX_INLINE void take_reflectors(Cell<L>* h, const Cell<L>* taus, Cell<L>* z, std::int64_t n) {
  if (z) make_identity(z, n);
  for (std::int64_t k = n - 2; k >= 0; --k) {
    if (z) reflect(h, n, k + 1, k, taus[k], false, z, n, n, k + 1);
    for (std::int64_t i = k + 2; i < n; ++i) h[i * n + k] = Cell<L>();
  }
}

// Makes 0 of small elements below the diagonal, by the criterion of Ahues and Tisseur ("A new
// deflation criterion for the QR algorithm", 1997).
template <class L>
SHARDAX_INLINE void drop_small(Cell<L>* h, std::int64_t n) {
  using V = Vector<L>;
  constexpr Real<L> eps = std::numeric_limits<Real<L>>::epsilon();
  const Real<L> least = std::numeric_limits<Real<L>>::min() * static_cast<Real<L>>(n) / eps;
  for (std::int64_t k = 1; k < n; ++k) {
    Cell<L>& below = h[k * n + k - 1];
    Cell<L> gap = h[(k - 1) * n + k - 1];
    V sub, above, here, before, apart;
    size_of(sub, below);
    size_of(before, gap);
    size_of(here, h[k * n + k]);
    const V sum = before + here;
    const Index<L> zero = sub <= least;
    const Index<L> candidate = zero | (sub <= eps * (sum > 0 ? sum : V{} + 1));
    if (!any<L>(candidate)) continue;
    size_of(above, h[(k - 1) * n + k]);
    subtract(gap, h[k * n + k]);
    size_of(apart, gap);
    const V longer = sub > above ? sub : above, shorter = sub > above ? above : sub;
    const V more = here > apart ? here : apart, less = here > apart ? apart : here;
    const V total = longer + more;
    const V size = total > 0 ? total : V{} + 1;
    V bound = eps * (less * (more / size));
    bound = bound > least ? bound : V{} + least;
    assign_where(below, zero | (candidate & (shorter * (longer / size) <= bound)), Cell<L>());
  }
}

// The start of the last window that ends at row `high`.
template <class L>
SHARDAX_INLINE void window_start(Index<L>& low, const Cell<L>* h, const Index<L>& high,
                                 std::int64_t n) {
  low = Index<L>{};
  for (std::int64_t k = 1; k < n; ++k) {
    Vector<L> sub;
    size_of(sub, h[k * n + k - 1]);
    low = ((sub == 0) & (row<L>(k) <= high)) ? Index<L>{} + row<L>(k) : low;
  }
}

// The last two rows and columns of each window: a b, c d.
template <class L>
struct Corner {
  Cell<L> a{}, b{}, c{}, d{};
};

// A square root with a part that is not negative.
template <class L>
SHARDAX_INLINE void complex_root(Cell<L>& out, const Cell<L>& x) {
  using V = Vector<L>;
  Cell<L> unit = x;
  V size, larger, along;
  split_size(size, unit);
  magnitude<L>(along, x.re);
  root<L>(larger, (size + along) / 2);
  const V divisor = larger > 0 ? 2 * larger : V{} + 1;
  V other = x.im / divisor;
  V other_size;
  magnitude<L>(other_size, other);
  const Index<L> right = x.re >= 0;
  out.re = right ? larger : other_size;
  out.im = right ? other : (x.im < 0 ? -larger : larger);
}

// The vector that a step begins with, a multiple of the first column of (h - x)(h - y) or of h - x.
// `start` are the first rows of the window.
template <class L>
SHARDAX_INLINE void first_column(Cell<L>* out, const Corner<L>& corner, const Cell<L> (&start)[5]) {
  using V = Vector<L>;
  const auto& [a, b, c, d] = corner;
  if constexpr (complex_cells<L>) {
    // The eigenvalue of the corner that is next to d: d - b c / (x + y), y^2 = x^2 + b c.
    Cell<L> x = a, product = b, square, y, shift = d, inverse;
    subtract(x, d);
    multiply_real(x, V{} + Real<L>(0.5));
    multiply(product, c);
    square = x;
    multiply(square, x);
    square.re += product.re;
    square.im += product.im;
    complex_root(y, square);
    const Index<L> away = x.re * y.re + x.im * y.im < 0;
    x.re += away ? -y.re : y.re;
    x.im += away ? -y.im : y.im;
    V size;
    size_of(size, x);
    const Index<L> none = size == 0;
    select(x, none, Cell<L>{V{} + 1, V{}}, x);
    reciprocal(inverse, x);
    multiply(product, inverse);
    subtract(shift, product);
    select(shift, none, d, shift);
    out[0] = start[0];
    subtract(out[0], shift);
    out[1] = start[2];
  } else {
    // With real shifts, the one next to d, twice.
    const V middle = (a.re + d.re) / 2, half = (a.re - d.re) / 2, product = b.re * c.re;
    const V square = half * half + product;
    V apart;
    root<L>(apart, square > 0 ? square : V{});
    const V near = middle + (half < 0 ? apart : -apart);
    const Index<L> real = square >= 0;
    const V x = real ? near : d.re, y = real ? near : a.re, w = real ? V{} : product;
    const V p = x - start[0].re, q = y - start[0].re;
    out[0].re = (p * q - w) / start[2].re + start[1].re;
    out[1].re = start[3].re - start[0].re - p - q;
    out[2].re = start[4].re;
  }
}

// Takes tau v v* x from x, two or three cells `step` apart, where v[0] stands for 1.
template <class L>
SHARDAX_INLINE void reflect_few(const Cell<L>* v, const Cell<L>& tau, int count, Cell<L>* x,
                                std::int64_t step) {
  Cell<L> w = x[0];
  for (int i = 1; i < count; ++i) add_conjugate(w, v[i], x[i * step]);
  multiply(w, tau);
  subtract(x[0], w);
  for (int i = 1; i < count; ++i) take(x[i * step], v[i], w);
}

// One step in each window low..high that is longer than the blocks that are split later on.
template <class L>
SHARDAX_INLINE void schur_step(Cell<L>* h, Cell<L>* z, std::int64_t n, const Index<L>& low,
                               const Index<L>& high, const Index<L>& active,
                               const Index<L>& stuck) {
  using V = Vector<L>;
  constexpr int most = complex_cells<L> ? 2 : 3;
  Corner<L> corner;
  Cell<L> start[5]{};
  V before{}, size;
  std::int64_t begin = n, end = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const Index<L> first = active & (low == row<L>(k)), last = active & (high == row<L>(k));
    if (any<L>(first)) {
      begin = std::min(begin, k);
      const Cell<L>* at = h + k * n + k;
      assign_where(start[0], first, at[0]);
      if (k + 1 < n) {
        assign_where(start[1], first, at[1]);
        assign_where(start[2], first, at[n]);
        assign_where(start[3], first, at[n + 1]);
      }
      if (k + 2 < n) assign_where(start[4], first, at[2 * n + 1]);
    }
    if (any<L>(last) && k > 0) {
      end = k;
      const Cell<L>* at = h + k * n + k;
      assign_where(corner.a, last, at[-n - 1]);
      assign_where(corner.b, last, at[-n]);
      assign_where(corner.c, last, at[-1]);
      assign_where(corner.d, last, at[0]);
      if (k > 1) {
        size_of(size, at[-n - 2]);
        before = last ? size : before;
      }
    }
  }
  // A shift of another kind, where nothing has come off for long.
  size_of(size, corner.c);
  const V s = size + before;
  Corner<L> other;
  other.a = corner.d;
  other.a.re += Real<L>(0.75) * s;
  other.b.re = Real<L>(-0.4375) * s;
  other.c.re = s;
  other.d = other.a;
  assign_where(corner.a, stuck, other.a);
  assign_where(corner.b, stuck, other.b);
  assign_where(corner.c, stuck, other.c);
  assign_where(corner.d, stuck, other.d);
  Cell<L> head[3]{}, v[3], tau;
  first_column(head, corner, start);
  for (std::int64_t k = begin; k < end; ++k) {
    const int count = static_cast<int>(std::min<std::int64_t>(most, n - k));
    const Index<L> first = active & (low == row<L>(k));
    const Index<L> inside = active & (low <= row<L>(k)) & (row<L>(k) < high);
    const Index<L> moves = inside & ~first;
    for (int i = 0; i < count; ++i) {
      v[i] = Cell<L>();
      if (k > 0) assign_where(v[i], moves, h[(k + i) * n + k - 1]);
      assign_where(v[i], first, head[i]);
    }
    make_reflector(v, tau, count, 1, 0, 0);
    assign_where(tau, ~inside, Cell<L>());
    for (int i = 0; i < count; ++i) {
      if (k > 0) assign_where(h[(k + i) * n + k - 1], moves, i == 0 ? v[0] : Cell<L>());
      assign_where(v[i], ~inside, Cell<L>());
    }
    conjugate(tau);
    const std::int64_t rows = std::min(k + most + 1, n);
    for (std::int64_t j = k; j < n; ++j) reflect_few(v, tau, count, h + k * n + j, n);
    conjugate(tau);
    for (int i = 1; i < count; ++i) conjugate(v[i]);
    for (std::int64_t i = 0; i < rows; ++i) reflect_few(v, tau, count, h + i * n + k, 1);
    for (std::int64_t i = 0; z && i < n; ++i) reflect_few(v, tau, count, z + i * n + k, 1);
  }
}

// The Schur form (of real matrices with blocks of two rows, as they come) in place of a Hessenberg
// form. The columns of z are multiplied by its vectors, unless z is null. `unfinished`: the lanes
// that have not ended.
template <class L>
SHARDAX_INLINE void schur(Cell<L>* h, Cell<L>* z, std::int64_t n, Index<L>& unfinished) {
  constexpr std::int64_t done_rows = complex_cells<L> ? 1 : 2;
  Index<L> low, high = Index<L>{} + row<L>(n - 1), count{};
  for (std::int64_t step = 0;; ++step) {
    drop_small(h, n);
    for (bool more = true; more;) {
      window_start<L>(low, h, high, n);
      const Index<L> off = (high >= 0) & (high - low < row<L>(done_rows));
      high = off ? low - 1 : high;
      count = off ? Index<L>{} : count;
      more = any<L>(off);
    }
    const Index<L> active = high >= 0;
    unfinished = active;
    if (!any<L>(active) || step == most_steps * n) return;
    const Index<L> stuck = (count == row<L>(10)) | (count == row<L>(20));
    schur_step(h, z, n, low, high, active, stuck);
    count += 1;
  }
}

// The rotation that makes a block a b, c d upper triangular. For complex eigenvalues it gives equal
// diagonal elements and others of opposite signs (Bai and Demmel, "On swapping diagonal blocks in
// real Schur form", 1993). c is not 0.
template <class R>
struct Block {
  R a, b, c, d;
  R cos = 1, sin = 0;

  void turn(R x, R y) {  // by the angle whose cosine is x, whose sine y
    const R c0 = cos, s0 = sin;
    cos = c0 * x - s0 * y;
    sin = c0 * y + s0 * x;
  }
  void split() {
    if (b == 0) {
      std::swap(a, d);
      b = -c;
      c = 0;
      return turn(0, 1);
    }
    if (a == d && (b < 0) != (c < 0)) return;
    R gap = a - d, p = gap / 2;
    const R largest = std::max(std::abs(b), std::abs(c));
    const R least = std::copysign(std::min(std::abs(b), std::abs(c)), R(1)) *
                    ((b < 0) == (c < 0) ? R(1) : R(-1));
    const R scale = std::max(std::abs(p), largest);
    R z = p / scale * p + largest / scale * least;
    if (z >= 4 * std::numeric_limits<R>::epsilon()) {
      z = p + std::copysign(std::sqrt(scale) * std::sqrt(z), p);
      a = d + z;
      d -= largest / z * least;
      const R length = std::hypot(c, z);
      b -= c;
      turn(z / length, c / length);
      c = 0;
      return;
    }
    // Complex, or nearly equal: equal diagonal elements.
    const R sigma = b + c, length = std::hypot(sigma, gap);
    const R x = std::sqrt((1 + std::abs(sigma) / length) / 2);
    const R y = -(p / (length * x)) * std::copysign(R(1), sigma);
    turn(x, y);
    const R aa = a * x + b * y, bb = -a * y + b * x, cc = c * x + d * y, dd = -c * y + d * x;
    a = aa * x + cc * y;
    b = bb * x + dd * y;
    c = -aa * y + cc * x;
    d = -bb * y + dd * x;
    a = d = (a + d) / 2;
    if (c == 0) return;
    if (b == 0) {
      b = -c;
      c = 0;
      return turn(0, 1);
    }
    if ((b < 0) != (c < 0)) return;
    const R root_b = std::sqrt(std::abs(b)), root_c = std::sqrt(std::abs(c));
    p = std::copysign(root_b * root_c, c);
    const R inverse = 1 / std::sqrt(std::abs(b + c));
    a += p;
    d -= p;
    b -= c;
    c = 0;
    turn(root_b * inverse, root_c * inverse);
  }
};

// Brings the blocks that `schur` left of real matrices into their final form.
template <class L>
SHARDAX_INLINE void split_blocks(Cell<L>* h, Cell<L>* z, std::int64_t n) {
  using V = Vector<L>;
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    Cell<L>* const at = h + k * n + k;
    if (!any<L>(at[n].re != 0)) continue;
    V cos = V{} + 1, sin{};
    for (std::int64_t lane = 0; lane < width<L>; ++lane) {
      if (at[n].re[lane] == 0) continue;
      Block<Real<L>> block{at[0].re[lane], at[1].re[lane], at[n].re[lane], at[n + 1].re[lane]};
      block.split();
      cos[lane] = block.cos;
      sin[lane] = block.sin;
      at[0].re[lane] = block.a;
      at[1].re[lane] = block.b;
      at[n].re[lane] = block.c;
      at[n + 1].re[lane] = block.d;
    }
    const auto rotate = [&](Cell<L>& x, Cell<L>& y) {
      const V old = x.re;
      x.re = cos * old + sin * y.re;
      y.re = cos * y.re - sin * old;
    };
    for (std::int64_t j = k + 2; j < n; ++j) rotate(h[k * n + j], h[(k + 1) * n + j]);
    for (std::int64_t i = 0; i < k; ++i) rotate(h[i * n + k], h[i * n + k + 1]);
    for (std::int64_t i = 0; z && i < n; ++i) rotate(z[i * n + k], z[i * n + k + 1]);
  }
}

}  // namespace

template <class L>
void schur_form(Cell<L>* a, Cell<L>* taus, Cell<L>* z, std::int64_t n, Index<L>& unfinished) {
  in_vectors<L>([&] {
    hessenberg(a, taus, n);
    take_reflectors(a, taus, z, n);
    schur(a, z, n, unfinished);
    if constexpr (!complex_cells<L>) split_blocks(a, z, n);
  });
}

#define SHARDAX_SCHUR_FORM(...)                                                 \
  template void schur_form<__VA_ARGS__>(Cell<__VA_ARGS__>*, Cell<__VA_ARGS__>*, \
                                        Cell<__VA_ARGS__>*, std::int64_t, Index<__VA_ARGS__>&);
SHARDAX_SCHUR_FORM(Lanes<float, 32>)
SHARDAX_SCHUR_FORM(Lanes<float, 64>)
SHARDAX_SCHUR_FORM(Lanes<double, 32>)
SHARDAX_SCHUR_FORM(Lanes<double, 64>)
SHARDAX_SCHUR_FORM(Lanes<std::complex<float>, 32>)
SHARDAX_SCHUR_FORM(Lanes<std::complex<double>, 32>)

}  // namespace shardax::kernels::interleaved
