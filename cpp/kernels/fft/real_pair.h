// kernels/fft/real_pair.h - two real columns as the real and the imaginary parts of one.
#pragma once

#include "base/target.h"
#include "kernels/fft/lanes.h"

namespace shardax::kernels::lanes {

// x + i y, of real columns whose elements lie `step` apart.
template <class T>
void join(const Lanes<T>* x, const Lanes<T>* y, std::int64_t step, std::int64_t n, Lanes<T>* z) {
  dispatch([=] {
    for (std::int64_t k = 0; k < n; ++k) {
      for (int h = 0; h < Lanes<T>::parts; ++h) {
        z[k].part[h] = {x[k * step].part[h].re, y[k * step].part[h].re};
      }
    }
  });
}
// And back. x and y may be one column: it is the real part.
template <class T>
void part(const Lanes<T>* z, std::int64_t n, Lanes<T>* x, Lanes<T>* y, std::int64_t step) {
  dispatch([=] {
    for (std::int64_t k = 0; k < n; ++k) {
      for (int h = 0; h < Lanes<T>::parts; ++h) {
        y[k * step].part[h] = Few<T>{z[k].part[h].im, {}};
        x[k * step].part[h] = Few<T>{z[k].part[h].re, {}};
      }
    }
  });
}

// The first n / 2 + 1 elements of the transforms X and Y of the two, n odd, from the transform Z of
// x + i y. X_k = (Z_k + conj Z_(n-k)) / 2, Y_k = (Z_k - conj Z_(n-k)) / 2i.
template <class T>
void split(const Lanes<T>* z, std::int64_t n, Lanes<T>* x, Lanes<T>* y) {
  dispatch([=] {
    for (std::int64_t k = 0; k <= n / 2; ++k) {
      for (int h = 0; h < Lanes<T>::parts; ++h) {
        const Few<T>&a = z[k].part[h], &b = z[k == 0 ? 0 : n - k].part[h];
        x[k].part[h] = {(a.re + b.re) * T(0.5), (a.im - b.im) * T(0.5)};
        y[k].part[h] = {(a.im + b.im) * T(0.5), (b.re - a.re) * T(0.5)};
      }
    }
  });
}
// All of Z = X + i Y from those. The imaginary parts of X_0 and Y_0 are ignored.
template <class T>
void merge(const Lanes<T>* x, const Lanes<T>* y, std::int64_t n, Lanes<T>* z) {
  dispatch([=] {
    for (int h = 0; h < Lanes<T>::parts; ++h) z[0].part[h] = {x[0].part[h].re, y[0].part[h].re};
    for (std::int64_t k = 1; k <= n / 2; ++k) {
      for (int h = 0; h < Lanes<T>::parts; ++h) {
        const Few<T>&a = x[k].part[h], &b = y[k].part[h];
        z[k].part[h] = {a.re - b.im, a.im + b.re};
        z[n - k].part[h] = {a.re + b.im, b.re - a.im};
      }
    }
  });
}

}  // namespace shardax::kernels::lanes
