// ops/elementwise/compare.cpp - comparisons, extremes, logic and selection of elements.
#include <algorithm>

#include "base/target.h"
#include "kernels/tiles/extremum.h"
#include "ops/family.h"
#include "ops/sharding_rules/ambiguity.h"
#include "ops/sharding_rules/unreduced_rules.h"

namespace shardax::ops {
namespace {

constexpr DTypeSet ordered = any_dtype & ~complexes;

// PRNG keys are equal where their words are.
template <auto F, DTypeSet lanes>
MapKernel equality_map(const Types& in, const Type&, const Params&) {
  if (is_key(in[0].dtype)) {
    switch (itemsize(in[0].dtype)) {
      case 4: return {kernels::map2<short_key_t, F>, 0};
      case 8: return {kernels::map2<key_t, F>, 0};
      default: return {kernels::map2<wide_key_t, F>, 0};
    }
  }
  return select_map<any_dtype, F, 2, lanes>(in[0].dtype);
}

constexpr DTypeSet lane_values = lane_complexes | booleans;

const Op eq_op{
    comparison({.name = "eq",
                .operands = 2,
                .doc = "Elementwise x == y.",
                .dtypes = any_dtype | keys,
                .map = equality_map<Signless{[](auto a, auto b) { return a == b; }}, lane_values>,
                .keys = KeyUse::reads})};
const Op ne_op{
    comparison({.name = "ne",
                .operands = 2,
                .doc = "Elementwise x != y.",
                .dtypes = any_dtype | keys,
                .map = equality_map<Signless{[](auto a, auto b) { return a != b; }}, lane_values>,
                .keys = KeyUse::reads})};
const Op lt_op{
    comparison({.name = "lt",
                .operands = 2,
                .doc = "Elementwise x < y.",
                .dtypes = ordered,
                .map = map_binary<ordered, [](auto a, auto b) { return a < b; }, lane_numbers>})};
const Op le_op{
    comparison({.name = "le",
                .operands = 2,
                .doc = "Elementwise x <= y.",
                .dtypes = ordered,
                .map = map_binary<ordered, [](auto a, auto b) { return a <= b; }, lane_numbers>})};
const Op gt_op{
    comparison({.name = "gt",
                .operands = 2,
                .doc = "Elementwise x > y.",
                .dtypes = ordered,
                .map = map_binary<ordered, [](auto a, auto b) { return (a > b); }, lane_numbers>})};
const Op ge_op{comparison(
    {.name = "ge",
     .operands = 2,
     .doc = "Elementwise x >= y.",
     .dtypes = ordered,
     .map = map_binary<ordered, [](auto a, auto b) { return (a >= b); }, lane_numbers>})};

constexpr DTypeSet bits = integers | booleans;
constexpr DTypeSet lane_bits = lane_integers | booleans;

constexpr Signless complement{[](auto a) {
  if constexpr (std::is_same_v<codegen::number_of<decltype(a)>, bool>)
    return !a;
  else
    return static_cast<decltype(a)>(~a);
}};

const Op and_op{elementwise_no_gradient(
    {.name = "and",
     .operands = 2,
     .doc = "Elementwise and: of truth values, or bit by bit.",
     .cheap = true,
     .dtypes = bits,
     .map =
         map_binary<bits, Signless{[](auto a, auto b) { return static_cast<decltype(a)>(a & b); }},
                    lane_bits>})};
const Op or_op{elementwise_no_gradient(
    {.name = "or",
     .operands = 2,
     .doc = "Elementwise or: of truth values, or bit by bit.",
     .cheap = true,
     .dtypes = bits,
     .map =
         map_binary<bits, Signless{[](auto a, auto b) { return static_cast<decltype(a)>(a | b); }},
                    lane_bits>})};
const Op xor_op{elementwise_no_gradient(
    {.name = "xor",
     .operands = 2,
     .doc = "Elementwise exclusive or: of truth values, or bit by bit.",
     .dtypes = bits,
     .map =
         map_binary<bits, Signless{[](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); }},
                    lane_bits>})};
const Op not_op{
    elementwise_no_gradient({.name = "not",
                             .operands = 1,
                             .doc = "Elementwise complement: of truth values, or bit by bit.",
                             .cheap = true,
                             .dtypes = bits,
                             .map = map_unary<bits, complement, lane_bits>})};

// ---- select_n --------------------------------------------------------------------------------

Types select_type(const Op& op, const Types& in, const Params&) {
  const Type& which = in[0];
  if (which.dtype != DType::boolean && which.dtype != DType::int32) {
    type_error("select_n: `which` must have bool or int32 dtype, got ", name(which.dtype), ".");
  }
  const Types cases(in.begin() + 1, in.end());
  if (cases.empty()) value_error("select_n: no cases; at least one array was expected.");
  Type out = cases[0];
  for (const Type& type : cases) {
    if (type.dtype != out.dtype || type.shape != out.shape) {
      type_error("select_n: cases must have the same shapes and dtypes, got ", to_string(out),
                 " and ", to_string(type), ".");
    }
    out.weak = out.weak && type.weak;
  }
  if (which.rank() != 0 && which.shape != out.shape) {
    type_error(op.name,
               ": `which` must be scalar or have the same shape as cases, got `which` shape ",
               to_string(which.shape), " but case shape ", to_string(out.shape), ".");
  }
  if (which.dtype == DType::boolean && cases.size() > 2) {
    type_error("select_n: with a bool `which` at most two cases are possible, got ", cases.size(),
               ".");
  }
  return {out};
}

// Cases are moved as bits: one kernel per width.
template <class Bits>
void select_bool(void* out, const void* const* in, std::int64_t n, std::int64_t) {
  dispatch([=] {
    auto* o = static_cast<Bits*>(out);
    const auto* w = static_cast<const std::uint8_t*>(in[0]);
    const auto* no = static_cast<const Bits*>(in[1]);
    const auto* yes = static_cast<const Bits*>(in[2]);
    SHARDAX_IVDEP
    for (std::int64_t i = 0; i < n; ++i) o[i] = w[i] ? yes[i] : no[i];
  });
}
template <class Bits>
void select_int(void* out, const void* const* in, std::int64_t n, std::int64_t cases) {
  auto* o = static_cast<Bits*>(out);
  const auto* w = static_cast<const std::int32_t*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t k = std::clamp<std::int64_t>(w[i], 0, cases - 1);
    o[i] = static_cast<const Bits*>(in[1 + k])[i];
  }
}

