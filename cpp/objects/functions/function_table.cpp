// objects/functions/function_table.cpp - the rows of jnp's and lax's elementwise functions.
#include "objects/functions/function_table.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/errors.h"
#include "numpy/compose.h"

namespace shardax::objects {
namespace {

using numpy::Promote;

template <Value (*f)(const Value&)>
Value one(const Values& in) {
  return f(in[0]);
}
template <Value (*f)(const Value&, const Value&)>
Value two(const Values& in) {
  return f(in[0], in[1]);
}

// Floors of integers and truth values are themselves.
template <const char* const& record>
Value rounded(const Values& in) {
  return is_inexact(in[0]->dtype()) ? ops::unary(record, in[0]) : in[0];
}
constexpr const char* floor_name = "floor";
constexpr const char* ceil_name = "ceil";

Value positive(const Values& in) { return in[0]; }
Value fabs(const Values& in) {
  if (is_complex(in[0]->dtype())) type_error("ufunc 'fabs' does not support complex dtypes");
  return ops::unary("abs", numpy::promote_dtypes(in, Promote::inexact)[0]);
}
// Truth values need one op, of other numbers several are one program.
template <Value (*f)(const Values&)>
Value of_truth(const char* name, const Values& in) {
  const bool single = std::all_of(in.begin(), in.end(),
                                  [](const Value& x) { return x->dtype() == DType::boolean; });
  const auto all = [](const Values& x) {
    Values truths;
    for (const Value& value : x) truths.push_back(numpy::truth(value));
    return f(truths);
  };
  return single ? all(in) : numpy::jitted_at_once(name, in, all);
}
Value not_truth(const Values& in) { return ops::logical_not(in[0]); }
Value logical_not(const Values& in) { return of_truth<not_truth>("logical_not", in); }

template <Value (*f)(const Value&, const Value&)>
Value joined_truths(const Values& in) {
  const Values x = numpy::promote_shapes(in, "logical");
  return f(x[0], x[1]);
}
template <const char* const& name, Value (*f)(const Value&, const Value&)>
Value logical(const Values& in) {
  return of_truth<joined_truths<f>>(name, in);
}
constexpr const char* and_name = "logical_and";
constexpr const char* or_name = "logical_or";
constexpr const char* xor_name = "logical_xor";
Value xor_values(const Value& a, const Value& b) { return ops::binary("xor", a, b); }

Value scaled(const Values& in, double factor) {
  const Value x = numpy::promote_dtypes(in, Promote::inexact)[0];
  return ops::mul(x, ops::scalar(x->dtype(), factor, x->type().weak));
}
constexpr double degrees_per_radian = 57.29577951308232;
Value degrees(const Values& in) { return scaled(in, degrees_per_radian); }
Value radians(const Values& in) { return scaled(in, 1 / degrees_per_radian); }

Value float_power(const Values& in) {
  const Values x =
      numpy::promote_shapes(numpy::promote_dtypes(in, Promote::inexact, "float_power"), "pow");
  return ops::binary("pow", x[0], x[1]);
}

Value bitwise_count(const Values& in) {
  return numpy::jitted1(
      "bitwise_count", numpy::promote_dtypes(in, Promote::numeric), [](const Values& v) {
        return ops::convert(ops::unary("population_count", numpy::absolute(v[0])), DType::uint8);
      });
}

constexpr FunctionRow rows[] = {
    // Arithmetic.
    {"add", "x, y", nullptr, Promote::any, two<numpy::add_promoted>, "Elementwise sum."},
    {"subtract", "x, y", "sub"},
    {"multiply", "x, y", nullptr, Promote::any, two<numpy::multiply_promoted>,
     "Elementwise product."},
    {"divide", "x1, x2", "div", Promote::inexact},
    {"true_divide", "x1, x2", "div", Promote::inexact},
    {"floor_divide", "x1, x2", nullptr, Promote::any, two<numpy::floor_divide>,
     "Elementwise quotient rounded towards minus infinity."},
    {"remainder", "x1, x2", nullptr, Promote::any, two<numpy::remainder>,
     "Elementwise remainder with the sign of the divisor."},
    {"mod", "x1, x2", nullptr, Promote::any, two<numpy::remainder>,
     "Elementwise remainder with the sign of the divisor."},
    {"fmod", "x1, x2", nullptr, Promote::any, two<numpy::fmod>,
     "Elementwise remainder with the sign of the dividend."},
    {"power", "x1, x2", nullptr, Promote::any, power_marker, "Elementwise power, x1 ** x2."},
    {"pow", "x1, x2", nullptr, Promote::any, power_marker, "Elementwise power, x1 ** x2."},
    {"float_power", "x, y", nullptr, Promote::any, float_power, "Elementwise power of floats."},
    {"negative", "x", "neg"},
    {"positive", "x", nullptr, Promote::any, positive, "The operand itself."},
    {"reciprocal", "x", nullptr, Promote::any, one<numpy::reciprocal>, "Elementwise 1 / x."},
    {"absolute", "x", nullptr, Promote::any, one<numpy::absolute>, "Elementwise absolute value."},
    {"abs", "x", nullptr, Promote::any, one<numpy::absolute>, "Elementwise absolute value."},
    {"fabs", "x", nullptr, Promote::any, fabs, "Elementwise absolute value, as floats."},
    {"sign", "x", "sign"},
    {"square", "x", "square", Promote::numeric},
    {"maximum", "x, y", "max"},
    {"minimum", "x, y", "min"},
    {"hypot", "x1, x2", nullptr, Promote::any, two<numpy::hypot>,
     "Elementwise sqrt(x1 ** 2 + x2 ** 2), without overflow."},
    {"heaviside", "x1, x2", nullptr, Promote::any, two<numpy::heaviside>,
     "0 where x1 < 0, x2 where x1 == 0, 1 where x1 > 0."},
    {"copysign", "x1, x2", nullptr, Promote::any, two<numpy::copysign>, "x1 with the sign of x2."},
    {"nextafter", "x, y", "nextafter", Promote::inexact},
    // Comparisons.
    {"equal", "x, y", "eq"},
    {"not_equal", "x, y", "ne"},
    {"less", "x, y", "lt", Promote::any, two<numpy::less>},
    {"less_equal", "x, y", "le", Promote::any, two<numpy::less_equal>},
    {"greater", "x, y", "gt", Promote::any, two<numpy::greater>},
    {"greater_equal", "x, y", "ge", Promote::any, two<numpy::greater_equal>},
    {"isnan", "x", nullptr, Promote::any, one<numpy::isnan>, "Elementwise: is it NaN?"},
    {"isinf", "x", nullptr, Promote::any, one<numpy::isinf>, "Elementwise: is it infinite?"},
    {"isfinite", "x", nullptr, Promote::any, one<numpy::isfinite>, "Elementwise: is it finite?"},
    {"signbit", "x", nullptr, Promote::any, one<numpy::signbit>,
     "Elementwise: is the sign bit set?"},
    // Logic and bits.
    {"logical_and", "x, y", nullptr, Promote::any, logical<and_name, ops::logical_and>,
     "Elementwise x != 0 and y != 0."},
    {"logical_or", "x, y", nullptr, Promote::any, logical<or_name, ops::logical_or>,
     "Elementwise x != 0 or y != 0."},
    {"logical_xor", "x, y", nullptr, Promote::any, logical<xor_name, xor_values>,
     "Elementwise (x != 0) != (y != 0)."},
    {"logical_not", "x", nullptr, Promote::any, logical_not, "Elementwise x == 0."},
    {"bitwise_and", "x, y", "and"},
    {"bitwise_or", "x, y", "or"},
    {"bitwise_xor", "x, y", "xor"},
    {"bitwise_not", "x", "not"},
    {"bitwise_invert", "x", "not"},
    {"invert", "x", "not"},
    {"left_shift", "x, y", "shift_left", Promote::numeric},
    {"bitwise_left_shift", "x, y", "shift_left", Promote::numeric},
    {"right_shift", "x1, x2", nullptr, Promote::any, two<numpy::right_shift>,
     "Elementwise shift to the right: arithmetic for signed integers."},
    {"bitwise_right_shift", "x1, x2", nullptr, Promote::any, two<numpy::right_shift>,
     "Elementwise shift to the right: arithmetic for signed integers."},
    {"bitwise_count", "x", nullptr, Promote::any, bitwise_count,
     "Elementwise number of bits set in |x|."},
    // Rounding.
    {"floor", "x", nullptr, Promote::any, rounded<floor_name>, "Elementwise floor."},
    {"ceil", "x", nullptr, Promote::any, rounded<ceil_name>, "Elementwise ceiling."},
    {"trunc", "x", nullptr, Promote::any, one<numpy::trunc>, "Elementwise, rounded towards zero.",
     true},
    // Transcendental.
    {"exp", "x", "exp", Promote::inexact},
    {"exp2", "x", "exp2", Promote::inexact},
    {"expm1", "x", "expm1", Promote::inexact},
    {"log", "x", "log", Promote::inexact},
    {"log1p", "x", "log1p", Promote::inexact},
    {"log2", "x", nullptr, Promote::any, one<numpy::log2>, "Elementwise logarithm to base 2."},
    {"log10", "x", nullptr, Promote::any, one<numpy::log10>, "Elementwise logarithm to base 10."},
    {"sqrt", "x", "sqrt", Promote::inexact},
    {"cbrt", "x", "cbrt", Promote::inexact},
    {"sin", "x", "sin", Promote::inexact},
    {"cos", "x", "cos", Promote::inexact},
    {"tan", "x", "tan", Promote::inexact},
    {"arcsin", "x", "asin", Promote::inexact},
    {"arccos", "x", "acos", Promote::inexact},
    {"arctan", "x", "atan", Promote::inexact},
    {"arctan2", "x1, x2", "atan2", Promote::inexact},
    {"sinh", "x", "sinh", Promote::inexact},
    {"cosh", "x", "cosh", Promote::inexact},
    {"tanh", "x", "tanh", Promote::inexact},
    {"arcsinh", "x", "asinh", Promote::inexact},
    {"arccosh", "x", "acosh", Promote::inexact},
    {"arctanh", "x", "atanh", Promote::inexact},
    {"asin", "x", "asin", Promote::inexact},
    {"acos", "x", "acos", Promote::inexact},
    {"atan", "x", "atan", Promote::inexact},
    {"atan2", "x1, x2", "atan2", Promote::inexact},
    {"asinh", "x", "asinh", Promote::inexact},
    {"acosh", "x", "acosh", Promote::inexact},
    {"atanh", "x", "atanh", Promote::inexact},
    {"degrees", "x", nullptr, Promote::any, degrees, "Radians as degrees."},
    {"rad2deg", "x", nullptr, Promote::any, degrees, "Radians as degrees."},
    {"radians", "x", nullptr, Promote::any, radians, "Degrees as radians."},
    {"deg2rad", "x", nullptr, Promote::any, radians, "Degrees as radians."},
    // Complex numbers.
    {"real", "val", nullptr, Promote::any, one<numpy::real>, "The real part."},
    {"imag", "val", nullptr, Promote::any, one<numpy::imag>, "The imaginary part."},
    {"conj", "x", nullptr, Promote::any, one<numpy::conjugate>, "The complex conjugate."},
    {"conjugate", "x", nullptr, Promote::any, one<numpy::conjugate>, "The complex conjugate."},
    {"matmul", "a, b", nullptr, Promote::any, two<numpy::matmul>,
     "The matrix product; leading dimensions broadcast."},
};

// lax's names where the record's differs.
const char* lax_name(std::string_view record) {
  constexpr std::pair<std::string_view, const char*> names[] = {
      {"and", "bitwise_and"},
      {"or", "bitwise_or"},
      {"xor", "bitwise_xor"},
      {"not", "bitwise_not"},
      {"regularized_incomplete_beta", "betainc"}};
  for (const auto& [own, name] : names) {
    if (own == record) return name;
  }
  return nullptr;
}

// Records that take parameters have functions of their own in Python; add_any belongs to
// transposes.
bool no_lax_row(std::string_view record) {
  for (std::string_view name :
       {"integer_pow", "round", "convert_element_type", "bitcast_convert_type", "reduce_precision",
        "select_n", "clamp", "copy", "add_any",
        // Of scipy.special.
        "complex_log_gamma", "cosine_integral", "dawson", "erfcx", "expi", "expn", "faddeeva",
        "fresnel_cosine", "fresnel_sine", "hyp1f1", "hyp1f1_by_a", "hyp1f1_by_b", "hyp1f1_by_two",
        "hyp2f1", "hyp2f1_by_a", "hyp2f1_by_c", "hyp2f1_by_two", "owens_t", "sine_integral",
        "spence"}) {
    if (name == record) return true;
  }
  return false;
}

const char* lax_parameters(std::string_view record, std::size_t arity) {
  constexpr struct {
    std::string_view record;
    const char* parameters;
  } others[] = {{"igamma", "a, x"},        {"igammac", "a, x"},
                {"igamma_grad_a", "a, x"}, {"random_gamma_grad", "a, x"},
                {"nextafter", "x1, x2"},   {"polygamma", "m, x"},
                {"zeta", "x, q"},          {"regularized_incomplete_beta", "a, b, x"}};
  for (const auto& other : others) {
    if (other.record == record) return other.parameters;
  }
  return arity == 1 ? "x" : arity == 2 ? "x, y" : "x, y, z";
}

const char* lax_option(std::string_view record) {
  if (record == "mul") return "out_dtype";
  for (std::string_view name : {"cbrt", "cos", "exp", "exp2", "expm1", "log", "log1p", "logistic",
                                "rsqrt", "sin", "sqrt", "tan", "tanh"}) {
    if (name == record) return "accuracy";
  }
  return nullptr;
}

// The number of operands of a record: one unless it is listed here.
std::size_t arity_of(const Op& op) {
  for (std::string_view name : {"add",
                                "sub",
                                "mul",
                                "div",
                                "rem",
                                "max",
                                "min",
                                "eq",
                                "ne",
                                "lt",
                                "le",
                                "gt",
                                "ge",
                                "and",
                                "or",
                                "xor",
                                "pow",
                                "atan2",
                                "nextafter",
                                "shift_left",
                                "shift_right_logical",
                                "shift_right_arithmetic",
                                "complex",
                                "igamma",
                                "igammac",
                                "zeta",
                                "polygamma",
                                "random_gamma_grad",
                                "random_gamma_grad_a",
                                "igamma_grad_a",
                                "mulhi",
                                "gamma_variate"}) {
    if (op.name == name) return 2;
  }
  return op.name == "regularized_incomplete_beta" ? 3 : 1;
}

}  // namespace

Value power_marker(const Values& in) { return numpy::power(in[0], in[1]); }

std::span<const FunctionRow> numpy_rows() { return rows; }

std::span<const FunctionRow> lax_rows() {
  static std::vector<std::string> texts;
  static const std::vector<FunctionRow> table = [] {
    std::vector<FunctionRow> made;
    texts.reserve(all_ops().size());
    for (const Op* op : all_ops()) {
      if (op->kind != Kind::elementwise || no_lax_row(op->name)) continue;
      texts.emplace_back(op->name);
      const char* other = lax_name(op->name);
      made.push_back({.name = other ? other : texts.back().c_str(),
                      .parameters = lax_parameters(op->name, arity_of(*op)),
                      .record = texts.back().c_str(),
                      .by_name = true,
                      .option = lax_option(op->name)});
    }
    return made;
  }();
  return table;
}

}  // namespace shardax::objects
