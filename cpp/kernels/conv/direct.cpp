// kernels/conv/direct.cpp - convolutions of any dtype and rank, a row of the result at a
// time.
#include <algorithm>
#include <complex>
#include <type_traits>

#include "array/half.h"
#include "kernels/conv/convolution.h"
#include "kernels/tiles/dispatch.h"
#include "kernels/tiles/reduce_window.h"
#include "runtime/interrupt.h"

namespace shardax::kernels {
namespace {

Meeting meeting_of(const ConvSpace& s, std::int64_t w) {
  return meeting(
      {s.lhs_size, s.rhs_size, s.out_size, s.stride, s.low, s.lhs_dilation, s.rhs_dilation}, w);
}

// out[i * step] += in[i * from_step] * factor
template <class S, class A>
void add_products(A* out, std::int64_t step, const S* in, std::int64_t from_step, std::int64_t n,
                  A factor) {
  dispatch([=] {
    const auto one = [&](A& sum, S x) {
      if constexpr (std::is_same_v<S, bool>) {
        sum = static_cast<A>(sum | (static_cast<A>(x) & factor));
      } else if constexpr (std::is_same_v<S, bfloat16_t> || std::is_same_v<S, float16_t>) {
        sum += static_cast<A>(to_float(x)) * factor;
      } else if constexpr (std::is_integral_v<S>) {
        using Wide = std::common_type_t<A, unsigned>;
        sum = static_cast<A>(sum + static_cast<Wide>(static_cast<A>(x)) * factor);
      } else if constexpr (std::is_floating_point_v<S>) {
        sum += static_cast<A>(x) * factor;
      } else {
        using R = typename A::value_type;
        const R re = static_cast<R>(x.real()), im = static_cast<R>(x.imag());
        sum = {sum.real() + re * factor.real() - im * factor.imag(),
               sum.imag() + re * factor.imag() + im * factor.real()};
      }
    };
    if (step == 1 && from_step == 1) {
      for (std::int64_t i = 0; i < n; ++i) one(out[i], in[i]);
    } else {
      for (std::int64_t i = 0; i < n; ++i) one(out[i * step], in[i * from_step]);
    }
  });
}

template <class S, class A>
A widened(S x) {
  if constexpr (std::is_same_v<S, bfloat16_t> || std::is_same_v<S, float16_t>) {
    return static_cast<A>(to_float(x));
  } else {
    return static_cast<A>(x);
  }
}
template <class Out, class A>
Out narrowed(A x) {
  if constexpr (std::is_same_v<Out, bfloat16_t>) {
    return to_bfloat16(static_cast<float>(x));
  } else if constexpr (std::is_same_v<Out, float16_t>) {
    return to_float16(static_cast<float>(x));
  } else {
    return static_cast<Out>(x);
  }
}

template <class S, class A, class Out>
class Direct {
 public:
  explicit Direct(const ConvArgs& p) : p_(p) {
    if (p_.space.empty()) p_.space.push_back({1, 1, 1, 0, 0, 0});
    last_ = p_.space.size() - 1;
    for (std::size_t d = 0; d < last_; ++d) rows_ *= p_.space[d].out_size;
    batch_ = batch_size(p_);
  }

  void run(ParallelFor parallel_for) const {
    double taps = static_cast<double>(p_.c.size);
    for (const ConvSpace& s : p_.space) taps *= static_cast<double>(s.rhs_size);
    const double each = taps * static_cast<double>(p_.space[last_].out_size) * sizeof(A) / 8 + 100;
    const auto body = [&](std::int64_t i) { row(i); };
    run_chunks(batch_ * p_.n.size * p_.o.size * rows_, each, parallel_for, body);
  }

 private:
  static constexpr std::int64_t width = 256;

