// kernels/fft/four_step.cpp - lines as matrices: eight together, or one that fills the lanes alone.
#include "kernels/fft/four_step.h"

#include "kernels/aligned_buffer.h"
#include "kernels/fft/real_pair.h"

namespace shardax::kernels {
namespace {

using fft_work::by_groups;
using fft_work::Workspace;
using fft_work::workspace;
using lanes::gather;
using lanes::Lanes;
using lanes::scatter;
using lanes::width;

}  // namespace

template <class T>
Lanes<T>* Fourier<T>::Matrix::eight(Workspace<T>& space) const {
  Lanes<T>*a = space.a.data(), *b = space.b.data();
  for (std::int64_t j = 0; j < n2; ++j) {
    for (std::int64_t k = 0; k < n1; ++k) b[k] = a[j + k * n2];
    lanes::turn_by_line(columns.passes(b, b + n1), turns.of(j), j % width, a + j, n2, n1);
  }
  for (std::int64_t k1 = 0; k1 < n1; ++k1) {
    const Lanes<T>* row = rows.passes(a + k1 * n2, space.c.data());
    for (std::int64_t k2 = 0; k2 < n2; ++k2) b[k1 + k2 * n1] = row[k2];
  }
  return b;
}

template <class T>
void Fourier<T>::Matrix::alone(const Complex* in, std::int64_t in_step, Complex* out,
                               std::int64_t out_step, T scale) const {
  const AlignedBuffer<Complex> middle(n1 * n2);
  by_groups(n2, width, n1, [&](std::int64_t column) {
    const std::int64_t count = std::min(width, n2 - column);
    Workspace<T>& space = workspace<T>(n1);
    const Complex* from[width];
    Complex* to[width];
    const bool adjacent =
        fft_work::starts(from, column, count, [&](std::int64_t j) { return in + j * in_step; });
    fft_work::starts(to, column, count, [&](std::int64_t j) { return middle.data() + j; });
    gather(from, n2 * in_step, adjacent, n1, space.a.data());
    Lanes<T>* result = columns.passes(space.a.data(), space.b.data());
    turns.turn(result, column, n1);
    scatter(result, n1, T(1), to, n2, count == width, count);
  });
  by_groups(n1, width, n2, [&](std::int64_t row) {
    const std::int64_t count = std::min(width, n1 - row);
    Workspace<T>& space = workspace<T>(n2);
    const Complex* from[width];
    Complex* to[width];
    fft_work::starts(from, row, count, [&](std::int64_t k1) { return middle.data() + k1 * n2; });
    const bool adjacent =
        fft_work::starts(to, row, count, [&](std::int64_t k1) { return out + k1 * out_step; });
    gather(from, 1, false, n2, space.a.data());
    const Lanes<T>* result = rows.passes(space.a.data(), space.b.data());
    scatter(result, n2, scale, to, n1 * out_step, adjacent, count);
  });
}

template <class T>
Lanes<T>* Fourier<T>::Matrix::eight_from_real(Workspace<T>& space) const {
  Lanes<T>*a = space.a.data(), *b = space.b.data(), *c = space.c.data();
  const std::int64_t n = n1 * n2, wanted = wanted_rows();
  for (std::int64_t j = 0; j < n2; j += paired) {
    const Pairs pairs = pairs_from(j);
    for (std::int64_t l = pairs.count - 1; l >= 0; --l) {
      const std::int64_t one = pairs.first + l, other = partner(pairs, l);
      lanes::join(a + one, a + other, n2, n1, b);
      lanes::split(columns.passes(b, b + n1), n1, c, c + wanted);
      lanes::turn_by_line(c, turns.of(one), one % width, a + one, n2, wanted);
      if (pairs.second + l >= n2) continue;
      lanes::turn_by_line(c + wanted, turns.of(other), other % width, a + other, n2, wanted);
    }
  }
  for (std::int64_t k1 = 0; k1 < wanted; ++k1) {
    const Lanes<T>* row = rows.passes(a + k1 * n2, c);
    const std::int64_t first = within_half(k1);
    for (std::int64_t k2 = 0; k2 < first; ++k2) b[k1 + k2 * n1] = row[k2];
    if (k1 == 0) continue;
    for (std::int64_t k2 = first; k2 < n2; ++k2) lanes::conjugate(b[n - k1 - k2 * n1], row[k2]);
  }
  return b;
}

template <class T>
Lanes<T>* Fourier<T>::Matrix::eight_to_real(Workspace<T>& space) const {
  Lanes<T>*a = space.a.data(), *b = space.b.data(), *c = space.c.data();
  const std::int64_t n = n1 * n2, wanted = wanted_rows();
  a[0].make_real();
  for (std::int64_t k1 = 0; k1 < wanted; ++k1) {
    const std::int64_t first = within_half(k1);
    for (std::int64_t k2 = 0; k2 < first; ++k2) c[k2] = a[k1 + k2 * n1];
    for (std::int64_t k2 = first; k2 < n2; ++k2) lanes::conjugate(c[k2], a[n - k1 - k2 * n1]);
    const Lanes<T>* row = rows.passes(c, c + n2);
    for (std::int64_t j = 0; j < n2; ++j) b[k1 + j * wanted] = row[j];
  }
  Lanes<T>*x = c, *y = x + wanted, *z = y + wanted;
  for (std::int64_t j = 0; j < n2; j += paired) {
    const Pairs pairs = pairs_from(j);
    for (std::int64_t l = pairs.count - 1; l >= 0; --l) {
      const std::int64_t one = pairs.first + l, other = partner(pairs, l);
      lanes::turn_by_line(b + one * wanted, turns.of(one), one % width, x, 1, wanted);
      lanes::turn_by_line(b + other * wanted, turns.of(other), other % width, y, 1, wanted);
      lanes::merge(x, y, n1, z);
      lanes::part(columns.passes(z, z + n1), n1, a + one, a + other, n2);
    }
  }
  return a;
}

template <class T>
void Fourier<T>::Matrix::alone_from_real(const T* in, Complex* out, T scale) const {
  const std::int64_t n = n1 * n2, wanted = wanted_rows();
  const AlignedBuffer<Complex> middle(wanted * n2);
  by_groups(n2, paired, n1, [&](std::int64_t column) {
    const Pairs pairs = pairs_from(column);
    Workspace<T>& space = workspace<T>(n1 + 1);
    Lanes<T>*x = space.c.data(), *y = x + wanted;
    const T* from[width];
    Complex* to[width];
    bool adjacent = fft_work::starts(from, 0, pairs.count,
                                     [&](std::int64_t l) { return in + pairs.first + l; });
    gather(from, n2, adjacent, n1, space.a.data());
    adjacent = fft_work::starts(from, 0, pairs.count,
                                [&](std::int64_t l) { return in + partner(pairs, l); });
    gather<true>(from, n2, adjacent, n1, space.a.data());
    lanes::split(columns.passes(space.a.data(), space.b.data()), n1, x, y);
    const auto store = [&](Lanes<T>* columns, std::int64_t first, std::int64_t count) {
      if (count == 0) return;
      turns.turn(columns, first, wanted);
      fft_work::starts(to, first, count, [&](std::int64_t j) { return middle.data() + j; });
      scatter(columns, wanted, T(1), to, n2, count == width, count);
    };
    store(x, pairs.first, pairs.count);
    store(y, pairs.second, pairs.others);
  });
  by_groups(wanted, width, n2, [&](std::int64_t row) {
    const std::int64_t count = std::min(width, wanted - row), last = row + count - 1;
    Workspace<T>& space = workspace<T>(n2);
    const Complex* from[width];
    Complex* to[width];
    fft_work::starts(from, row, count, [&](std::int64_t k1) { return middle.data() + k1 * n2; });
    const bool adjacent =
        fft_work::starts(to, row, count, [&](std::int64_t k1) { return out + k1; });
    gather(from, 1, false, n2, space.a.data());
    Lanes<T>* result = rows.passes(space.a.data(), space.b.data());
    if (row == 0) result[0].set(0, result[0].of(0).real());
    // Elements of all eight rows within the first half, and beyond it.
    const std::int64_t within = within_half(last), beyond = within_half(row);
    scatter(result, within, scale, to, n1, adjacent, count);
    for (std::int64_t k2 = within; k2 < n2; ++k2) {
      if (k2 >= beyond && row > 0 && count == width) break;
      for (std::int64_t l = 0; l < count; ++l) {
        const std::int64_t k = row + l + n1 * k2;
        const Complex value = result[k2].of(l) * scale;
        if (k <= n / 2)
          out[k] = value;
        else if (row + l > 0)
          out[n - k] = std::conj(value);
      }
    }
    if (row == 0 || count < width) return;
    lanes::mirror(result + beyond, n2 - beyond);
    fft_work::starts(to, 0, width,
                     [&](std::int64_t l) { return out + (n - last + l - n1 * beyond); });
    scatter(result + beyond, n2 - beyond, scale, to, -n1, adjacent, count);
  });
}

template <class T>
void Fourier<T>::Matrix::alone_to_real(const Complex* in, T* out, T scale) const {
  const std::int64_t n = n1 * n2, wanted = wanted_rows();
  const AlignedBuffer<Complex> middle(wanted * n2);
  by_groups(wanted, width, n2, [&](std::int64_t row) {
    const std::int64_t count = std::min(width, wanted - row), last = row + count - 1;
    const std::int64_t within = within_half(last), beyond = within_half(row);
    Workspace<T>& space = workspace<T>(n2);
    Lanes<T>* x = space.a.data();
    const Complex* from[width];
    Complex* to[width];
    const bool adjacent =
        fft_work::starts(from, row, count, [&](std::int64_t k1) { return in + k1; });
    fft_work::starts(to, row, count, [&](std::int64_t k1) { return middle.data() + k1 * n2; });
    gather(from, n1, adjacent, within, x);
    if (row == 0) x[0].set(0, in[0].real());
    for (std::int64_t k2 = within; k2 < (adjacent ? beyond : n2); ++k2) {
      for (std::int64_t l = 0; l < width; ++l) {
        const std::int64_t k = std::min(row + l, last) + n1 * k2;
        x[k2].set(l, k <= n / 2 ? in[k] : std::conj(in[n - k]));
      }
    }
    if (adjacent) {
      fft_work::starts(from, 0, width,
                       [&](std::int64_t l) { return in + (n - last + l - n1 * beyond); });
      gather(from, -n1, true, n2 - beyond, x + beyond);
      lanes::mirror(x + beyond, n2 - beyond);
    }
    scatter(rows.passes(x, space.b.data()), n2, T(1), to, 1, false, count);
  });
  by_groups(n2, paired, n1, [&](std::int64_t column) {
    const Pairs pairs = pairs_from(column);
    Workspace<T>& space = workspace<T>(n1 + 1);
    Lanes<T>*x = space.c.data(), *y = x + wanted;
    const Complex* from[width];
    T* to[width];
    const auto load = [&](Lanes<T>* columns, std::int64_t first, std::int64_t count) {
      const bool adjacent =
          fft_work::starts(from, first, count, [&](std::int64_t j) { return middle.data() + j; });
      gather(from, n2, adjacent, wanted, columns);
      turns.turn(columns, first, wanted);
    };
    load(x, pairs.first, pairs.count);
    load(y, pairs.second, pairs.others);
    lanes::merge(x, y, n1, space.a.data());
    const Lanes<T>* result = columns.passes(space.a.data(), space.b.data());
    bool adjacent =
        fft_work::starts(to, pairs.first, pairs.count, [&](std::int64_t j) { return out + j; });
    scatter(result, n1, scale, to, n2, adjacent, pairs.count);
    if (pairs.others == 0) return;
    adjacent =
        fft_work::starts(to, pairs.second, pairs.others, [&](std::int64_t j) { return out + j; });
    scatter<true>(result, n1, scale, to, n2, adjacent, pairs.others);
  });
}

template struct Fourier<float>::Matrix;
template struct Fourier<double>::Matrix;

}  // namespace shardax::kernels
