// kernels/fft.cpp - plans of Fourier transforms, and complex lines.
#include "kernels/fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/fft_work.h"
#include "kernels/room.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

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

namespace {

using fft_work::task_elements;
using fft_work::Workspace;
using fft_work::workspace;
using lanes::gather;
using lanes::Lanes;
using lanes::Root;
using lanes::scatter;
using lanes::turn_by;
using lanes::width;

// Lines up to this length go through the passes as they are, eight at a time; a longer one fills
// eight lanes by itself. It depends on nothing else, so that a line's bits do not depend on how
// many there are.
constexpr std::int64_t longest_direct = 1024;
// Up to this length all factors between columns and rows are kept: 1 MB of doubles.
constexpr std::int64_t longest_kept = 65536;
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

// The least product of 2, 3 and 5 that is not below n.
std::int64_t next_smooth(std::int64_t n) {
  std::int64_t best = 1;
  while (best < n) best *= 2;
  for (std::int64_t five = 1; five < best; five *= 5) {
    for (std::int64_t odd = five; odd < best; odd *= 3) {
      std::int64_t m = odd;
      while (m < n) m *= 2;
      best = std::min(best, m);
    }
  }
  return best;
}

// The divisor of n nearest to its root from below.
std::int64_t middle_divisor(std::int64_t n) {
  auto d = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % d != 0) --d;
  return d;
}

template <class E>
bool starts(const Lines<E>& lines, std::int64_t first, E** out) {
  bool adjacent = true;
  for (std::int64_t l = 0; l < width; ++l) {
    out[l] = lines.data + lines.start(std::min(first + l, lines.count - 1));
    adjacent &= out[l] == out[0] + l;
  }
  return adjacent;
}

}  // namespace

// A line of rows * columns elements as a matrix: transforms of the columns, times w^(row column),
// transforms of the rows, transposed.
template <class T>
struct Fourier<T>::Split {
  Fourier<T> rows, columns;  // of `columns.size()` rows and `rows.size()` columns
  // w^(low + high * few), w = exp(-+2 pi i / n).
  std::int64_t few;
  std::vector<std::complex<double>> low, high;
  std::vector<Lanes<T>> kept;  // of each eight columns, by row; for lines that are not too long

  Split(std::int64_t n, std::int64_t first, bool inverse)
      : rows(n / first, inverse, true), columns(first, inverse, true) {
    few = 1;
    while (few * few < n) few *= 2;
    const auto power = [&](std::int64_t k) {
      const std::complex<double> w = root_of_unity(k % n, n);
      return inverse ? w : std::conj(w);
    };
    for (std::int64_t k = 0; k < few; ++k) low.push_back(power(k));
    for (std::int64_t k = 0; k * few < n; ++k) high.push_back(power(k * few));
    if (n > longest_kept) return;
    for (std::int64_t column = 0; column < rows.n_; column += width) {
      for (std::int64_t k = 0; k < first; ++k) {
        if (k % 64 == 63) runtime::poll_caller();
        kept.push_back(powers(column, std::min(width, rows.n_ - column), k));
      }
    }
  }
  // w^(column k1) of eight columns.
  Lanes<T> powers(std::int64_t column, std::int64_t count, std::int64_t k1) const {
    Lanes<T> out;
    for (std::int64_t l = 0; l < width; ++l) {
      const std::complex<double> value = power((column + std::min(l, count - 1)) * k1);
      out.set(l, {static_cast<T>(value.real()), static_cast<T>(value.imag())});
    }
    return out;
  }
  std::complex<double> power(std::int64_t k) const {
    const std::complex<double> a = low[static_cast<std::size_t>(k & (few - 1))];
    const std::complex<double> b = high[static_cast<std::size_t>(k / few)];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  // Times w^(column k1), eight columns of n1 elements.
  void turn_columns(Lanes<T>* x, std::int64_t first, std::int64_t count) const {
    const std::int64_t n1 = columns.n_;
    if (!kept.empty()) {
      const Lanes<T>* none = nullptr;
      turn_by<T>(x, kept.data() + first / width * n1, none, n1);
      return;
    }
    // w^(j2 k1) = w^(j2 (k1 mod 32)) w^(j2 32 (k1 / 32)).
    constexpr std::int64_t block = 32;
    Lanes<T> near[block];
    for (std::int64_t k = 0; k < std::min(block, n1); ++k) near[k] = powers(first, count, k);
    for (std::int64_t high = 0; high < n1; high += block) {
      const Lanes<T> far = powers(first, count, high);
      turn_by(x + high, near, &far, std::min(block, n1 - high));
    }
  }
};

// in_j c_j convolved with conj(c), times c_k, where c_j = exp(-+pi i j^2 / n).
template <class T>
struct Fourier<T>::Convolution {
  std::vector<Complex> chirp;
  std::vector<Complex> kernel;  // the transform of conj(c), over the convolution's length
  Fourier<T> forward, backward;

