// kernels/fft.cpp - plans of Fourier transforms, and complex lines.
#include "kernels/fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/fft_convolution.h"
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

std::int64_t middle_divisor(std::int64_t n) {
  auto d = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % d != 0) --d;
  return d;
}

namespace {

using fft_work::task_elements;
using fft_work::Workspace;
using fft_work::workspace;
using lanes::gather;
using lanes::Lanes;
using lanes::Root;
using lanes::scatter;
using lanes::width;

// Lines up to this length go through the passes as they are, eight at a time; a longer one fills
// eight lanes by itself. It depends on nothing else, so that a line's bits do not depend on how
// many there are.
constexpr std::int64_t longest_direct = 1024;

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
  Turns<T> turns;            // of columns

  Split(std::int64_t n, std::int64_t first, bool inverse)
      : rows(n / first, inverse, true),
        columns(first, inverse, true),
        turns(rows.n_, columns.n_, inverse) {}
};

template <class T>
Fourier<T>::Fourier(std::int64_t n, bool inverse, bool part) : n_(n), inverse_(inverse) {
  if (n <= 1) return;
  if (!is_smooth(n)) {
    convolution_ = std::make_unique<FourierConvolution<T>>(n, inverse);
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
    split_->turns.turn(columns, first);
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

// Which road a line takes depends on its length alone, or its bits would depend on its neighbours.
template <class T>
void Fourier<T>::run(const Lines<const Complex>& in, const Lines<Complex>& out, T scale) const {
  if (is_direct()) return direct(in, out, scale);
  if (convolution_) return convolution_->run(in, out, n_, scale);
  const auto line = [&](std::int64_t i) {
    split(in.data + in.start(i), in.step, out.data + out.start(i), out.step, scale);
  };
  const std::int64_t each = std::max<std::int64_t>(1, task_elements / n_);
  const std::int64_t tasks = (in.count + each - 1) / each;
  if (tasks == 1 || n_ > Turns<T>::longest_kept) {  // each line is many tasks
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