int record_select(codegen::VectorProgram& program, const int* in, std::int64_t) {
  const auto select = [&](int no, int yes) {
    return program.add({codegen::Code::select, program.node(no).kind, {in[0], yes, no}});
  };
  const codegen::Node no = program.node(in[1]), yes = program.node(in[2]);
  if (!codegen::is_complex(no.kind)) return select(in[1], in[2]);
  const int re = select(no.in[0], yes.in[0]), im = select(no.in[1], yes.in[1]);
  return program.add({codegen::Code::pair, no.kind, {re, im}});
}

MapKernel select_map_rule(const Types& in, const Type& out, const Params&) {
  const auto cases = static_cast<std::int64_t>(in.size()) - 1;
  const bool two = in[0].dtype == DType::boolean && cases == 2;
  const auto pick = [&]<class Bits>(Bits) -> MapKernel {
    return {two ? select_bool<Bits> : select_int<Bits>, cases, two ? record_select : nullptr};
  };
  switch (itemsize(out.dtype)) {
    case 1: return pick(std::uint8_t{});
    case 2: return pick(std::uint16_t{});
    case 4: return pick(std::uint32_t{});
    case 8: return pick(std::uint64_t{});
    default: return pick(std::complex<double>{});
  }
}

const Op select_op{elementwise({.name = "select_n",
                                .operands = at_least(2),
                                .doc = "cases[which], elementwise; `which` is bool or int32.",
                                .cheap = true,
                                .dtypes = ~DTypeSet{0},
                                .type = select_type,
                                .jvp = [](const JvpArgs& a) -> Values {
                                  Values cases;
                                  for (std::size_t i = 1; i < a.in.size(); ++i) {
                                    cases.push_back(a.t[i] ? a.t[i] : full_like(a.out[0], 0));
                                  }
                                  return {select_n(a.in[0], cases)};
                                },
                                .transpose = [](const TransposeArgs& a) -> Values {
                                  Values out(a.in.size());
                                  const Value zero = full_like(a.ct[0], 0);
                                  for (std::size_t i = 1; i < a.in.size(); ++i) {
                                    if (!a.linear(i)) continue;
                                    Values cases(a.in.size() - 1, zero);
                                    cases[i - 1] = a.ct[0];
                                    out[i] = select_n(a.in[0], cases);
                                  }
                                  return out;
                                },
                                .batch = [](const BatchArgs& a) -> Batched {
                                  // A rank-0 `which` that is batched chooses per slice; cases must
                                  // be batched and equal.
                                  Values in = all_batched(a);
                                  if (!a.batched[0] && a.in[0]->shape().empty()) {
                                    in[0] = a.in[0];
                                  } else if (in[0]->shape() != in[1]->shape()) {
                                    in[0] = broadcast_in_dim(in[0], in[1]->shape(), {0});
                                  }
                                  return batched1(bind1(a.op, a.params, in));
                                },
                                .half_native = true,
                                .map = select_map_rule,
                                .check_split = check_split_selected,
                                .sums = sums_selected})};

constexpr auto clamp_kernel = [](auto low, auto x, auto high) {
  return kernels::extremum<false>(high, kernels::extremum<true>(low, x));
};

