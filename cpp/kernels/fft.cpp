// kernels/fft.cpp - plans of Fourier transforms, and complex lines.
#include "kernels/fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/fft_convolution.h"
#include "kernels/room.h"

namespace shardax::kernels {

// From the first eighth of the circle.
std::complex<double> root_of_unity(std::int64_t k, std::int64_t n) {
  const std::int64_t eighth = 8 * k / n;
  const std::int64_t rest = 8 * k - eighth * n;  // in eighths of 1 / n
  const bool mirrored = eighth % 2 == 1;
  const double a = 2 * std::numbers::pi * static_cast<double>(mirrored ? n - rest : rest) /
                   (8 * static_cast<double>(n));
  double c = std::cos(a), s = std::sin(a);
  if (mirrored) std::swap(c, s);
  switch ((eighth / 2) % 4) {
    case 0: return {c, s};
    case 1: return {-s, c};
    case 2: return {-c, -s};
    default: return {s, -c};
  }
}

std::int64_t middle_divisor(std::int64_t n) {
  auto d = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % d != 0) --d;
  return d;
}

namespace {

using fft_work::by_groups;
using fft_work::Road;
using fft_work::Workspace;
using fft_work::workspace;
using lanes::gather;
using lanes::Lanes;
using lanes::Root;
using lanes::scatter;
using lanes::width;

// Lines up to this length go through the passes as they are, eight at a time; a longer one is a
// matrix. It depends on nothing else, so that a line's bits do not depend on how many there are.
constexpr std::int64_t longest_direct = 128;
// Of lines with large prime factors, matrices of fewer rows leave lanes empty.
constexpr std::int64_t least_rows = 6;

template <class T>
Root<T> root(std::int64_t k, std::int64_t n, bool inverse) {
  const std::complex<double> w = root_of_unity(k % n, n);
  return {static_cast<T>(w.real()), static_cast<T>(inverse ? w.imag() : -w.imag())};
}

// The factors of n, or none where one is too large.
std::vector<std::int64_t> factors_of(std::int64_t n) {
  std::vector<std::int64_t> out;
  while (n % 8 == 0) out.push_back(8), n /= 8;
  while (n % 4 == 0) out.push_back(4), n /= 4;
  for (std::int64_t p = 2; p <= lanes::largest_factor; ++p) {
    while (n % p == 0) out.push_back(p), n /= p;
  }
  if (n > 1) return {};
  return out;
}

bool is_smooth(std::int64_t n) { return n == 1 || !factors_of(n).empty(); }

}  // namespace

// A line of n1 rows of n2 elements: transforms of the columns, times w^(row column), transforms of
// the rows, transposed. Element k1 of column j2, transformed, is that of row k1 at j2. Of a real
// line the rows up to n1 / 2 are transformed: element k is the conjugate of element n - k.
template <class T>
struct Fourier<T>::Matrix {
  std::int64_t n1, n2;
  Fourier<T> rows, columns;
  Turns<T> turns;  // of columns

  Matrix(std::int64_t n, std::int64_t n1, bool inverse)
      : n1(n1),
        n2(n / n1),
        rows(n2, inverse, true),
        columns(n1, inverse, true),
        turns(n2, n1, inverse) {}

  std::int64_t wanted_rows(bool real) const { return real ? n1 / 2 + 1 : n1; }
};

template <class T>
Fourier<T>::Fourier(std::int64_t n, bool inverse, bool part) : n_(n), inverse_(inverse) {
  if (n <= 1) return;
  const bool smooth = is_smooth(n);
  const std::int64_t n1 = middle_divisor(n);
  if (n > longest_direct && n1 >= (smooth ? 2 : least_rows) && !part) {
    matrix_ = std::make_unique<Matrix>(n, n1, inverse);
    return;
  }
  if (!smooth) {
    convolution_ = std::make_unique<FourierConvolution<T>>(n, inverse);
    return;
  }
  std::int64_t inner = 1;
  for (std::int64_t p : factors_of(n)) {
    Pass pass{p, inner, n / inner / p, {}, {}};
    const std::int64_t whole = p * pass.outer;
    for (std::int64_t r = 1; r < p; ++r) {
      for (std::int64_t i = 0; i < pass.outer; ++i) {
        pass.twiddles.push_back(root<T>(r * i, whole, inverse));
      }
    }
    for (std::int64_t q = 0; q < p; ++q) pass.roots.push_back(root<T>(q, p, inverse));
    passes_.push_back(std::move(pass));
    inner *= p;
  }
}
template <class T>
Fourier<T>::~Fourier() = default;

template <class T>
Lanes<T>* Fourier<T>::passes(Lanes<T>* a, Lanes<T>* b) const {
  if (convolution_) {
    convolution_->transform(a);
    return a;
  }
  const T sign = inverse_ ? T(1) : T(-1);
  for (const Pass& p : passes_) {
    const Root<T>* w = p.twiddles.data();
    switch (p.factor) {
      case 2: lanes::pass<T, 2>(a, b, w, p.inner, p.outer, sign); break;
      case 3: lanes::pass<T, 3>(a, b, w, p.inner, p.outer, sign); break;
      case 4: lanes::pass<T, 4>(a, b, w, p.inner, p.outer, sign); break;
      case 5: lanes::pass<T, 5>(a, b, w, p.inner, p.outer, sign); break;
      case 8: lanes::pass<T, 8>(a, b, w, p.inner, p.outer, sign); break;
      default: lanes::pass_any<T>(p.factor, p.roots.data(), a, b, w, p.inner, p.outer);
    }
    std::swap(a, b);
  }
  return a;
}

