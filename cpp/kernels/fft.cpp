// kernels/fft.cpp - Cooley and Tukey's method by mixed radices, and Bluestein's for large primes.
#include "kernels/fft.h"

#include <cmath>
#include <numbers>

namespace shardax::kernels {
namespace {

// A factor costs its square; beyond this a convolution is faster.
constexpr std::int64_t largest_factor = 31;

// exp(2 pi i k / n), from the first eighth of the circle, so that it is exact where it can be.
Complex root(std::int64_t k, std::int64_t n) {
  const std::int64_t eighth = 8 * k / n;
  const auto angle = [&](std::int64_t num) {
    return 2 * std::numbers::pi * static_cast<double>(num) / (8 * static_cast<double>(n));
  };
  const std::int64_t rest = 8 * k - eighth * n;  // in eighths of 1 / n
  const bool mirrored = eighth % 2 == 1;
  const double a = angle(mirrored ? n - rest : rest);
  double c = std::cos(a), s = std::sin(a);
  if (mirrored) std::swap(c, s);
  switch ((eighth / 2) % 4) {
    case 0: return {c, s};
    case 1: return {-s, c};
    case 2: return {-c, -s};
    default: return {s, -c};
  }
}

Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

// in_j c_j convolved with conj(c), times c_k, where c_j = exp(-+pi i j^2 / n).
struct FourierPlan::Bluestein {
  std::vector<Complex> chirp;
  std::vector<Complex> kernel;  // the transform of conj(c), over the convolution's length
  FourierPlan forward, backward;

  Bluestein(std::int64_t n, bool inverse, std::int64_t length)
      : forward(length, false), backward(length, true) {
    kernel.assign(static_cast<std::size_t>(length), 0);
    for (std::int64_t j = 0; j < n; ++j) {
      const Complex c = root(j * j % (2 * n), 2 * n);
      chirp.push_back(inverse ? c : std::conj(c));
      const Complex value = std::conj(chirp.back()) / static_cast<double>(length);
      kernel[static_cast<std::size_t>(j)] = value;
      if (j > 0) kernel[static_cast<std::size_t>(length - j)] = value;
    }
    std::vector<Complex> scratch;
    forward.run(kernel.data(), 1, scratch);
  }
};

FourierPlan::FourierPlan(std::int64_t n, bool inverse) : n_(n) {
  std::int64_t rest = n;
  while (rest % 4 == 0) factors_.push_back(4), rest /= 4;
  for (std::int64_t p = 2; p <= largest_factor; ++p) {
    while (rest % p == 0) factors_.push_back(p), rest /= p;
  }
  if (rest > 1) {
    std::int64_t length = 1;
    while (length < 2 * n - 1) length *= 2;
    bluestein_ = std::make_unique<Bluestein>(n, inverse, length);
    return;
  }
  for (std::int64_t k = 0; k < n; ++k) {
    const Complex w = root(k, n);
    roots_.push_back(inverse ? w : std::conj(w));
  }
}

FourierPlan::~FourierPlan() = default;
FourierPlan::FourierPlan(FourierPlan&&) noexcept = default;

// The transforms of every p-th element, combined: out_(q m + k) = sum over r of w^(r (q m + k))
// part_r,k.
void FourierPlan::factored(std::int64_t n, std::size_t factor, const Complex* in,
                           std::int64_t stride, Complex* out) const {
  if (n == 1) {
    *out = *in;
    return;
  }
  const std::int64_t p = factors_[factor], m = n / p, step = n_ / n;
  for (std::int64_t r = 0; r < p; ++r) {
    factored(m, factor + 1, in + r * stride, stride * p, out + r * m);
  }
  // k is below n.
  const auto w = [&](std::int64_t k) { return roots_[static_cast<std::size_t>(k * step)]; };
  for (std::int64_t k = 0; k < m; ++k) {
    Complex part[largest_factor];
    for (std::int64_t r = 0; r < p; ++r) part[r] = times(out[r * m + k], w(r * k));
    if (p == 2) {
      out[k] = part[0] + part[1];
      out[m + k] = part[0] - part[1];
    } else if (p == 4) {
      const Complex even = part[0] + part[2], odd = part[1] + part[3];
      const Complex down = part[0] - part[2], up = times(part[1] - part[3], w(m));
      out[k] = even + odd;
      out[m + k] = down + up;
      out[2 * m + k] = even - odd;
      out[3 * m + k] = down - up;
    } else {
      for (std::int64_t q = 0; q < p; ++q) {
        Complex sum = part[0];
        for (std::int64_t r = 1; r < p; ++r) sum += times(part[r], w(r * q % p * m));
        out[q * m + k] = sum;
      }
    }
  }
}

void FourierPlan::convolved(Complex* line, std::vector<Complex>& scratch) const {
  const Bluestein& b = *bluestein_;
  const auto length = static_cast<std::size_t>(b.forward.size());
  std::vector<Complex> work(length);
  for (std::size_t j = 0; j < b.chirp.size(); ++j) work[j] = times(line[j], b.chirp[j]);
  b.forward.run(work.data(), 1, scratch);
  for (std::size_t k = 0; k < length; ++k) work[k] = times(work[k], b.kernel[k]);
  b.backward.run(work.data(), 1, scratch);
  for (std::size_t k = 0; k < b.chirp.size(); ++k) line[k] = times(work[k], b.chirp[k]);
}

void FourierPlan::run(Complex* line, std::int64_t stride, std::vector<Complex>& scratch) const {
  const auto n = static_cast<std::size_t>(n_);
  std::vector<Complex> dense(n);
  for (std::size_t j = 0; j < n; ++j) dense[j] = line[static_cast<std::int64_t>(j) * stride];
  if (bluestein_) {
    convolved(dense.data(), scratch);
  } else {
    scratch.resize(n);
    factored(n_, 0, dense.data(), 1, scratch.data());
    std::copy(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(n), dense.begin());
  }
  for (std::size_t j = 0; j < n; ++j) line[static_cast<std::int64_t>(j) * stride] = dense[j];
}

}  // namespace shardax::kernels
