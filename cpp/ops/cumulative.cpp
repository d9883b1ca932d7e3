// ops/cumulative.cpp - running sums, products and extremes along an axis.
#include <cmath>
#include <limits>
#include <numbers>

#include "base/index.h"
#include "ir/core_ops.h"
#include "kernels/wide.h"
#include "ops/contiguous.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/lines.h"
#include "ops/sharding_rules/ambiguity.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

// ---- kernels: a running value, kept wider than the elements --------------------------------

using kernels::lift, kernels::lower, kernels::wrap_add, kernels::wrapping, kernels::Wide;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Sums of float32 run in double: a line of a million keeps its digits.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<Wide<T>, float>, double, Wide<T>>;

struct Sum {
  template <class T>
  using Accumulator = SumOf<T>;
  template <class A>
  static A combine(A a, A b) {
    return wrap_add(a, b);
  }
};
struct Product {
  template <class T>
  using Accumulator = Wide<T>;
  template <class A>
  static A combine(A a, A b) {
    if constexpr (std::is_arithmetic_v<A>) {
      return wrapping(a, b, [](auto x, auto y) { return x * y; });
    } else {
      return A(a.real() * b.real() - a.imag() * b.imag(),
               a.real() * b.imag() + a.imag() * b.real());
    }
  }
};
template <bool greatest>
struct Extreme {
  template <class T>
  using Accumulator = Wide<T>;
  template <class A>
  static A combine(A a, A b) {
    if constexpr (std::is_arithmetic_v<A>) {
      if (a != a) return a;
      return (greatest ? a > b : a < b) ? a : b;
    } else {
      const bool real = a.real() != b.real();
      const auto x = real ? a.real() : a.imag(), y = real ? b.real() : b.imag();
      return (greatest ? x >= y : x <= y) ? a : b;
    }
  }
};
// The imaginary part of a sum of complex numbers lies within (-pi, pi].
struct LogSumExp {
  template <class T>
  using Accumulator =
      std::conditional_t<std::is_same_v<T, std::complex<float>>, std::complex<double>, SumOf<T>>;
  template <class A>
  static A combine(A a, A b) {
    if constexpr (std::is_floating_point_v<A>) {
      if (a != a || b != b) return a + b;
      const A high = std::max(a, b), low = std::min(a, b);
      return high == low ? high + std::log(A(2)) : high + std::log1p(std::exp(low - high));
    } else if constexpr (is_complex_v<A>) {
      const A high = a.real() >= b.real() ? a : b, low = a.real() >= b.real() ? b : a;
      if (a != a || b != b) return a + b;
      // Zero adds nothing, nor does a number to an infinite one.
      if (low.real() == -infinity || (high.real() == infinity && low.real() < infinity))
        return high;
      const A ratio = std::exp(low - high);
      const auto re = ratio.real(), im = ratio.imag();
      constexpr auto pi = std::numbers::pi_v<typename A::value_type>;
      return {high.real() + std::log1p(2 * re + re * re + im * im) / 2,
              pi - within_turn(pi - high.imag() - std::atan2(im, 1 + re))};
    } else {
      return a;
    }
  }

 private:
  // In [0, 2 pi).
  template <class R>
  static R within_turn(R angle) {
    constexpr R turn = 2 * std::numbers::pi_v<R>;
    return angle >= 0 && angle < turn ? angle : angle - std::floor(angle / turn) * turn;
  }
};

// Rows of `width` neighbours, `inner` apart: each becomes itself combined with the one before.
template <class F, class T>
void run_columns(const T* from, T* to, std::int64_t n, std::int64_t inner, std::int64_t width,
                 bool reverse) {
  using A = typename F::template Accumulator<T>;
  constexpr std::int64_t block = 128;
  A running[block];
  for (std::int64_t start = 0; start < width; start += block) {
    const std::int64_t count = std::min(block, width - start);
    for (std::int64_t i = 0; i < n; ++i) {
      if (i % 64 == 63) runtime::poll();
      const std::int64_t row = (reverse ? n - 1 - i : i) * inner + start;
      for (std::int64_t c = 0; c < count; ++c) {
        const A x = static_cast<A>(lift(from[row + c]));
        running[c] = i == 0 ? x : F::combine(running[c], x);
        to[row + c] = lower<T>(running[c]);
      }
    }
  }
}

template <class F, class T>
typename F::template Accumulator<T> run_line(const T* from, T* to, std::int64_t n,
                                             std::int64_t step,
                                             const typename F::template Accumulator<T>* before) {
  using A = typename F::template Accumulator<T>;
  A running = static_cast<A>(lift(from[0]));
  if (before) running = F::combine(*before, running);
  to[0] = lower<T>(running);
  for (std::int64_t i = 1; i < n; ++i) {
    running = F::combine(running, static_cast<A>(lift(from[i * step])));
    to[i * step] = lower<T>(running);
  }
  return running;
}

