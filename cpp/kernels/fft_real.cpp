// kernels/fft_real.cpp - Fourier transforms of real rows by complex ones of half their length.
#include <algorithm>

#include "kernels/fft_convolution.h"
#include "kernels/fft_work.h"
#include "kernels/room.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace shardax::kernels {
namespace {

using fft_work::task_elements;
using fft_work::workspace;
using lanes::Lanes;
using lanes::width;

// body(row, from, to) over ranges of [0, n) of all rows, in parallel.
template <class F>
void over_rows(std::int64_t rows, std::int64_t n, F&& body) {
  const std::int64_t parts = (n + task_elements - 1) / task_elements;
  const std::int64_t each = std::max<std::int64_t>(1, task_elements / std::max<std::int64_t>(n, 1));
  runtime::parallel_for((rows + each - 1) / each * parts, [&](std::int64_t task) {
    const std::int64_t first = task / parts * each, from = task % parts * task_elements;
    for (std::int64_t row = first; row < std::min(rows, first + each); ++row) {
      body(row, from, std::min(n, from + task_elements));
    }
  });
}

template <class E>
Lines<E> dense(E* data, std::int64_t rows, std::int64_t step) {
  return {data, rows, 1, 1, 0, step};
}

template <class T>
std::complex<T> root_at(const std::vector<lanes::Root<T>>& roots, std::int64_t k) {
  const lanes::Root<T> w = roots[static_cast<std::size_t>(k)];
  return {w.re, w.im};
}

template <class T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

template <class T>
RealFourier<T>::RealFourier(std::int64_t n, bool inverse)
    : n_(n), odd_(n % 2 == 1), fourier_(odd_ ? n : n / 2, inverse) {
  for (std::int64_t k = 0; !odd_ && k <= n / 4; ++k) {
    const std::complex<double> w = root_of_unity(k, n);
    roots_.push_back({static_cast<T>(w.real()), static_cast<T>(inverse ? w.imag() : -w.imag())});
  }
}

// Of the first of some rows of `step` elements on, eight (the last one again where there are
// fewer).
template <class E>
void rows_from(E* data, std::int64_t first, std::int64_t count, std::int64_t step, E** out) {
  for (std::int64_t l = 0; l < width; ++l) out[l] = data + (first + std::min(l, count - 1)) * step;
}

template <class T>
template <class F>
void RealFourier<T>::in_lanes(std::int64_t rows, F&& body) const {
  const std::int64_t groups = (rows + width - 1) / width;
  const std::int64_t each = std::max<std::int64_t>(1, task_elements / (n_ * width));
  runtime::parallel_for((groups + each - 1) / each, [&](std::int64_t task) {
    for (std::int64_t g = task * each; g < std::min(groups, (task + 1) * each); ++g) {
      runtime::poll();
      body(g * width, std::min(width, rows - g * width));
    }
  });
}

// See lanes::unpair.
template <class T>
void RealFourier<T>::forward(const T* in, Complex* out, std::int64_t rows) const {
  const std::int64_t half = n_ / 2;
  if (odd_ && fourier_.is_direct()) {
    in_lanes(rows, [&](std::int64_t first, std::int64_t count) {
      auto& space = workspace<T>(n_);
      const T* from[width];
      Complex* to[width];
      rows_from(in, first, count, n_, from);
      rows_from(out, first, count, half + 1, to);
      lanes::gather(from, 1, false, n_, space.a.data());
      Lanes<T>* x = fourier_.passes(space.a.data(), space.b.data());
      x[0].make_real();
      lanes::scatter<T>(x, half + 1, T(1), to, 1, false, count);
    });
    return;
  }
  if (fourier_.convolution_ && odd_) {
    fourier_.convolution_->run(dense(in, rows, n_), dense(out, rows, half + 1), half + 1, T(1));
    for (std::int64_t row = 0; row < rows; ++row) out[row * (half + 1)].imag(0);
    return;
  }
  if (odd_) {
    const Room<Complex> work(rows * n_);
    over_rows(rows, n_, [&](std::int64_t row, std::int64_t from, std::int64_t to) {
      std::copy(in + row * n_ + from, in + row * n_ + to, work.data() + row * n_ + from);
    });
    fourier_.run(dense<const Complex>(work.data(), rows, n_), dense(work.data(), rows, n_), 1);
    over_rows(rows, half + 1, [&](std::int64_t row, std::int64_t from, std::int64_t to) {
      const Complex* x = work.data() + row * n_;
      std::copy(x + from, x + to, out + row * (half + 1) + from);
    });
    return;
  }
  const auto* pairs = reinterpret_cast<const Complex*>(in);
  if (fourier_.is_direct()) {
    in_lanes(rows, [&](std::int64_t first, std::int64_t count) {
      auto& space = workspace<T>(half + 1);
      const Complex* from[width];
      Complex* to[width];
      rows_from(pairs, first, count, half, from);
      rows_from(out, first, count, half + 1, to);
      lanes::gather(from, 1, false, half, space.a.data());
      Lanes<T>* z = fourier_.passes(space.a.data(), space.b.data());
      lanes::unpair(z, half, roots_.data());
      lanes::scatter<T>(z, half + 1, T(1), to, 1, false, count);
    });
    return;
  }
  fourier_.run(dense(pairs, rows, half), dense(out, rows, half + 1), 1);
  over_rows(rows, half / 2 + 1, [&](std::int64_t row, std::int64_t from, std::int64_t to) {
    Complex* x = out + row * (half + 1);
    for (std::int64_t k = from; k < to; ++k) {
      const Complex a = x[k], b = std::conj(k == 0 ? a : x[half - k]);
      const Complex even = (a + b) * T(0.5), less = (a - b) * T(0.5);
      const Complex odd = times(Complex(less.imag(), -less.real()), root_at(roots_, k));
      x[k] = even + odd;
      x[half - k] = std::conj(even - odd);
    }
    if (from == 0) x[0].imag(0), x[half].imag(0);
  });
}

// See lanes::pair_up.
template <class T>
void RealFourier<T>::inverse(const Complex* in, T* out, std::int64_t rows, T scale) const {
  const std::int64_t half = n_ / 2;
  const auto element = [&](const Complex* x, std::int64_t k) {
    const bool real = k == 0 || (!odd_ && k == half);
    return real ? Complex(x[k].real()) : x[k];
  };
  if (odd_) {
    const Room<Complex> work(rows * n_);
    over_rows(rows, half + 1, [&](std::int64_t row, std::int64_t from, std::int64_t to) {
      Complex* z = work.data() + row * n_;
      for (std::int64_t k = from; k < to; ++k) {
        z[k] = element(in + row * (half + 1), k);
        if (k > 0) z[n_ - k] = std::conj(z[k]);
      }
    });
    fourier_.run(dense<const Complex>(work.data(), rows, n_), dense(work.data(), rows, n_), scale);
    over_rows(rows, n_, [&](std::int64_t row, std::int64_t from, std::int64_t to) {
      for (std::int64_t j = from; j < to; ++j) out[row * n_ + j] = work[row * n_ + j].real();
    });
    return;
  }
  Complex* pairs = reinterpret_cast<Complex*>(out);
  if (fourier_.is_direct()) {
    in_lanes(rows, [&](std::int64_t first, std::int64_t count) {
      auto& space = workspace<T>(half + 1);
      const Complex* from[width];
      Complex* to[width];
      rows_from(in, first, count, half + 1, from);
      rows_from(pairs, first, count, half, to);
      lanes::gather(from, 1, false, half + 1, space.a.data());
      lanes::pair_up(space.a.data(), half, roots_.data());
      const Lanes<T>* z = fourier_.passes(space.a.data(), space.b.data());
      lanes::scatter<T>(z, half, scale, to, 1, false, count);
    });
    return;
  }
  over_rows(rows, half / 2 + 1, [&](std::int64_t row, std::int64_t from, std::int64_t to) {
    const Complex* x = in + row * (half + 1);
    Complex* z = pairs + row * half;
    for (std::int64_t k = from; k < to; ++k) {
      const Complex a = element(x, k), b = std::conj(element(x, half - k));
      const Complex even = a + b;
      const Complex odd = times(a - b, root_at(roots_, k));
      const Complex turned(-odd.imag(), odd.real());
      z[k] = even + turned;
      if (k > 0) z[half - k] = std::conj(even - turned);
    }
  });
  fourier_.run(dense<const Complex>(pairs, rows, half), dense(pairs, rows, half), scale);
}

template class RealFourier<float>;
template class RealFourier<double>;

}  // namespace shardax::kernels
