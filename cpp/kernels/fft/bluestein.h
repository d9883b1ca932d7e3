// kernels/fft/bluestein.h - Fourier transforms of large prime lengths.
#pragma once

#include "kernels/fft/twiddles.h"

namespace shardax::kernels {

// With c_j = exp(-+pi i j^2 / n), element k of the transform is c_k times element k of (x c)
// convolved with conj(c). The method is Bluestein's, "A linear filtering approach to the
// computation of discrete Fourier transform", 1970. The convolution is as long as a matrix of
// `rows` by `columns` elements, both multiples of eight. Columns are transformed, turned, and rows
// transformed, which leaves the spectrum transposed. The spectrum is multiplied in that order, and
// the way back ends in the original one.
//
// Eight lines together are eight lanes; a line alone fills the lanes with its own columns, then
// with its rows. Each number goes through the same operations both ways.
template <class T>
class FourierConvolution {
 public:
  using Complex = std::complex<T>;
  FourierConvolution(std::int64_t n, bool inverse);

  // The first `wanted` elements of the transform of complex or of real lines.
  template <class E>
  void run(const Lines<const E>& in, const Lines<Complex>& out, std::int64_t wanted, T scale) const;
  // Transforms eight lines that are parts of longer ones, in place.
  void transform(lanes::Lanes<T>* x) const;

 private:
  struct Size {
    std::int64_t rows, columns;
  };
  FourierConvolution(std::int64_t n, bool inverse, Size size);
  static Size size_for(std::int64_t least);

  std::int64_t room() const;
  void transform(lanes::Lanes<T>* lines, std::int64_t wanted) const;

  template <class E>
  void eight(const E* const* in, std::int64_t in_step, Complex* const* out, std::int64_t out_step,
             std::int64_t count, std::int64_t wanted, T scale) const;
  template <class E>
  void alone(const E* in, std::int64_t in_step, Complex* out, std::int64_t out_step,
             std::int64_t wanted, T scale) const;

  std::int64_t n_, rows_, columns_;
  std::vector<lanes::Root<T>> chirp_;
  std::vector<lanes::Lanes<T>> spectrum_;  // of conj(c): of each eight rows, by column
  Fourier<T> down_, along_, back_along_, back_up_;
  Turns<T> turns_, back_turns_;  // of columns, and of rows
};

extern template class FourierConvolution<float>;
extern template class FourierConvolution<double>;

}  // namespace shardax::kernels
