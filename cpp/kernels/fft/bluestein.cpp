// kernels/fft/bluestein.cpp - Bluestein's transforms, eight lines at a time or one alone.
#include "kernels/fft/bluestein.h"

#include <array>
#include <limits>

#include "base/index.h"
#include "kernels/aligned_buffer.h"

namespace shardax::kernels {
namespace {

using fft_work::by_groups;
using fft_work::Workspace;
using fft_work::workspace;
using lanes::gather;
using lanes::Lanes;
using lanes::Root;
using lanes::scatter;
using lanes::turn_by_line;
using lanes::turn_by_roots;
using lanes::width;

// Operations of a pass by its factor, an element: loads and stores, twiddles, additions.
double cost_of(std::int64_t n) {
  double cost = 0;
  for (; n % 8 == 0; n /= 8) cost += 16;
  for (; n % 4 == 0; n /= 4) cost += 12;
  for (; n % 2 == 0; n /= 2) cost += 9;
  for (; n % 3 == 0; n /= 3) cost += 13;
  for (; n % 5 == 0; n /= 5) cost += 18;
  return n == 1 ? cost : std::numeric_limits<double>::infinity();
}

template <class T>
std::complex<T> times(std::complex<T> a, Root<T> w) {
  return {a.real() * w.re - a.imag() * w.im, a.real() * w.im + a.imag() * w.re};
}

// The starts of eight lines that lie `step` apart.
template <class T>
std::array<std::complex<T>*, width> starts(std::complex<T>* data, std::int64_t step) {
  std::array<std::complex<T>*, width> out;
  for (std::int64_t l = 0; l < width; ++l) out[index(l)] = data + l * step;
  return out;
}

}  // namespace

template <class T>
typename FourierConvolution<T>::Size FourierConvolution<T>::size_for(std::int64_t least) {
  Size best{};
  double best_cost = std::numeric_limits<double>::infinity();
  const std::int64_t blocks = (least + width * width - 1) / (width * width);
  for (std::int64_t size = blocks; size < 2 * blocks + 2; ++size) {
    if (cost_of(size) > best_cost / static_cast<double>(size)) continue;
    const std::int64_t rows = middle_divisor(size);
    const Size found{rows * width, size / rows * width};
    const double cost = static_cast<double>(size) * (cost_of(found.rows) + cost_of(found.columns));
    if (cost < best_cost) best_cost = cost, best = found;
  }
  return best;
}

template <class T>
FourierConvolution<T>::FourierConvolution(std::int64_t n, bool inverse)
    : FourierConvolution(n, inverse, size_for(2 * n - 1)) {}

template <class T>
FourierConvolution<T>::FourierConvolution(std::int64_t n, bool inverse, Size size)
    : n_(n),
      rows_(size.rows),
      columns_(size.columns),
      down_(rows_, false, true),
      along_(columns_, false, true),
      back_along_(columns_, true, true),
      back_up_(rows_, true, true),
      turns_(columns_, rows_, false),
      back_turns_(rows_, columns_, true) {
  const std::int64_t length = rows_ * columns_;
  std::vector<std::complex<double>> c(index(length));
  for (std::int64_t j = 0; j < n; ++j) {
    if (j % 256 == 255) runtime::poll_caller();
    // j^2 mod 2 n in 128 bits.
    const auto square = static_cast<std::int64_t>(static_cast<unsigned __int128>(j) *
                                                  static_cast<unsigned __int128>(j) %
                                                  static_cast<unsigned __int128>(2 * n));
    std::complex<double> w = root_of_unity(square, 2 * n);
    if (!inverse) w = std::conj(w);
    chirp_.push_back({static_cast<T>(w.real()), static_cast<T>(w.imag())});
    const std::complex<double> value = std::conj(w) / static_cast<double>(length);
    c[index(j)] = value;
    if (j > 0) c[index(length - j)] = value;
  }
  const Lines<const std::complex<double>> in{c.data(), 1, 1, 1, 1, 0};
  Fourier<double>(length, false).run(in, {c.data(), 1, 1, 1, 1, 0}, 1);
  for (std::int64_t row = 0; row < rows_; row += width) {
    for (std::int64_t column = 0; column < columns_; ++column) {
      Lanes<T>& eight = spectrum_.emplace_back();
      for (std::int64_t l = 0; l < width; ++l) {
        eight.set(l, Complex(c[index(row + l + rows_ * column)]));
      }
    }
  }
}

// The room for eight lines: the convolution's elements, then two columns or rows.
template <class T>
std::int64_t FourierConvolution<T>::room() const {
  return rows_ * columns_ + 2 * std::max(rows_, columns_);
}

template <class T>
void FourierConvolution<T>::transform(Lanes<T>* lines, std::int64_t wanted) const {
  Lanes<T>*a = lines + rows_ * columns_, *b = a + std::max(rows_, columns_);
  for (std::int64_t j = 0; j < columns_; ++j) {
    const std::int64_t used = std::max<std::int64_t>(0, (n_ - j + columns_ - 1) / columns_);
    turn_by_roots(lines + j, columns_, chirp_.data() + j, columns_, a, 1, used);
    std::fill(a + used, a + rows_, Lanes<T>{});
    turn_by_line(down_.passes(a, b), turns_.of(j), j % width, lines + j, columns_, rows_);
  }
  for (std::int64_t k = 0; k < rows_; ++k) {
    Lanes<T>* row = lines + k * columns_;
    Lanes<T>* spectrum = along_.passes(row, b);
    turn_by_line(spectrum, spectrum_.data() + k / width * columns_, k % width, a, 1, columns_);
    turn_by_line(back_along_.passes(a, b), back_turns_.of(k), k % width, row, 1, columns_);
  }
  for (std::int64_t j = 0; j < std::min(columns_, wanted); ++j) {
    const std::int64_t used = (wanted - j + columns_ - 1) / columns_;
    for (std::int64_t k = 0; k < rows_; ++k) a[k] = lines[j + k * columns_];
    turn_by_roots(back_up_.passes(a, b), 1, chirp_.data() + j, columns_, lines + j, columns_, used);
  }
}

template <class T>
void FourierConvolution<T>::transform(Lanes<T>* x) const {
  const AlignedBuffer<Lanes<T>> lines(room());
  std::copy(x, x + n_, lines.data());
  transform(lines.data(), n_);
  std::copy(lines.data(), lines.data() + n_, x);
}

template <class T>
template <class E>
void FourierConvolution<T>::eight(const E* const* in, std::int64_t in_step, Complex* const* out,
                                  std::int64_t out_step, std::int64_t count, std::int64_t wanted,
                                  T scale) const {
  const AlignedBuffer<Lanes<T>> lines(room());
  gather(in, in_step, false, n_, lines.data());
  transform(lines.data(), wanted);
  scatter(lines.data(), wanted, scale, out, out_step, false, count);
}

template <class T>
template <class E>
void FourierConvolution<T>::alone(const E* in, std::int64_t in_step, Complex* out,
                                  std::int64_t out_step, std::int64_t wanted, T scale) const {
  const AlignedBuffer<Complex> line(rows_ * columns_);
  for (std::int64_t j = 0; j < n_; ++j) {
    line[j] = times(Complex(in[j * in_step]), chirp_[index(j)]);
  }
  std::fill(line.data() + n_, line.data() + line.size(), Complex(0));
  by_groups(columns_, width, rows_, [&](std::int64_t first) {
    Workspace<T>& space = workspace<T>(rows_);
    const auto at = starts(line.data() + first, 1);
    gather(at.data(), columns_, true, rows_, space.a.data());
    Lanes<T>* columns = down_.passes(space.a.data(), space.b.data());
    turns_.turn(columns, first, rows_);
    scatter(columns, rows_, T(1), at.data(), columns_, true, width);
  });
  by_groups(rows_, width, columns_, [&](std::int64_t first) {
    Workspace<T>& space = workspace<T>(columns_);
    Lanes<T>*a = space.a.data(), *b = space.b.data();
    const auto at = starts(line.data() + first * columns_, columns_);
    gather(at.data(), 1, false, columns_, a);
    Lanes<T>* rows = along_.passes(a, b);
    const Lanes<T>* none = nullptr;
    lanes::turn_by<T>(rows, spectrum_.data() + first / width * columns_, none, columns_);
    Lanes<T>* back = back_along_.passes(rows, rows == a ? b : a);
    back_turns_.turn(back, first, columns_);
    scatter(back, columns_, T(1), at.data(), 1, false, width);
  });
  by_groups(columns_, width, rows_, [&](std::int64_t first) {
    Workspace<T>& space = workspace<T>(rows_);
    const auto at = starts(line.data() + first, 1);
    gather(at.data(), columns_, true, rows_, space.a.data());
    const Lanes<T>* columns = back_up_.passes(space.a.data(), space.b.data());
    scatter(columns, rows_, T(1), at.data(), columns_, true, width);
  });
  for (std::int64_t k = 0; k < wanted; ++k) {
    out[k * out_step] = times(line[k], chirp_[index(k)]) * scale;
  }
}

template <class T>
template <class E>
void FourierConvolution<T>::run(const Lines<const E>& in, const Lines<Complex>& out,
                                std::int64_t wanted, T scale) const {
  const std::int64_t length = rows_ * columns_;
  fft_work::over_lines(
      in.count, length, fft_work::road_of<T>(length),
      [&](std::int64_t i) {
        alone(in.data + in.start(i), in.step, out.data + out.start(i), out.step, wanted, scale);
      },
      [&](std::int64_t first, std::int64_t count) {
        const E* from[width];
        Complex* to[width];
        in.starts(first, count, from);
        out.starts(first, count, to);
        eight(from, in.step, to, out.step, count, wanted, scale);
      });
}

template class FourierConvolution<float>;
template class FourierConvolution<double>;
#define SHARDAX_RUN(T, E)                      \
  template void FourierConvolution<T>::run<E>( \
      const Lines<const E>&, const Lines<std::complex<T>>&, std::int64_t, T) const;
SHARDAX_RUN(float, float)
SHARDAX_RUN(float, std::complex<float>)
SHARDAX_RUN(double, double)
SHARDAX_RUN(double, std::complex<double>)
#undef SHARDAX_RUN

}  // namespace shardax::kernels