template <class T>
Road Fourier<T>::road() const {
  return matrix_ ? fft_work::road_of<T>(n_) : Road::together;
}

template <class T>
Lanes<T>* Fourier<T>::eight(Workspace<T>& space, bool real) const {
  Lanes<T>*a = space.a.data(), *b = space.b.data();
  if (!matrix_) return passes(a, b);
  const Matrix& m = *matrix_;
  for (std::int64_t j = 0; j < m.n2; ++j) {
    for (std::int64_t k = 0; k < m.n1; ++k) b[k] = a[j + k * m.n2];
    const Lanes<T>* column = m.columns.passes(b, b + m.n1);
    lanes::turn_by_line(column, m.turns.of(j), j % width, a + j, m.n2, m.n1);
  }
  for (std::int64_t k1 = 0; k1 < m.wanted_rows(real); ++k1) {
    Lanes<T>* row = m.rows.passes(a + k1 * m.n2, space.c.data());
    const std::int64_t first = real ? (n_ / 2 - k1) / m.n1 + 1 : m.n2;  // beyond the first half
    for (std::int64_t k2 = 0; k2 < first; ++k2) b[k1 + k2 * m.n1] = row[k2];
    if (k1 == 0) continue;
    for (std::int64_t k2 = first; k2 < m.n2; ++k2) {
      lanes::conjugate(b[n_ - k1 - k2 * m.n1], row[k2]);
    }
  }
  return b;
}

template <class T>
template <class E>
void Fourier<T>::alone(const E* in, std::int64_t in_step, Complex* out, std::int64_t out_step,
                       T scale) const {
  constexpr bool real = std::is_same_v<E, T>;
  const Matrix& m = *matrix_;
  const std::int64_t n1 = m.n1, n2 = m.n2;
  const Room<Complex> middle(n_);
  by_groups(n2, width, n1, [&](std::int64_t column) {
    const std::int64_t count = std::min(width, n2 - column);
    Workspace<T>& space = workspace<T>(n1);
    const E* from[width];
    Complex* to[width];
    const bool adjacent =
        fft_work::starts(from, column, count, [&](std::int64_t j) { return in + j * in_step; });
    fft_work::starts(to, column, count, [&](std::int64_t j) { return middle.data() + j; });
    gather(from, n2 * in_step, adjacent, n1, space.a.data());
    Lanes<T>* columns = m.columns.passes(space.a.data(), space.b.data());
    m.turns.turn(columns, column);
    scatter(columns, n1, T(1), to, n2, count == width, count);
  });
  const std::int64_t wanted = m.wanted_rows(real);
  by_groups(wanted, width, n2, [&](std::int64_t row) {
    const std::int64_t count = std::min(width, wanted - row);
    Workspace<T>& space = workspace<T>(n2);
    const Complex* from[width];
    Complex* to[width];
    fft_work::starts(from, row, count, [&](std::int64_t k1) { return middle.data() + k1 * n2; });
    const bool adjacent =
        fft_work::starts(to, row, count, [&](std::int64_t k1) { return out + k1 * out_step; });
    gather(from, 1, false, n2, space.a.data());
    Lanes<T>* rows = m.rows.passes(space.a.data(), space.b.data());
    if constexpr (!real) {
      scatter(rows, n2, scale, to, n1 * out_step, adjacent, count);
    } else {
      // Elements of all eight rows within the first half, and beyond it.
      const std::int64_t last = row + count - 1;
      const std::int64_t within = (n_ / 2 - last + n1) / n1, beyond = (n_ / 2 - row) / n1 + 1;
      scatter(rows, within, scale, to, n1 * out_step, adjacent, count);
      for (std::int64_t k2 = within; k2 < n2; ++k2) {
        if (k2 >= beyond && row > 0 && count == width) break;
        for (std::int64_t l = 0; l < count; ++l) {
          const std::int64_t k = row + l + n1 * k2;
          const Complex value = rows[k2].of(l) * scale;
          if (k <= n_ / 2)
            out[k * out_step] = value;
          else if (row + l > 0)
            out[(n_ - k) * out_step] = std::conj(value);
        }
      }
      if (row == 0 || count < width) return;
      lanes::mirror(rows + beyond, n2 - beyond);
      fft_work::starts(to, 0, width, [&](std::int64_t l) {
        return out + (n_ - last + l - n1 * beyond) * out_step;
      });
      scatter(rows + beyond, n2 - beyond, scale, to, -n1 * out_step, adjacent, count);
    }
  });
}

template <class T>
void Fourier<T>::run(const Lines<const Complex>& in, const Lines<Complex>& out, T scale) const {
  if (convolution_) return convolution_->run(in, out, n_, scale);
  fft_work::over_lines(
      in.count, n_, road(),
      [&](std::int64_t i) {
        alone(in.data + in.start(i), in.step, out.data + out.start(i), out.step, scale);
      },
      [&](std::int64_t first, std::int64_t count) {
        Workspace<T>& space = workspace<T>(n_);
        const Complex* from[width];
        Complex* to[width];
        const bool adjacent_in = in.starts(first, count, from);
        const bool adjacent_out = out.starts(first, count, to);
        gather(from, in.step, adjacent_in, n_, space.a.data());
        const Lanes<T>* result = eight(space, false);
        scatter(result, n_, scale, to, out.step, adjacent_out, count);
      });
}

template class Fourier<float>;
template class Fourier<double>;
template void Fourier<float>::alone(const float*, std::int64_t, Complex*, std::int64_t,
                                    float) const;
template void Fourier<double>::alone(const double*, std::int64_t, Complex*, std::int64_t,
                                     double) const;

}  // namespace shardax::kernels
