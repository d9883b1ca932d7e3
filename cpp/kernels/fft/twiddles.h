// kernels/fft/twiddles.h - the factors between the columns and the rows of a line as a matrix.
#pragma once

#include "base/index.h"
#include "kernels/fft/fft.h"

namespace shardax::kernels {

// w^(line k), w = exp(-+2 pi i / (lines * elements)), for eight lines at a time and each of their
// elements k.
template <class T>
class Turns {
 public:
  Turns(std::int64_t lines, std::int64_t elements, bool inverse)
      : lines_(lines), elements_(elements) {
    const std::int64_t n = lines * elements;
    while (few_ * few_ < n) few_ *= 2;
    const auto power = [&](std::int64_t k) {
      const std::complex<double> w = root_of_unity(k % n, n);
      return inverse ? w : std::conj(w);
    };
    for (std::int64_t k = 0; k < few_; ++k) low_.push_back(power(k));
    for (std::int64_t k = 0; k * few_ < n; ++k) high_.push_back(power(k * few_));
    if (n > fft_work::longest_task) return;  // all are kept of shorter ones: 1 MB of doubles
    for (std::int64_t line = 0; line < lines; line += lanes::width) {
      for (std::int64_t k = 0; k < elements; ++k) {
        if (k % 64 == 63) runtime::poll_caller();
        kept_.push_back(powers(line, k));
      }
    }
  }

  // The first `some` elements of eight lines from `first` on (the last one again where there are
  // fewer), times their factors.
  void turn(lanes::Lanes<T>* x, std::int64_t first, std::int64_t some) const {
    if (kept_.empty()) return turn_in_blocks(x, first, some);
    const lanes::Lanes<T>* none = nullptr;
    if (first % lanes::width == 0) return lanes::turn_by<T>(x, of(first), none, some);
    for (std::int64_t k = 0; k < some; ++k) {
      const lanes::Lanes<T> factors = powers(first, k);
      lanes::turn_by<T>(x + k, &factors, none, 1);
    }
  }

  // The factors of the eight lines that `line` is one of, if all are kept.
  const lanes::Lanes<T>* of(std::int64_t line) const {
    return kept_.data() + line / lanes::width * elements_;
  }

 private:
  // w^(line k) = w^(line (k mod 32)) w^(line 32 (k / 32)).
  void turn_in_blocks(lanes::Lanes<T>* x, std::int64_t first, std::int64_t some) const {
    constexpr std::int64_t block = 32;
    lanes::Lanes<T> near[block];
    for (std::int64_t k = 0; k < std::min(block, some); ++k) near[k] = powers(first, k);
    for (std::int64_t high = 0; high < some; high += block) {
      const lanes::Lanes<T> far = powers(first, high);
      lanes::turn_by<T>(x + high, near, &far, std::min(block, some - high));
    }
  }
  lanes::Lanes<T> powers(std::int64_t first, std::int64_t k) const {
    lanes::Lanes<T> out;
    for (std::int64_t l = 0; l < lanes::width; ++l) {
      const std::complex<double> value = power(std::min(first + l, lines_ - 1) * k);
      out.set(l, {static_cast<T>(value.real()), static_cast<T>(value.imag())});
    }
    return out;
  }
  std::complex<double> power(std::int64_t k) const {
    const std::complex<double> a = low_[index(k & (few_ - 1))];
    const std::complex<double> b = high_[index(k / few_)];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

  std::int64_t lines_, elements_, few_ = 1;
  std::vector<std::complex<double>> low_, high_;  // w^k and w^(few k)
  std::vector<lanes::Lanes<T>> kept_;             // of each eight lines, by element
};

}  // namespace shardax::kernels
