// kernels/fft/fft.cpp - plans of Fourier transforms, and complex lines.
#include "kernels/fft/fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/aligned_buffer.h"
#include "kernels/fft/bluestein.h"
#include "kernels/fft/four_step.h"

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
// For lines with large prime factors, matrices of fewer rows leave lanes empty.
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
Lanes<T>* Fourier<T>::eight(Workspace<T>& space) const {
  return matrix_ ? matrix_->eight(space) : passes(space.a.data(), space.b.data());
}

template <class T>
void Fourier<T>::run(const Lines<const Complex>& in, const Lines<Complex>& out, T scale) const {
  if (convolution_) return convolution_->run(in, out, n_, scale);
  fft_work::over_lines(
      in.count, n_, road(),
      [&](std::int64_t i) {
        matrix_->alone(in.data + in.start(i), in.step, out.data + out.start(i), out.step, scale);
      },
      [&](std::int64_t first, std::int64_t count) {
        Workspace<T>& space = workspace<T>(n_);
        const Complex* from[width];
        Complex* to[width];
        const bool adjacent_in = in.starts(first, count, from);
        const bool adjacent_out = out.starts(first, count, to);
        gather(from, in.step, adjacent_in, n_, space.a.data());
        const Lanes<T>* result = eight(space);
        scatter(result, n_, scale, to, out.step, adjacent_out, count);
      });
}

template class Fourier<float>;
template class Fourier<double>;

}  // namespace shardax::kernels
