// kernels/fft.cpp - Cooley and Tukey's method by mixed radices, and Bluestein's for large primes.
#include "kernels/fft.h"

#include <cmath>
#include <cstring>
#include <numbers>

#include "kernels/dispatch.h"
#include "runtime/interrupt.h"

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
      if (j % 256 == 255) runtime::poll_caller();
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

FourierPlan::FourierPlan(std::int64_t n, bool inverse) : n_(n), inverse_(inverse) {
  std::vector<std::int64_t> factors;
  std::int64_t rest = n;
  while (rest % 4 == 0) factors.push_back(4), rest /= 4;
  for (std::int64_t p = 2; p <= largest_factor; ++p) {
    while (rest % p == 0) factors.push_back(p), rest /= p;
  }
  if (rest > 1) {
    std::int64_t length = 1;
    while (length < 2 * n - 1) length *= 2;
    bluestein_ = std::make_unique<Bluestein>(n, inverse, length);
    return;
  }
  const auto power = [&](std::int64_t k, std::int64_t of) {
    const Complex w = root(k, of);
    return inverse ? w : std::conj(w);
  };
  std::int64_t size = n;
  for (std::size_t i = factors.size(); i-- > 0;) {
    const std::int64_t p = factors[i], whole = size;
    size /= p;
    Level level{p, size, {}, {}};
    for (std::int64_t r = 1; r < p; ++r) {
      for (std::int64_t k = 0; k < size; ++k) {
        if (k % 256 == 255) runtime::poll_caller();
        level.twiddles.push_back(power(r * k, whole));
      }
    }
    for (std::int64_t q = 0; q < p; ++q) level.roots.push_back(power(q, p));
    levels_.push_back(std::move(level));
  }
}

FourierPlan::~FourierPlan() = default;
FourierPlan::FourierPlan(FourierPlan&&) noexcept = default;

// The transforms of every p-th element, combined: out_(q m + k) = sum over r of w^(r (q m + k))
// part_r,k.
void FourierPlan::factored(std::size_t level, const Complex* in, std::int64_t stride,
                           Complex* out) const {
  if (level == levels_.size()) {
    *out = *in;  // n is 1
    return;
  }
  const Level& l = levels_[level];
  for (std::int64_t r = 0; r < l.factor; ++r) {
    if (l.size > 1024) runtime::poll();
    if (l.size == 1) {
      out[r] = in[r * stride];
    } else {
      factored(level + 1, in + r * stride, stride * l.factor, out + r * l.size);
    }
  }
  combine(l, out);
}

namespace {

// Two complex numbers. Passed by reference: by value, calls would differ by instruction set.
typedef double Pair __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void load(Pair& v, const Complex* from) {
  std::memcpy(&v, from, sizeof v);
}
[[gnu::always_inline]] inline void store(Complex* to, const Pair& v) {
  std::memcpy(reinterpret_cast<double*>(to), &v, sizeof v);
}
[[gnu::always_inline]] inline void turn(Pair& v, const Complex* w) {
  using Order = decltype(Pair{} != Pair{});
  Pair factor;
  load(factor, w);
  const Pair real = __builtin_shuffle(factor, Order{0, 0, 2, 2});
  const Pair imag = __builtin_shuffle(factor, Order{1, 1, 3, 3}) * Pair{-1, 1, -1, 1};
  v = v * real + __builtin_shuffle(v, Order{1, 0, 3, 2}) * imag;
}

// Numbers between two questions whether the work is to end: some 200 us.
constexpr std::int64_t stretch = std::int64_t{1} << 16;

// The whole pairs among numbers [k, end) of each part of `m`; `sign` is that of the exponent.
// Returns where they end.
SHARDAX_CLONES std::int64_t combine_four(Complex* out, const Complex* w, std::int64_t m,
                                         std::int64_t k, std::int64_t end, double sign) {
  using Order = decltype(Pair{} != Pair{});
  const Pair quarter{-sign, sign, -sign, sign};
  for (; k + 2 <= end; k += 2) {
    Pair a, b, c, d;
    load(a, out + k);
    load(b, out + m + k);
    load(c, out + 2 * m + k);
    load(d, out + 3 * m + k);
    turn(b, w + k);
    turn(c, w + m + k);
    turn(d, w + 2 * m + k);
    const Pair even = a + c, down = a - c, odd = b + d, across = b - d;
    const Pair up = __builtin_shuffle(across, Order{1, 0, 3, 2}) * quarter;
    store(out + k, even + odd);
    store(out + m + k, down + up);
    store(out + 2 * m + k, even - odd);
    store(out + 3 * m + k, down - up);
  }
  return k;
}

SHARDAX_CLONES std::int64_t combine_two(Complex* out, const Complex* w, std::int64_t m,
                                        std::int64_t k, std::int64_t end) {
  for (; k + 2 <= end; k += 2) {
    Pair a, b;
    load(a, out + k);
    load(b, out + m + k);
    turn(b, w + k);
    store(out + k, a + b);
    store(out + m + k, a - b);
  }
  return k;
}

}  // namespace

