// kernels/fft.h - the discrete Fourier transform of one line of any length.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace shardax::kernels {

using Complex = std::complex<double>;

// The transform of lines of n elements: out_k = sum over j of in_j exp(-2 pi i j k / n), unscaled;
// `inverse`: exp(+2 pi i j k / n). Lengths with small prime factors take n log n steps by Cooley
// and Tukey's method, others a convolution of a length that has (Bluestein). Doubles, error of some
// 1e-16 sqrt(log n). Immutable once made: any thread may use it.
class FourierPlan {
 public:
  FourierPlan(std::int64_t n, bool inverse);
  ~FourierPlan();
  FourierPlan(FourierPlan&&) noexcept;

  std::int64_t size() const { return n_; }
  // Replaces n elements, `stride` apart, by their transform. `scratch` is resized as needed.
  void run(Complex* line, std::int64_t stride, std::vector<Complex>& scratch) const;

 private:
  struct Bluestein;
  // How `factor` transforms of `size` elements become one of factor * size.
  struct Level {
    std::int64_t factor, size;
    std::vector<Complex> twiddles;  // [r - 1][k]: w^(r k), w = exp(-+2 pi i / (factor size))
    std::vector<Complex> roots;     // exp(-+2 pi i q / factor)
  };

  void factored(std::size_t level, const Complex* in, std::int64_t stride, Complex* out) const;
  void combine(const Level& level, Complex* out) const;
  void combine_stretch(const Level& level, Complex* out, std::int64_t from, std::int64_t to) const;
  void combine_any(const Level& level, Complex* out, std::int64_t k) const;
  void convolved(Complex* line, std::int64_t stride, std::vector<Complex>& scratch) const;

  std::int64_t n_;
  bool inverse_;
  std::vector<Level> levels_;
  std::unique_ptr<Bluestein> bluestein_;
};

}  // namespace shardax::kernels
