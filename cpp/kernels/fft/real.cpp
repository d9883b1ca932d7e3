// kernels/fft/real.cpp - Fourier transforms of real rows by complex ones of half their length.
#include "base/index.h"
#include "kernels/aligned_buffer.h"
#include "kernels/fft/bluestein.h"
#include "kernels/fft/four_step.h"

namespace shardax::kernels {
namespace {

using fft_work::Workspace;
using fft_work::workspace;
using lanes::Lanes;
using lanes::width;

// body(k) for k in [0, n), in parallel where there are many.
template <class F>
void over(std::int64_t n, F&& body) {
  fft_work::by_groups(n, fft_work::task_elements, 1, [&](std::int64_t first) {
    const std::int64_t end = std::min(n, first + fft_work::task_elements);
    for (std::int64_t k = first; k < end; ++k) body(k);
  });
}

template <class E>
Lines<E> dense(E* data, std::int64_t rows, std::int64_t step) {
  return {data, rows, 1, 1, 0, step};
}

template <class T>
std::complex<T> root_at(const std::vector<lanes::Root<T>>& roots, std::int64_t k) {
  const lanes::Root<T> w = roots[index(k)];
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

// See lanes::unpair: of one line.
template <class T>
void RealFourier<T>::unpair(Complex* x) const {
  const std::int64_t half = n_ / 2;
  x[half] = x[0];
  over(half / 2 + 1, [&](std::int64_t k) {
    const Complex a = x[k], b = x[half - k];
    const Complex even((a.real() + b.real()) * T(0.5), (a.imag() - b.imag()) * T(0.5));
    const Complex less((a.imag() + b.imag()) * T(0.5), (b.real() - a.real()) * T(0.5));
    const Complex odd = times(less, root_at(roots_, k));
    x[k] = even + odd;
    x[half - k] = {even.real() - odd.real(), odd.imag() - even.imag()};
  });
  x[0].imag(0), x[half].imag(0);
}
// See lanes::pair_up.
template <class T>
void RealFourier<T>::pair_up(const Complex* x, Complex* z) const {
  const std::int64_t half = n_ / 2;
  const auto element = [&](std::int64_t k) {
    return k == 0 || k == half ? Complex(x[k].real()) : x[k];
  };
  over(half / 2 + 1, [&](std::int64_t k) {
    const Complex a = element(k), b = element(half - k);
    const Complex even(a.real() + b.real(), a.imag() - b.imag());
    const Complex less(a.real() - b.real(), a.imag() + b.imag());
    const Complex odd = times(less, root_at(roots_, k));
    z[k] = {even.real() - odd.imag(), even.imag() + odd.real()};
    if (k > 0) z[half - k] = {even.real() + odd.imag(), odd.real() - even.imag()};
  });
}

template <class T>
void RealFourier<T>::forward(const T* in, Complex* out, std::int64_t rows) const {
  const std::int64_t half = n_ / 2;
  const Lines<Complex> to = dense(out, rows, half + 1);
  if (odd_ && fourier_.convolution_) {
    fourier_.convolution_->run(dense(in, rows, n_), to, half + 1, T(1));
    for (std::int64_t row = 0; row < rows; ++row) out[row * (half + 1)].imag(0);
    return;
  }
  const auto* pairs = reinterpret_cast<const Complex*>(in);
  if (fourier_.convolution_) {
    fourier_.run(dense(pairs, rows, half), to, 1);
    fft_work::by_groups(rows, 1, half, [&](std::int64_t row) { unpair(out + row * (half + 1)); });
    return;
  }
  const auto alone = [&](std::int64_t row) {
    Complex* x = out + row * (half + 1);
    if (odd_) return fourier_.matrix_->alone_from_real(in + row * n_, x, T(1));
    fourier_.matrix_->alone(pairs + row * half, 1, x, 1, T(1));
    unpair(x);
  };
  const auto eight = [&](std::int64_t first, std::int64_t count) {
    Workspace<T>& space = workspace<T>(fourier_.size() + 1);
    Lanes<T>* x;
    if (odd_) {
      const T* from[width];
      dense(in, rows, n_).starts(first, count, from);
      lanes::gather(from, 1, false, n_, space.a.data());
      x = fourier_.matrix_ ? fourier_.matrix_->eight_from_real(space) : fourier_.eight(space);
      x[0].make_real();
    } else {
      const Complex* from[width];
      dense(pairs, rows, half).starts(first, count, from);
      lanes::gather(from, 1, false, half, space.a.data());
      x = fourier_.eight(space);
      lanes::unpair(x, half, roots_.data());
    }
    Complex* starts[width];
    to.starts(first, count, starts);
    lanes::scatter<T>(x, half + 1, T(1), starts, 1, false, count);
  };
  fft_work::over_lines(rows, n_, fourier_.road(), alone, eight);
}

template <class T>
void RealFourier<T>::inverse(const Complex* in, T* out, std::int64_t rows, T scale) const {
  const std::int64_t half = n_ / 2, n = fourier_.size();
  const Lines<const Complex> from = dense(in, rows, half + 1);
  Complex* pairs = reinterpret_cast<Complex*>(out);
  if (fourier_.convolution_) {
    const AlignedBuffer<Complex> room(odd_ ? rows * n_ : 0);
    Complex* work = odd_ ? room.data() : pairs;
    fft_work::by_groups(rows, 1, n, [&](std::int64_t row) {
      const Complex* x = in + row * (half + 1);
      Complex* z = work + row * n;
      if (!odd_) return pair_up(x, z);
      z[0] = x[0].real();
      over(half, [&](std::int64_t k) {
        z[k + 1] = x[k + 1];
        z[n - k - 1] = std::conj(x[k + 1]);
      });
    });
    fourier_.run(dense<const Complex>(work, rows, n), dense(work, rows, n), scale);
    if (!odd_) return;
    fft_work::by_groups(rows, 1, n, [&](std::int64_t row) {
      over(n, [&](std::int64_t j) { out[row * n + j] = work[row * n + j].real(); });
    });
    return;
  }
  const auto alone = [&](std::int64_t row) {
    const Complex* x = in + row * (half + 1);
    if (odd_) return fourier_.matrix_->alone_to_real(x, out + row * n_, scale);
    Complex* z = pairs + row * half;
    pair_up(x, z);
    fourier_.matrix_->alone(z, 1, z, 1, scale);
  };
  const auto whole = [&](Workspace<T>& space) {
    if (fourier_.matrix_) return fourier_.matrix_->eight_to_real(space);
    Lanes<T>* x = space.a.data();
    x[0].make_real();
    for (std::int64_t k = 1; k <= half; ++k) lanes::conjugate(x[n - k], x[k]);
    return fourier_.eight(space);
  };
  const auto eight = [&](std::int64_t first, std::int64_t count) {
    Workspace<T>& space = workspace<T>(n + 1);
    Lanes<T>* x = space.a.data();
    const Complex* starts[width];
    from.starts(first, count, starts);
    lanes::gather(starts, 1, false, half + 1, x);
    if (odd_) {
      T* to[width];
      dense(out, rows, n_).starts(first, count, to);
      lanes::scatter(whole(space), n_, scale, to, 1, false, count);
    } else {
      lanes::pair_up(x, half, roots_.data());
      Complex* to[width];
      dense(pairs, rows, half).starts(first, count, to);
      lanes::scatter<T>(fourier_.eight(space), half, scale, to, 1, false, count);
    }
  };
  fft_work::over_lines(rows, n_, fourier_.road(), alone, eight);
}

template class RealFourier<float>;
template class RealFourier<double>;

}  // namespace shardax::kernels
