// bindings/debug_nans.cpp - inspecting results for NaN and infinity.
#include "bindings/debug_nans.h"

#include <cmath>

#include "array/half.h"
#include "execute/execute.h"

namespace shardax::bindings {
namespace {

struct Watched {
  bool nans = false;
  bool infs = false;
};
Watched watched;

bool bad(double x) { return (watched.nans && std::isnan(x)) || (watched.infs && std::isinf(x)); }

template <class T>
bool bad_element(const T& x) {
  if constexpr (std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>) {
    return bad(to_float(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    return bad(x);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, key_t>) {
    return false;
  } else {
    return bad(x.real()) || bad(x.imag());
  }
}

template <class T>
bool any_bad(const T* at, const Shape& shape, const Shape& strides, std::size_t dimension) {
  if (dimension == shape.size()) return bad_element(*at);
  const std::int64_t count =
      strides[dimension] == 0 ? std::min<std::int64_t>(shape[dimension], 1) : shape[dimension];
  for (std::int64_t i = 0; i < count; ++i) {
    if (any_bad(at + i * strides[dimension], shape, strides, dimension + 1)) return true;
  }
  return false;
}

bool any_bad(const Values& values) {
  for (const Value& value : values) {
    if (!is_inexact(value->dtype()) || value->is_tracer()) continue;
    const Array& array = as_array(value);
    const bool found = visit_dtype(array.dtype(), [&](auto zero) {
      using T = decltype(zero);
      return any_bad(reinterpret_cast<const T*>(array.data()), array.shape(), array.strides(), 0);
    });
    if (found) return true;
  }
  return false;
}

[[noreturn]] void report(std::string_view op) {
  fail(ErrorKind::floating_point_error, "invalid value (", watched.nans ? "nan" : "inf",
       ") encountered in ", op);
}

Values checked_evaluator(const Op& op, const Params& params, const Values& in) {
  Values out = evaluate_op(op, params, in);
  if (!any_bad(out)) return out;
  if (op.name == "jit") evaluate(*params.program("jaxpr"), in);
  report(op.name);
}

}  // namespace

void watch_nans(bool nans, bool infs) {
  watched = {nans, infs};
  set_evaluator(nans || infs ? checked_evaluator : evaluate_op);
}

bool watching_nans() { return watched.nans || watched.infs; }

void check_program_results(const Program& program, const Values& in, const Values& out) {
  if (!any_bad(out)) return;
  evaluate(program, in);
  report(program.name);
}

}  // namespace shardax::bindings