void FourierPlan::combine(const Level& level, Complex* out) const {
  runtime::in_stretches(level.size, stretch, [&](std::int64_t from, std::int64_t to) {
    combine_stretch(level, out, from, to);
  });
}

void FourierPlan::combine_stretch(const Level& level, Complex* out, std::int64_t from,
                                  std::int64_t to) const {
  const std::int64_t p = level.factor, m = level.size;
  const double sign = inverse_ ? 1 : -1;
  const Complex* w = level.twiddles.data();
  if (p == 4) {
    for (std::int64_t k = combine_four(out, w, m, from, to, sign); k < to; ++k) {
      const Complex b = times(out[m + k], w[k]), c = times(out[2 * m + k], w[m + k]);
      const Complex d = times(out[3 * m + k], w[2 * m + k]);
      const Complex even = out[k] + c, down = out[k] - c, odd = b + d, across = b - d;
      const Complex up(-sign * across.imag(), sign * across.real());
      out[k] = even + odd;
      out[m + k] = down + up;
      out[2 * m + k] = even - odd;
      out[3 * m + k] = down - up;
    }
  } else if (p == 2) {
    for (std::int64_t k = combine_two(out, w, m, from, to); k < to; ++k) {
      const Complex a = out[k], b = times(out[m + k], w[k]);
      out[k] = a + b;
      out[m + k] = a - b;
    }
  } else {
    for (std::int64_t k = from; k < to; ++k) combine_any(level, out, k);
  }
}

void FourierPlan::combine_any(const Level& level, Complex* out, std::int64_t k) const {
  const std::int64_t p = level.factor, m = level.size;
  const Complex* w = level.twiddles.data();
  Complex part[largest_factor];
  part[0] = out[k];
  for (std::int64_t r = 1; r < p; ++r) part[r] = times(out[r * m + k], w[(r - 1) * m + k]);
  for (std::int64_t q = 0; q < p; ++q) {
    Complex sum = part[0];
    for (std::int64_t r = 1; r < p; ++r)
      sum += times(part[r], level.roots[static_cast<std::size_t>(r * q % p)]);
    out[q * m + k] = sum;
  }
}

void FourierPlan::convolved(Complex* line, std::int64_t stride,
                            std::vector<Complex>& scratch) const {
  const Bluestein& b = *bluestein_;
  const auto length = static_cast<std::size_t>(b.forward.size());
  const auto n = static_cast<std::size_t>(n_);
  const auto at = [&](std::size_t j) -> Complex& {
    return line[static_cast<std::int64_t>(j) * stride];
  };
  std::vector<Complex> work(length);
  for (std::size_t j = 0; j < n; ++j) work[j] = times(at(j), b.chirp[j]);
  b.forward.run(work.data(), 1, scratch);
  for (std::size_t k = 0; k < length; ++k) work[k] = times(work[k], b.kernel[k]);
  b.backward.run(work.data(), 1, scratch);
  for (std::size_t k = 0; k < n; ++k) at(k) = times(work[k], b.chirp[k]);
}

void FourierPlan::run(Complex* line, std::int64_t stride, std::vector<Complex>& scratch) const {
  if (bluestein_) return convolved(line, stride, scratch);
  const auto n = static_cast<std::size_t>(n_);
  if (scratch.size() < n) scratch.resize(n);
  factored(0, line, stride, scratch.data());
  for (std::size_t j = 0; j < n; ++j) line[static_cast<std::int64_t>(j) * stride] = scratch[j];
}

}  // namespace shardax::kernels