// One long line: totals of chunks first, then each chunk from the total before it.
template <class F, class T>
void run_long_line(const T* from, T* to, std::int64_t n, bool reverse) {
  using A = typename F::template Accumulator<T>;
  constexpr std::int64_t chunk = 16384;
  const std::int64_t chunks = (n + chunk - 1) / chunk, step = reverse ? -1 : 1;
  const auto first = [&](std::int64_t c) { return reverse ? n - 1 - c * chunk : c * chunk; };
  std::vector<A> before(index(chunks));
  runtime::parallel_for(chunks - 1, [&](std::int64_t c) {
    const T* line = from + first(c);
    A total = static_cast<A>(lift(line[0]));
    for (std::int64_t i = 1; i < chunk; ++i)
      total = F::combine(total, static_cast<A>(lift(line[i * step])));
    before[index(c) + 1] = total;
  });
  for (std::size_t c = 2; c < before.size(); ++c) before[c] = F::combine(before[c - 1], before[c]);
  runtime::parallel_for(chunks, [&](std::int64_t c) {
    run_line<F>(from + first(c), to + first(c), std::min(chunk, n - c * chunk), step,
                c ? &before[index(c)] : nullptr);
  });
}

template <class F, class T>
void run_all(const Lines& lines, const T* from, T* to, bool reverse) {
  constexpr std::int64_t chunk = 32768;
  if (lines.inner > 1) {
    const std::int64_t width = std::min(lines.inner, std::max<std::int64_t>(128, chunk / lines.n));
    const std::int64_t parts = (lines.inner + width - 1) / width;
    runtime::parallel_for(lines.outer * parts, [&](std::int64_t task) {
      const std::int64_t at = task / parts * lines.n * lines.inner + task % parts * width;
      run_columns<F>(from + at, to + at, lines.n, lines.inner,
                     std::min(width, lines.inner - task % parts * width), reverse);
    });
  } else if (lines.n > 2 * chunk) {
    for (std::int64_t o = 0; o < lines.outer; ++o) {
      run_long_line<F>(from + o * lines.n, to + o * lines.n, lines.n, reverse);
    }
  } else {
    const std::int64_t each = std::max<std::int64_t>(1, chunk / lines.n);
    runtime::parallel_for((lines.outer + each - 1) / each, [&](std::int64_t task) {
      for (std::int64_t o = task * each; o < std::min(lines.outer, (task + 1) * each); ++o) {
        const std::int64_t at = o * lines.n + (reverse ? lines.n - 1 : 0);
        run_line<F>(from + at, to + at, lines.n, reverse ? -1 : 1, nullptr);
      }
    });
  }
}

// The type whose kernel T shares: sums and products of integers have the same bits with and without
// a sign.
template <class F, class T>
auto shared_type() {
  constexpr bool wraps = std::is_same_v<F, Sum> || std::is_same_v<F, Product>;
  if constexpr (wraps && std::is_integral_v<T>)
    return std::make_unsigned_t<T>{};
  else
    return T{};
}

template <class F>
Kernel running_kernel(const Types& in, const Types&, const Params& params) {
  return [empty = in[0].size() == 0, reverse = params.flag(param::reverse),
          lines = Lines(in[0].shape, params.integer(param::axis))](std::span<const View> views,
                                                                   std::span<const View> outs) {
    if (empty) return;
    const DenseInput input(views[0]);
    const DenseOutput output(outs[0]);
    visit_dtype(views[0].dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (!std::is_same_v<T, bool> && !is_opaque<T>) {
        using Shared = decltype(shared_type<F, T>());
        run_all<F>(lines, input.as<Shared>(), output.as<Shared>(), reverse);
      }
    });
    output.finish();
  };
}

// ---- rules ---------------------------------------------------------------------------------

Types running_type(const Op& op, const Types& in, const Params& params) {
  check_dtype(op, in[0].dtype);
  const std::int64_t axis = params.integer(param::axis);
  params.flag(param::reverse);
  if (axis < 0) value_error("XLA operations do not allow negative axes");
  if (axis >= static_cast<std::int64_t>(in[0].rank())) {
    value_error("axis ", axis, " is out of bounds for array of shape ", to_string(in[0].shape));
  }
  return {in[0]};
}

Batched running_batch(const BatchArgs& a) {
  return batched1(bind1(a.op, a.params.with("axis", a.params.integer(param::axis) + 1), a.in));
}

// `a` moved on by `distance` along the scanned axis, with `fill` coming in.
Value moved(const Value& a, const Params& params, std::int64_t distance, double fill) {
  Ints low(a->shape().size(), 0), high = low;
  const auto axis = index(params.integer(param::axis));
  const bool reverse = params.flag(param::reverse);
  low[axis] = reverse ? -distance : distance;
  high[axis] = -low[axis];
  return pad(a, scalar(a->dtype(), fill), low, high, Ints(low.size(), 0));
}

