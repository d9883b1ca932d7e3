// ops/reduce.cpp - reductions along axes.
#include <complex>
#include <concepts>
#include <limits>
#include <type_traits>

#include "base/index.h"
#include "ir/core_ops.h"
#include "kernels/tiles/extremum.h"
#include "kernels/tiles/reduce_loops.h"
#include "kernels/wide.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/sharding_rules/spmd_partition_rules.h"
#include "ops/sharding_rules/unreduced_rules.h"

namespace shardax::ops {
namespace {

Shape reduced(const Shape& shape, const Ints& axes) {
  Shape out;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) == axes.end()) {
      out.push_back(shape[d]);
    }
  }
  return out;
}

Types reduce_type(const Op& op, const Types& in, const Params& params) {
  check_dtype(op, in[0].dtype);
  const Ints& axes = params.ints(param::axes);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= static_cast<std::int64_t>(in[0].rank()) ||
        (i > 0 && axes[i] <= axes[i - 1])) {
      value_error(op.name, ": axes ", to_string(axes), " must be distinct, sorted and within rank ",
                  in[0].rank(), " of shape ", to_string(in[0].shape), ".");
    }
  }
  return {with_shape(in[0], reduced(in[0].shape, axes))};
}

Batched reduce_batch(const BatchArgs& a) {
  Ints axes;
  for (std::int64_t d : a.params.ints(param::axes)) axes.push_back(d + 1);
  return batched1(bind1(a.op, a.params.with("axes", axes), a.in));
}

// The reduced value repeated over the dimensions that were reduced.
Value spread_back(const Value& value, const Shape& shape, const Ints& axes,
                  const ShardingPtr& asked = nullptr) {
  Ints kept;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(shape.size()); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) kept.push_back(d);
  }
  return broadcast_in_dim(value, shape, kept, asked);
}

// The tangent of a maximum is the mean of the tangents where it is attained.
Values jvp_chooser(const JvpArgs& a) {
  const Ints& axes = a.params.ints(param::axes);
  const Value hit = eq(a.in[0], spread_back(a.out[0], a.in[0]->shape(), axes));
  const Value mask = convert(hit, a.in[0]->dtype());
  return {div(reduce_sum(mul(a.t[0], mask), axes), reduce_sum(mask, axes))};
}

// d prod = sum_i t_i * prod_{j != i} x_j, by products of the factors before and behind: correct
// where factors are zero.
Values jvp_prod(const JvpArgs& a) {
  const Ints& axes = a.params.ints(param::axes);
  const Shape& shape = a.in[0]->shape();
  Ints order;
  std::int64_t n = 1;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(shape.size()); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) order.push_back(d);
  }
  Shape flat = reduced(shape, axes);
  for (std::int64_t d : axes) {
    order.push_back(d);
    n *= shape[index(d)];
  }
  flat.push_back(n);
  const auto last = static_cast<std::int64_t>(flat.size()) - 1;
  const Value x = reshape(transpose(a.in[0], order), flat);
  const Value t = reshape(transpose(a.t[0], order), flat);
  const Value one = scalar(x->dtype(), 1);
  Ints zero(flat.size(), 0), shift(flat.size(), 0);
  shift[flat.size() - 1] = 1;
  Ints back(flat.size(), 0);
  back[flat.size() - 1] = -1;
  const auto cumprod = [&](const Value& v, bool reverse) {
    return bind1(core_ops().cumprod, {{"axis", last}, {"reverse", reverse}}, {v});
  };
  const Value before = cumprod(pad(x, one, shift, back, zero), false);
  const Value behind = cumprod(pad(x, one, back, shift, zero), true);
  return {reduce_sum(mul(t, mul(before, behind)), {last})};
}

// ---- what reductions compute --------------------------------------------------------------------

template <class T>
T wrap_mul(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else if constexpr (is_complex_v<T>) {
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return a * b;
  }
}

struct Sum {
  template <class T>
  static T combine(T a, T b) {
    return kernels::wrap_add(a, b);
  }
  template <class V>
  [[gnu::always_inline]] static void join(V& a, const V& b) {
    a += b;
  }
  template <class T>
  static T identity() {
    return T(0);
  }
};

struct Product {
  template <class T>
  static T combine(T a, T b) {
    return wrap_mul(a, b);
  }
  template <class V>
  [[gnu::always_inline]] static void join(V& a, const V& b) {
    a *= b;
  }
  template <class T>
  static T identity() {
    return T(1);
  }
};

struct All {
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(a & b);
  }
  template <class V>
  [[gnu::always_inline]] static void join(V& a, const V& b) {
    a &= b;
  }
  template <class T>
  static T identity() {
    if constexpr (std::is_same_v<T, bool>) {
      return true;
    } else {
      return static_cast<T>(~T(0));
    }
  }
  // Truth values are bytes of 0 and 1.
  static bool row(const bool* x, std::int64_t n) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(x);
    std::uint8_t all = 1;
    for (std::int64_t i = 0; i < n; ++i) all &= bytes[i];
    return all != 0;
  }
};