  Convolution(std::int64_t n, bool inverse, std::int64_t length)
      : forward(length, false), backward(length, true) {
    Fourier<double> exact(length, false);
    std::vector<std::complex<double>> c(static_cast<std::size_t>(length));
    for (std::int64_t j = 0; j < n; ++j) {
      if (j % 256 == 255) runtime::poll_caller();
      // j^2 mod 2 n in 128 bits.
      const auto square = static_cast<std::int64_t>(static_cast<unsigned __int128>(j) *
                                                    static_cast<unsigned __int128>(j) %
                                                    static_cast<unsigned __int128>(2 * n));
      std::complex<double> w = root_of_unity(square, 2 * n);
      if (!inverse) w = std::conj(w);
      chirp.push_back(Complex(w));
      const std::complex<double> value = std::conj(w) / static_cast<double>(length);
      c[static_cast<std::size_t>(j)] = value;
      if (j > 0) c[static_cast<std::size_t>(length - j)] = value;
    }
    const Lines<const std::complex<double>> in{c.data(), 1, 1, 1, 1, 0};
    exact.run(in, {c.data(), 1, 1, 1, 1, 0}, 1);
    for (const std::complex<double>& value : c) kernel.push_back(Complex(value));
  }
};

template <class T>
Fourier<T>::Fourier(std::int64_t n, bool inverse, bool part) : n_(n), inverse_(inverse) {
  if (n <= 1) return;
  if (!is_smooth(n)) {
    convolution_ = std::make_unique<Convolution>(n, inverse, next_smooth(2 * n - 1));
    return;
  }
  if (n > longest_direct && !part) {
    split_ = std::make_unique<Split>(n, middle_divisor(n), inverse);
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
void Fourier<T>::direct(const Lines<const Complex>& in, const Lines<Complex>& out, T scale) const {
  const std::int64_t groups = (in.count + width - 1) / width;
  const std::int64_t each = std::max<std::int64_t>(1, task_elements / (n_ * width));
  runtime::parallel_for((groups + each - 1) / each, [&](std::int64_t task) {
    Workspace<T>& space = workspace<T>(n_);
    for (std::int64_t g = task * each; g < std::min(groups, (task + 1) * each); ++g) {
      runtime::poll();
      const Complex* from[width];
      Complex* to[width];
      const bool adjacent_in = starts(in, g * width, from);
      const bool adjacent_out = starts(out, g * width, to);
      gather(from, in.step, adjacent_in, n_, space.a.data());
      const Lanes<T>* result = passes(space.a.data(), space.b.data());
      scatter(result, n_, scale, to, out.step, adjacent_out, std::min(width, in.count - g * width));
    }
  });
}

// Column j2 has elements j1 * columns + j2; element k1 of its transform, times w^(j2 k1), is that
// of row k1 at j2.
template <class T>
void Fourier<T>::split(const Complex* in, std::int64_t in_step, Complex* out, std::int64_t out_step,
                       T scale) const {
  const std::int64_t n1 = split_->columns.n_, n2 = split_->rows.n_;
  const Room<Complex> middle(n_);
  const auto groups = [&](std::int64_t lines, std::int64_t n, auto&& body) {
    const std::int64_t count = (lines + width - 1) / width;
    const std::int64_t each = std::max<std::int64_t>(1, task_elements / (n * width));
    runtime::parallel_for((count + each - 1) / each, [&](std::int64_t task) {
      for (std::int64_t g = task * each; g < std::min(count, (task + 1) * each); ++g) {
        runtime::poll();
        body(g * width, std::min(width, lines - g * width));
      }
    });
  };
  groups(n2, n1, [&](std::int64_t first, std::int64_t count) {
    Workspace<T>& space = workspace<T>(n1);
    const Complex* from[width];
    Complex* to[width];
    for (std::int64_t l = 0; l < width; ++l) {
      const std::int64_t column = first + std::min(l, count - 1);
      from[l] = in + column * in_step;
      to[l] = middle.data() + column;
    }
    gather(from, n2 * in_step, in_step == 1 && count == width, n1, space.a.data());
    Lanes<T>* columns = split_->columns.passes(space.a.data(), space.b.data());
    split_->turn_columns(columns, first, count);
    scatter(columns, n1, T(1), to, n2, count == width, count);
  });
  groups(n1, n2, [&](std::int64_t first, std::int64_t count) {
    Workspace<T>& space = workspace<T>(n2);
    const Complex* from[width];
    Complex* to[width];
    for (std::int64_t l = 0; l < width; ++l) {
      const std::int64_t row = first + std::min(l, count - 1);
      from[l] = middle.data() + row * n2;
      to[l] = out + row * out_step;
    }
    gather(from, 1, false, n2, space.a.data());
    const Lanes<T>* rows = split_->rows.passes(space.a.data(), space.b.data());
    scatter(rows, n2, scale, to, n1 * out_step, out_step == 1, count);
  });
}

template <class T>
void Fourier<T>::convolved(const Complex* in, std::int64_t in_step, Complex* out,
                           std::int64_t out_step, T scale) const {
  const Convolution& c = *convolution_;
  const auto times = [](Complex a, Complex b) {
    return Complex(a.real() * b.real() - a.imag() * b.imag(),
                   a.real() * b.imag() + a.imag() * b.real());
  };
  const Room<Complex> scratch(static_cast<std::int64_t>(c.kernel.size()));
  Complex* work = scratch.data();
  const auto n = static_cast<std::size_t>(n_), length = c.kernel.size();
  std::fill(work + n, work + length, Complex(0));
  for (std::size_t j = 0; j < n; ++j) {
    work[j] = times(in[static_cast<std::int64_t>(j) * in_step], c.chirp[j]);
  }
  const Lines<const Complex> from{work, 1, 1, 1, 1, 0};
  const Lines<Complex> to{work, 1, 1, 1, 1, 0};
  c.forward.run(from, to, 1);
  for (std::size_t k = 0; k < length; ++k) work[k] = times(work[k], c.kernel[k]);
  c.backward.run(from, to, 1);
  for (std::size_t k = 0; k < n; ++k) {
    out[static_cast<std::int64_t>(k) * out_step] = times(work[k], c.chirp[k]) * scale;
  }
}

// Which road a line takes depends on its length alone, or its bits would depend on its neighbours.
template <class T>
void Fourier<T>::run(const Lines<const Complex>& in, const Lines<Complex>& out, T scale) const {
  if (is_direct()) return direct(in, out, scale);
  const auto line = [&](std::int64_t i) {
    const Complex* from = in.data + in.start(i);
    Complex* to = out.data + out.start(i);
    if (convolution_)
      convolved(from, in.step, to, out.step, scale);
    else
      split(from, in.step, to, out.step, scale);
  };
  const std::int64_t each = std::max<std::int64_t>(1, task_elements / n_);
  const std::int64_t tasks = (in.count + each - 1) / each;
  if (tasks == 1 || n_ > longest_kept) {  // each line is many tasks
    for (std::int64_t i = 0; i < in.count; ++i) line(i);
    return;
  }
  runtime::parallel_for(tasks, [&](std::int64_t task) {
    for (std::int64_t i = task * each; i < std::min(in.count, (task + 1) * each); ++i) {
      runtime::poll();
      line(i);
    }
  });
}

template class Fourier<float>;
template class Fourier<double>;

}  // namespace shardax::kernels
