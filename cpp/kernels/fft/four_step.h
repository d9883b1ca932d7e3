// kernels/fft/four_step.h - Fourier transforms of lines as matrices.
#pragma once

#include "kernels/fft/twiddles.h"

namespace shardax::kernels {

// A line of n1 rows of n2 elements: transforms of the columns, times w^(row column), transforms of
// the rows, transposed. Element k1 of column j2, transformed, is that of row k1 at j2.
template <class T>
struct Fourier<T>::Matrix {
  std::int64_t n1, n2;
  Fourier<T> rows, columns;
  Turns<T> turns;  // of columns

  Matrix(std::int64_t n, std::int64_t n1, bool inverse)
      : n1(n1),
        n2(n / n1),
        rows(n2, inverse, true),
        columns(n1, inverse, true),
        turns(n2, n1, inverse) {}

  // As Fourier::eight and Fourier::alone.
  lanes::Lanes<T>* eight(fft_work::Workspace<T>& space) const;
  void alone(const Complex* in, std::int64_t in_step, Complex* out, std::int64_t out_step,
             T scale) const;

  // Transforms real lines of odd length to their first n / 2 + 1 elements, and back. Complex rows
  // up to n1 / 2 are transformed, since element k is the conjugate of element n - k, and pairs of
  // real columns (real_pair.h). Back, the imaginary part of element 0 is ignored.
  lanes::Lanes<T>* eight_from_real(fft_work::Workspace<T>& space) const;
  lanes::Lanes<T>* eight_to_real(fft_work::Workspace<T>& space) const;
  void alone_from_real(const T* in, Complex* out, T scale) const;
  void alone_to_real(const Complex* in, T* out, T scale) const;

 private:
  // For real lines: the number of rows that are transformed, and of elements of a row in the first
  // half of the line.
  std::int64_t wanted_rows() const { return n1 / 2 + 1; }
  std::int64_t within_half(std::int64_t row) const { return (n1 * n2 / 2 - row) / n1 + 1; }

  // Pairs of columns, the same for any caller: column `first` + l with column `second` + l, l <
  // count, but `others` of them. A column left over goes with the last column.
  struct Pairs {
    std::int64_t first, second, count, others;
  };
  static constexpr std::int64_t paired = 2 * lanes::width;
  Pairs pairs_from(std::int64_t first) const {
    const std::int64_t columns = std::min(paired, n2 - first), count = (columns + 1) / 2;
    return {first, first + count, count, columns - count};
  }
  std::int64_t partner(const Pairs& pairs, std::int64_t l) const {
    return std::min(pairs.second + l, n2 - 1);
  }
};

}  // namespace shardax::kernels