struct Any {
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(a | b);
  }
  template <class V>
  [[gnu::always_inline]] static void join(V& a, const V& b) {
    a |= b;
  }
  template <class T>
  static T identity() {
    return T(0);
  }
  static bool row(const bool* x, std::int64_t n) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(x);
    std::uint8_t any = 0;
    for (std::int64_t i = 0; i < n; ++i) any |= bytes[i];
    return any != 0;
  }
};

// The type whose loops T shares: but for the larger of two, integers give the same bits with and
// without signs.
template <class R, class T>
auto shared_loops() {
  constexpr bool signs =
      std::is_same_v<R, kernels::Extreme<true>> || std::is_same_v<R, kernels::Extreme<false>>;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && !signs) {
    return std::make_unsigned_t<T>{};
  } else {
    return T{};
  }
}

// The largest truth value says whether any is true, the smallest whether all are.
template <class R, class T>
struct LoopsOf {
  using type = R;
};
template <>
struct LoopsOf<kernels::Extreme<true>, bool> {
  using type = Any;
};
template <>
struct LoopsOf<kernels::Extreme<false>, bool> {
  using type = All;
};

// The loops for the dtypes in `set`. Sums of float32 accumulate in double between tiles.
template <class R, DTypeSet set>
kernels::ReduceKernels loops(DType dtype) {
  kernels::ReduceKernels found{};
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kernels::is_computed<T> && (set & bit(kernels::dtype_of<T>)) != 0) {
      constexpr bool wide = std::is_same_v<R, Sum> && std::is_same_v<T, float>;
      using Shared = decltype(shared_loops<R, T>());
      using Loops = typename LoopsOf<R, T>::type;
      found = kernels::reduce_kernels<Loops, Shared, std::conditional_t<wide, double, Shared>>();
      if constexpr (!wide) found.accumulator = dtype;
    }
  });
  return found;
}

OpSpec reduction(OpSpec spec) {
  spec.kind = Kind::reduction;
  spec.type = reduce_type;
  spec.batch = reduce_batch;
  spec.dims = dims_reduced;
  return spec;
}

const Op sum_op{
    reduction({.name = "reduce_sum",
               .operands = 1,
               .doc = "Sum over axes; 16-bit floats are summed in float32.",
               .checks = makes_nan,
               .dtypes = numbers,
               .jvp = [](const JvpArgs& a) -> Values {
                 return {reduce_sum(a.t[0], a.params.ints(param::axes))};
               },
               .transpose = [](const TransposeArgs& a) -> Values {
                 const Type& in = a.in_types[0];
                 const ShardingPtr split = in.sharding ? with_sums(*in.sharding, {}, {}) : nullptr;
                 return {spread_back(a.ct[0], in.shape, a.params.ints(param::axes), split)};
               },
               .reduce = loops<Sum, numbers>,
               .parts = [](const SplitArgs& a) { return parts_by_dims(a, {.joins = "psum"}); },
               .sums = sums_kept,
               .show = [](const Params& p) -> std::vector<std::string> {
                 return {"axes=" + to_string(p.ints(param::axes)), "out_sharding=None"};
               }})};

const Op prod_op{reduction({.name = "reduce_prod",
                            .operands = 1,
                            .doc = "Product over axes.",
                            .checks = makes_nan,
                            .dtypes = numbers,
                            .jvp = jvp_prod,
                            .reduce = loops<Product, numbers>})};
const Op max_op{
    reduction({.name = "reduce_max",
               .operands = 1,
               .doc = "Maximum over axes; NaN where there is one. Ties share the gradient.",
               .dtypes = any_dtype,
               .jvp = jvp_chooser,
               .reduce = loops<kernels::Extreme<true>, any_dtype>,
               .parts = [](const SplitArgs& a) { return parts_by_dims(a, {.joins = "pmax"}); }})};
const Op min_op{
    reduction({.name = "reduce_min",
               .operands = 1,
               .doc = "Minimum over axes; NaN where there is one. Ties share the gradient.",
               .dtypes = any_dtype,
               .jvp = jvp_chooser,
               .reduce = loops<kernels::Extreme<false>, any_dtype>,
               .parts = [](const SplitArgs& a) { return parts_by_dims(a, {.joins = "pmin"}); }})};
const Op and_op{reduction({.name = "reduce_and",
                           .operands = 1,
                           .doc = "Whether all are true; bitwise for integers.",
                           .dtypes = booleans | integers,
                           .no_gradient = true,
                           .reduce = loops<All, booleans | integers>})};
const Op or_op{reduction({.name = "reduce_or",
                          .operands = 1,
                          .doc = "Whether any is true; bitwise for integers.",
                          .dtypes = booleans | integers,
                          .no_gradient = true,
                          .reduce = loops<Any, booleans | integers>})};

Value reduce(const Op& op, const Value& a, const Ints& axes) {
  return axes.empty() ? a : bind1(op, {{"axes", axes}}, {a});
}

}  // namespace

Value reduce_sum(const Value& a, const Ints& axes) { return reduce(sum_op, a, axes); }
Value reduce_max(const Value& a, const Ints& axes) { return reduce(max_op, a, axes); }
Value reduce_min(const Value& a, const Ints& axes) { return reduce(min_op, a, axes); }
Value reduce_or(const Value& a, const Ints& axes) { return reduce(or_op, a, axes); }

}  // namespace shardax::ops
