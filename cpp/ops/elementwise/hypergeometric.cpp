// ops/elementwise/hypergeometric.cpp - hypergeometric functions and their derivatives by
// parameters.
#include "kernels/special/hypergeometric.h"

#include "ir/core_ops.h"
#include "ops/elementwise/special_family.h"

namespace shardax::ops {
namespace {

Value one_more(const Value& x) { return add(x, constant(x, 1)); }

template <class T, auto F, int arity>
void tile(void* out, const void* const* in, std::int64_t n, std::int64_t) {
  const auto x = [&](int k, std::int64_t i) {
    return static_cast<double>(static_cast<const T*>(in[k])[i]);
  };
  for (std::int64_t i = 0; i < n; ++i) {
    double y;
    if constexpr (arity == 3) {
      y = F(x(0, i), x(1, i), x(2, i));
    } else {
      y = F(x(0, i), x(1, i), x(2, i), x(3, i));
    }
    static_cast<T*>(out)[i] = static_cast<T>(y);
  }
}
template <auto F, int arity>
MapKernel map_in_double(const Types& in, const Type&, const Params&) {
  return {in[0].dtype == DType::float32 ? tile<float, F, arity> : tile<double, F, arity>, 0};
}

// The sum of tangents times slopes.
Values sum_of(const JvpArgs& a, Value (*slope)(const JvpArgs& a, std::size_t operand)) {
  Value sum;
  for (std::size_t i = 0; i < a.in.size(); ++i) {
    if (!a.t[i]) continue;
    const Value part = mul(broadcast_to(a.t[i], a.out[0]->shape()), slope(a, i));
    sum = sum ? add(sum, part) : part;
  }
  return {sum};
}

// A second derivative by the parameters of numbers i <= j.
Value by_two(std::string_view op, std::int64_t i, std::int64_t j, const Values& in) {
  return bind1(*find_op(op), {{"first", i}, {"second", j}}, in);
}

template <auto F, std::size_t i, std::size_t j>
constexpr auto by_two_kernel = [](auto... x) { return F(x..., i, j); };

// The kernel of F's derivative by its parameters `first` and `second`.
template <auto F, int arity>
MapKernel map_by_two(const Types& in, const Type& out, const Params& params) {
  const bool same = params.integer(param::first) == params.integer(param::second);
  const std::int64_t last = params.integer(param::second);
  if (last == 0) return map_in_double<by_two_kernel<F, 0, 0>, arity>(in, out, params);
  if (last == 1 && !same) return map_in_double<by_two_kernel<F, 0, 1>, arity>(in, out, params);
  if (last == 1) return map_in_double<by_two_kernel<F, 1, 1>, arity>(in, out, params);
  if (!same) return map_in_double<by_two_kernel<F, 0, 2>, arity>(in, out, params);
  return map_in_double<by_two_kernel<F, 2, 2>, arity>(in, out, params);
}

// ---- 1F1 -------------------------------------------------------------------------------------

Value next_1f1(std::string_view op, const Values& in) {
  return bind1(*find_op(op), {}, {one_more(in[0]), one_more(in[1]), in[2]});
}

const Op hyp1f1_op{
    elementwise({.name = "hyp1f1",
                 .operands = 3,
                 .doc = "Elementwise confluent hypergeometric function 1F1; operands a, b, x.",
                 .dtypes = floats,
                 .jvp = [](const JvpArgs& args) -> Values {
                   return sum_of(args, [](const JvpArgs& a, std::size_t i) {
                     if (i == 2) return mul(div(a.in[0], a.in[1]), next_1f1("hyp1f1", a.in));
                     return bind1(*find_op(i == 0 ? "hyp1f1_by_a" : "hyp1f1_by_b"), {}, a.in);
                   });
                 },
                 .map = map_in_double<kernels::hypergeometric_1f1, 3>})};

// By x: the derivative of a / b 1F1(a + 1; b + 1; x) by a or b.
const Op hyp1f1_by_a_op{
    elementwise({.name = "hyp1f1_by_a",
                 .operands = 3,
                 .doc = "Elementwise derivative of 1F1 by a; operands a, b, x.",
                 .dtypes = floats,
                 .jvp = [](const JvpArgs& args) -> Values {
                   return sum_of(args, [](const JvpArgs& a, std::size_t i) {
                     if (i != 2)
                       return by_two("hyp1f1_by_two", 0, static_cast<std::int64_t>(i), a.in);
                     const Value moved = mul(a.in[0], next_1f1("hyp1f1_by_a", a.in));
                     return div(add(next_1f1("hyp1f1", a.in), moved), a.in[1]);
                   });
                 },
                 .map = map_in_double<kernels::hypergeometric_1f1_by_a, 3>})};

const Op hyp1f1_by_b_op{
    elementwise({.name = "hyp1f1_by_b",
                 .operands = 3,
                 .doc = "Elementwise derivative of 1F1 by b; operands a, b, x.",
                 .dtypes = floats,
                 .jvp = [](const JvpArgs& args) -> Values {
                   return sum_of(args, [](const JvpArgs& a, std::size_t i) {
                     if (i != 2)
                       return by_two("hyp1f1_by_two", static_cast<std::int64_t>(i), 1, a.in);
                     const Value share = div(next_1f1("hyp1f1", a.in), a.in[1]);
                     return mul(div(a.in[0], a.in[1]), sub(next_1f1("hyp1f1_by_b", a.in), share));
                   });
                 },
                 .map = map_in_double<kernels::hypergeometric_1f1_by_b, 3>})};

const Op hyp1f1_by_two_op{
    elementwise({.name = "hyp1f1_by_two",
                 .operands = 3,
                 .doc = "Elementwise second derivative of 1F1 by the parameters of numbers `first` "
                        "<= `second`; operands a, b, x.",
                 .dtypes = floats,
                 .jvp = [](const JvpArgs&) -> Values { no_derivative("hyp1f1_by_two"); },
                 .map = map_by_two<kernels::hypergeometric_1f1_by_two, 3>})};

// ---- 2F1 -------------------------------------------------------------------------------------

Value next_2f1(std::string_view op, const Values& in) {
  return bind1(*find_op(op), {}, {one_more(in[0]), one_more(in[1]), one_more(in[2]), in[3]});
}

Value by_a(const Values& in) { return bind1(core_ops().hyp2f1_by_a, {}, in); }

const Op hyp2f1_op{
    elementwise({.name = "hyp2f1",
                 .operands = 4,
                 .doc = "Elementwise hypergeometric function 2F1 of Gauss; operands a, b, c, x.",
                 .dtypes = floats,
                 .jvp = [](const JvpArgs& args) -> Values {
                   return sum_of(args, [](const JvpArgs& a, std::size_t i) {
                     const Values& in = a.in;
                     if (i == 0) return by_a(in);
                     if (i == 1) return by_a({in[1], in[0], in[2], in[3]});
                     if (i == 2) return bind1(core_ops().hyp2f1_by_c, {}, in);
                     return mul(div(mul(in[0], in[1]), in[2]), next_2f1("hyp2f1", in));
                   });
                 },
                 .map = map_in_double<kernels::hypergeometric_2f1, 4>})};

// By x: the derivative of a b / c 2F1(a + 1, b + 1; c + 1; x) by a or c.
const Op hyp2f1_by_a_op{
    elementwise({.name = "hyp2f1_by_a",
                 .operands = 4,
                 .doc = "Elementwise derivative of 2F1 by a; operands a, b, c, x.",
                 .dtypes = floats,
                 .jvp = [](const JvpArgs& args) -> Values {
                   return sum_of(args, [](const JvpArgs& a, std::size_t i) {
                     if (i != 3)
                       return by_two("hyp2f1_by_two", 0, static_cast<std::int64_t>(i), a.in);
                     const Value moved = mul(a.in[0], next_2f1("hyp2f1_by_a", a.in));
                     return mul(div(a.in[1], a.in[2]), add(next_2f1("hyp2f1", a.in), moved));
                   });
                 },
                 .map = map_in_double<kernels::hypergeometric_2f1_by_a, 4>})};

const Op hyp2f1_by_c_op{
    elementwise({.name = "hyp2f1_by_c",
                 .operands = 4,
                 .doc = "Elementwise derivative of 2F1 by c; operands a, b, c, x.",
                 .dtypes = floats,
                 .jvp = [](const JvpArgs& args) -> Values {
                   return sum_of(args, [](const JvpArgs& a, std::size_t i) {
                     if (i == 1)
                       return by_two("hyp2f1_by_two", 0, 2, {a.in[1], a.in[0], a.in[2], a.in[3]});
                     if (i != 3)
                       return by_two("hyp2f1_by_two", static_cast<std::int64_t>(i), 2, a.in);
                     const Value share = div(next_2f1("hyp2f1", a.in), a.in[2]);
                     const Value scale = div(mul(a.in[0], a.in[1]), a.in[2]);
                     return mul(scale, sub(next_2f1("hyp2f1_by_c", a.in), share));
                   });
                 },
                 .map = map_in_double<kernels::hypergeometric_2f1_by_c, 4>})};

// By b twice, or b and c: with a and b exchanged.
const Op hyp2f1_by_two_op{
    elementwise({.name = "hyp2f1_by_two",
                 .operands = 4,
                 .doc = "Elementwise second derivative of 2F1 by the parameters of numbers `first` "
                        "<= `second`; operands a, b, c, x.",
                 .dtypes = floats,
                 .jvp = [](const JvpArgs&) -> Values { no_derivative("hyp2f1_by_two"); },
                 .map = map_by_two<kernels::hypergeometric_2f1_by_two, 4>})};

}  // namespace
}  // namespace shardax::ops