// Bounds may repeat along dimensions of x, as batching has them, but x does not along theirs.
Types clamp_type(const Op& op, const Types& in, const Params& params) {
  Type out = with_shape(type_same(op, in, params)[0], in[1].shape);
  const Shape shape = elementwise_shape(op, in);
  if (out.rank() > 0 && out.shape != shape) {
    type_error("clamp: bounds of shapes ", to_string(in[0].shape), " and ", to_string(in[2].shape),
               " do not go with an operand of shape ", to_string(out.shape),
               ". Pass numbers, or bounds of the operand's shape.");
  }
  return {out};
}

const Op clamp_op{elementwise(
    {.name = "clamp",
     .operands = 3,
     .doc = "Elementwise min(max(x, low), high), NaN where any is; operands (low, x, high).",
     .dtypes = ordered,
     .type = clamp_type,
     .jvp = [](const JvpArgs& a) -> Values {
       const Value zero = full_like(a.out[0], 0);
       Value sum;
       const auto accumulate = [&](const Value& condition, const Value& t) {
         if (!t) return;
         const Value part = where(condition, broadcast_to(t, a.out[0]->shape()), zero);
         sum = sum ? add(sum, part) : part;
       };
       const Value &low = a.in[0], &x = a.in[1], &high = a.in[2];
       accumulate(logical_and(gt(low, x), lt(low, high)), a.t[0]);
       accumulate(logical_and(gt(x, low), lt(x, high)), a.t[1]);
       accumulate(logical_or(lt(high, x), lt(high, low)), a.t[2]);
       return {sum};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       // The result has x's shape: where bounds are batched, x is.
       Values in = a.in;
       std::vector<bool> batched = a.batched;
       if (!batched[1]) in[1] = broadcast_leading(in[1], a.axis.size);
       batched[1] = true;
       return batch_elementwise({a.op, a.params, in, batched, a.axis});
     },
     .map = [](const Types& in, const Type&, const Params&) -> MapKernel {
       return select_map<ordered, clamp_kernel, 3, lane_numbers>(in[0].dtype);
     }})};

// ---- the larger, the smaller -----------------------------------------------------------------

template <bool greater>
constexpr auto extremum_kernel = [](auto a, auto b) { return kernels::extremum<greater>(a, b); };

// For max and min: 1 where x is picked, 1/2 where both are equal, else 0.
Value picked(const Value& x, const Value& out, const Value& other) {
  const Value one = full_like(out, 1);
  const Value half = full_like(out, 0.5);
  const Value zero = full_like(out, 0);
  return where(eq(x, out), where(eq(other, out), half, one), zero);
}

Values jvp_extremum(const JvpArgs& a) {
  Value sum;
  for (std::size_t i : {0u, 1u}) {
    if (a.t[i]) {
      const Value own = mul(a.t[i], picked(a.in[i], a.out[0], a.in[1 - i]));
      sum = sum ? add(sum, own) : own;
    }
  }
  return {sum};
}

const Op max_op{
    elementwise({.name = "max",
                 .operands = 2,
                 .doc = "Elementwise maximum; NaN where either is NaN. Ties share the gradient.",
                 .cheap = true,
                 .dtypes = any_dtype,
                 .jvp = jvp_extremum,
                 .map = map_binary<any_dtype, extremum_kernel<true>, lane_numbers>})};

const Op min_op{
    elementwise({.name = "min",
                 .operands = 2,
                 .doc = "Elementwise minimum; NaN where either is NaN. Ties share the gradient.",
                 .cheap = true,
                 .dtypes = any_dtype,
                 .jvp = jvp_extremum,
                 .map = map_binary<any_dtype, extremum_kernel<false>, lane_numbers>})};

}  // namespace

Value eq(const Value& a, const Value& b) { return bind1(eq_op, {}, {a, b}); }
Value ne(const Value& a, const Value& b) { return bind1(ne_op, {}, {a, b}); }
Value lt(const Value& a, const Value& b) { return bind1(lt_op, {}, {a, b}); }
Value gt(const Value& a, const Value& b) { return bind1(gt_op, {}, {a, b}); }
Value ge(const Value& a, const Value& b) { return bind1(ge_op, {}, {a, b}); }
Value max(const Value& a, const Value& b) { return bind1(max_op, {}, {a, b}); }
Value min(const Value& a, const Value& b) { return bind1(min_op, {}, {a, b}); }
Value logical_and(const Value& a, const Value& b) { return bind1(and_op, {}, {a, b}); }
Value logical_or(const Value& a, const Value& b) { return bind1(or_op, {}, {a, b}); }
Value logical_not(const Value& a) { return bind1(not_op, {}, {a}); }

Value select_n(const Value& which, const Values& cases) {
  Values in{which};
  in.insert(in.end(), cases.begin(), cases.end());
  return bind1(select_op, {}, in);
}

Value unary(std::string_view op, const Value& a) { return bind1(*find_op(op), {}, {a}); }
Value binary(std::string_view op, const Value& a, const Value& b) {
  return bind1(*find_op(op), {}, {a, b});
}

}  // namespace shardax::ops