// Tangents of a running combination: value and tangent of runs of 1, 2, 4 ... elements that end at
// each place. join(v1, t1, v2, t2) gives value and tangent of two runs, of which the first may be
// missing: its value is `neutral` then.
template <class Join>
Value doubling_tangent(const JvpArgs& a, double neutral, Join join) {
  Value v = a.in[0], t = a.t[0];
  const std::int64_t n = v->shape()[index(a.params.integer(param::axis))];
  for (std::int64_t run = 1; run < n; run *= 2) {
    const auto [value, tangent] =
        join(moved(v, a.params, run, neutral), moved(t, a.params, run, 0), v, t);
    v = value;
    t = tangent;
  }
  return t;
}

using Dual = std::pair<Value, Value>;

Dual join_product(const Value& v1, const Value& t1, const Value& v2, const Value& t2) {
  return {mul(v1, v2), add(mul(t1, v2), mul(t2, v1))};
}

// Ties share the tangent, as max and min do.
template <bool greatest>
Dual join_extreme(const Value& v1, const Value& t1, const Value& v2, const Value& t2) {
  const Value v = greatest ? max(v1, v2) : min(v1, v2);
  const Value one = full_like(v, 1), half = full_like(v, 0.5), zero = full_like(v, 0);
  const auto share = [&](const Value& own, const Value& other) {
    return where(eq(own, v), where(eq(other, v), half, one), zero);
  };
  return {v, add(mul(t1, share(v1, v2)), mul(t2, share(v2, v1)))};
}

Dual join_logsumexp(const Value& v1, const Value& t1, const Value& v2, const Value& t2) {
  const Value high = max(v1, v2), low = min(v1, v2);
  const Value zero = full_like(high, 0);
  const auto exp_of = [&](const Value& x) { return unary("exp", x); };
  // Equal infinities have no difference.
  const Value gap = where(eq(high, low), zero, sub(low, high));
  const Value v = add(high, unary("log1p", exp_of(gap)));
  const auto share = [&](const Value& own) { return exp_of(where(eq(own, v), zero, sub(own, v))); };
  return {v, add(mul(t1, share(v1)), mul(t2, share(v2)))};
}

OpSpec running(OpSpec spec) {
  spec.type = running_type;
  spec.batch = running_batch;
  spec.half_native = true;
  spec.dims = [](const Params& params, const Types& in, const Type& out) {
    return dims_along({params.integer(param::axis)}, in, out, FactorUse::whole);
  };
  spec.check_split = check_split_cumulative;
  return spec;
}

const Op cumsum_op{
    running({.name = "cumsum",
             .operands = 1,
             .doc = "Running sum along `axis`, from the end where `reverse`.",
             .checks = makes_nan,
             .dtypes = numbers,
             .jvp = [](const JvpArgs& a) -> Values {
               return {bind1(core_ops().cumsum, a.params, {a.t[0]})};
             },
             .transpose = [](const TransposeArgs& a) -> Values {
               return {bind1(core_ops().cumsum,
                             a.params.with("reverse", !a.params.flag(param::reverse)), {a.ct[0]})};
             },
             .kernel = running_kernel<Sum>})};
const Op cumprod_op{running(
    {.name = "cumprod",
     .operands = 1,
     .doc = "Running product along `axis`, from the end where `reverse`.",
     .checks = makes_nan,
     .dtypes = numbers,
     .jvp = [](const JvpArgs& a) -> Values { return {doubling_tangent(a, 1, join_product)}; },
     .kernel = running_kernel<Product>})};
const Op cummax_op{running({.name = "cummax",
                            .operands = 1,
                            .doc = "Running maximum along `axis`; NaN stays.",
                            .checks = makes_nan,
                            .dtypes = numbers,
                            .jvp = [](const JvpArgs& a) -> Values {
                              return {doubling_tangent(a, -infinity, join_extreme<true>)};
                            },
                            .kernel = running_kernel<Extreme<true>>})};
const Op cummin_op{running({.name = "cummin",
                            .operands = 1,
                            .doc = "Running minimum along `axis`; NaN stays.",
                            .checks = makes_nan,
                            .dtypes = numbers,
                            .jvp = [](const JvpArgs& a) -> Values {
                              return {doubling_tangent(a, infinity, join_extreme<false>)};
                            },
                            .kernel = running_kernel<Extreme<false>>})};
const Op cumlogsumexp_op{running({.name = "cumlogsumexp",
                                  .operands = 1,
                                  .doc = "Running log of the sum of exponentials along `axis`.",
                                  .checks = makes_nan,
                                  .dtypes = inexacts,
                                  .jvp = [](const JvpArgs& a) -> Values {
                                    return {doubling_tangent(a, -infinity, join_logsumexp)};
                                  },
                                  .kernel = running_kernel<LogSumExp>})};

}  // namespace
}  // namespace shardax::ops