  void row(std::int64_t index) const {
    Shape at(last_, 0);
    std::int64_t out = 0, lhs = 0, rhs = 0;
    for (std::size_t d = last_; d-- > 0;) {
      at[d] = index % p_.space[d].out_size;
      index /= p_.space[d].out_size;
      out += at[d] * p_.space[d].out;
    }
    const std::int64_t o = index % p_.o.size, n = index / p_.o.size % p_.n.size;
    std::int64_t b = index / p_.o.size / p_.n.size;
    for (std::size_t d = p_.batch.size(); d-- > 0; b /= p_.batch[d].size) {
      const std::int64_t i = b % p_.batch[d].size;
      lhs += i * p_.batch[d].lhs, rhs += i * p_.batch[d].rhs, out += i * p_.batch[d].out;
    }
    lhs += n * p_.n.lhs;
    rhs += o * p_.o.rhs;
    out += n * p_.n.out + o * p_.o.out;
    const ConvSpace& x = p_.space[last_];
    for (std::int64_t from = 0; from < x.out_size; from += width) {
      A sum[width] = {};
      const std::int64_t count = std::min(width, x.out_size - from);
      for (std::int64_t c = 0; c < p_.c.size; ++c) {
        runtime::poll();
        outer(0, at, lhs + c * p_.c.lhs, rhs + c * p_.c.rhs, from, count, sum);
      }
      Out* to = reinterpret_cast<Out*>(p_.out) + out + from * x.out;
      for (std::int64_t i = 0; i < count; ++i) to[i * x.out] = narrowed<Out>(sum[i]);
    }
  }

  // The taps of dimensions from d on, in row-major order.
  void outer(std::size_t d, const Shape& at, std::int64_t lhs, std::int64_t rhs, std::int64_t from,
             std::int64_t count, A* sum) const {
    const ConvSpace& s = p_.space[d];
    const S* a = reinterpret_cast<const S*>(p_.lhs) + lhs;
    const S* b = reinterpret_cast<const S*>(p_.rhs) + rhs;
    for (std::int64_t w = 0; w < s.rhs_size; ++w) {
      if (d < last_) {
        const std::int64_t place = at[d] * s.stride + w * s.rhs_dilation - s.low;
        const std::int64_t i = place / s.lhs_dilation;
        if (place < 0 || place % s.lhs_dilation != 0 || i >= s.lhs_size) continue;
        outer(d + 1, at, lhs + i * s.lhs, rhs + w * s.rhs, from, count, sum);
        continue;
      }
      const Meeting m = meeting_of(s, w);
      const std::int64_t skipped = m.first < from ? (from - m.first + m.step - 1) / m.step : 0;
      const std::int64_t first = m.first + skipped * m.step;
      if (skipped >= m.count || first >= from + count) continue;
      const std::int64_t n = std::min(m.count - skipped, (from + count - 1 - first) / m.step + 1);
      add_products<S, A>(sum + first - from, m.step, a + (m.from + skipped * m.from_step) * s.lhs,
                         m.from_step * s.lhs, n, widened<S, A>(b[w * s.rhs]));
    }
  }

  ConvArgs p_;
  std::size_t last_;
  std::int64_t rows_ = 1, batch_;
};

template <class T>
constexpr bool is_number =
    std::is_arithmetic_v<T> || std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t> ||
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <class T>
constexpr int kind_of = std::is_same_v<T, bool>   ? 0
                        : std::is_integral_v<T>   ? 1
                        : std::is_arithmetic_v<T> ? 2
                        : sizeof(T) == 2          ? 2
                                                  : 3;

// An integer without its sign.
template <class T>
auto unsigned_of(T x) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return std::make_unsigned_t<T>{};
  else
    return x;
}

// The type in which an Out is added up.
template <class Out>
auto accumulator() {
  if constexpr (std::is_same_v<Out, bool>) {
    return std::uint8_t{};
  } else if constexpr (!std::is_integral_v<Out> && sizeof(Out) == 2) {
    return float{};
  } else {
    return Out{};
  }
}

}  // namespace

void convolution_direct(const ConvArgs& p, ParallelFor parallel_for) {
  visit_dtype(p.dtype, [&](auto in) {
    visit_dtype(p.out_dtype, [&](auto out) {
      using Out = decltype(unsigned_of(out));
      // An integer's sign decides its value in more bits.
      using S =
          std::conditional_t<sizeof(in) == sizeof(out), decltype(unsigned_of(in)), decltype(in)>;
      if constexpr (is_number<S> && is_number<Out>) {
        if constexpr (kind_of<S> == kind_of<Out> && (sizeof(Out) >= sizeof(S) || kind_of<S> == 2)) {
          Direct<S, decltype(accumulator<Out>()), Out>(p).run(parallel_for);
        }
      }
    });
  });
}

}  // namespace shardax::kernels
