// kernels/fft/fft.h - discrete Fourier transforms of lines of any length.
//
// Start at Fourier::run. Short lines go eight at a time through the passes of lanes.h. The columns
// and rows of a longer one, as a matrix, do (Bailey, "FFTs in external or hierarchical memory",
// 1990). Eight matrices go together or, if these are too large or too few, eight columns of one. A
// length with large prime factors is a convolution (bluestein.h). Elements are computed in their
// own precision, with roots exact to double precision.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/fft/work.h"

namespace shardax::kernels {

// Lines of n elements in memory: element j of line i at data[start(i) + j * step], start(i) =
// (i / inner) * outer_step + (i % inner) * inner_step.
template <class E>
struct Lines {
  E* data;
  std::int64_t count, step, inner, inner_step, outer_step;
  std::int64_t start(std::int64_t i) const {
    return i / inner * outer_step + i % inner * inner_step;
  }
  // The starts of eight lines, as fft_work::starts.
  bool starts(std::int64_t first, std::int64_t some, E** out) const {
    return fft_work::starts(out, first, some, [&](std::int64_t i) { return data + start(i); });
  }
};

template <class T>
class FourierConvolution;

// out_k = scale * sum over j of in_j exp(-+2 pi i j k / n) of each line. Immutable once made: any
// thread may use it. The work is spread over the pool; the bits do not depend on the threads, nor
// on which lines go together.
template <class T>
class Fourier {
 public:
  using Complex = std::complex<T>;
  // `part`: of a longer line, whose lines all go through the passes.
  Fourier(std::int64_t n, bool inverse, bool part = false);
  ~Fourier();

  std::int64_t size() const { return n_; }
  // `in` and `out` may be the same lines.
  void run(const Lines<const Complex>& in, const Lines<Complex>& out, T scale) const;

  // May a line be among eight lanes, and may it also be alone with the same bits?
  fft_work::Road road() const;
  // The transforms of the lines in space.a.
  lanes::Lanes<T>* eight(fft_work::Workspace<T>& space) const;
  // The passes of a part: both buffers have n elements; returns that with the result.
  lanes::Lanes<T>* passes(lanes::Lanes<T>* a, lanes::Lanes<T>* b) const;

 private:
  struct Pass {
    std::int64_t factor, inner, outer;
    std::vector<lanes::Root<T>> twiddles, roots;
  };
  struct Matrix;
  friend struct Matrix;
  template <class>
  friend class RealFourier;

  std::int64_t n_;
  bool inverse_;
  std::vector<Pass> passes_;
  std::unique_ptr<Matrix> matrix_;
  std::unique_ptr<FourierConvolution<T>> convolution_;
};

// Transforms dense rows of n real elements to their first n / 2 + 1 elements, for even n by complex
// rows of n / 2. The way back, `inverse`, sums over the half and its mirror image, and ignores the
// imaginary parts of elements 0 and n / 2.
template <class T>
class RealFourier {
 public:
  using Complex = std::complex<T>;
  RealFourier(std::int64_t n, bool inverse);

  void forward(const T* in, Complex* out, std::int64_t rows) const;
  void inverse(const Complex* in, T* out, std::int64_t rows, T scale) const;

 private:
  std::int64_t n_;
  bool odd_;
  Fourier<T> fourier_;
  void unpair(Complex* x) const;
  void pair_up(const Complex* in, Complex* z) const;

  std::vector<lanes::Root<T>> roots_;  // exp(-+2 pi i k / n)
};

// The divisor of n nearest to its root from below.
std::int64_t middle_divisor(std::int64_t n);

// exp(2 pi i k / n), 0 <= k < n, exact where it can be.
std::complex<double> root_of_unity(std::int64_t k, std::int64_t n);

extern template class Fourier<float>;
extern template class Fourier<double>;
extern template class RealFourier<float>;
extern template class RealFourier<double>;

}  // namespace shardax::kernels
