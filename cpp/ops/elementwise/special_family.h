// ops/elementwise/special_family.h - shared parts of special functions.
#pragma once

#include "ops/family.h"

namespace shardax::ops {

// `value` of the dtype of `like`.
inline Value constant(const Value& like, double value) {
  return scalar(like->dtype(), value, like->type().weak);
}

// A kernel out of a function of doubles.
template <auto F>
constexpr auto in_double = [](auto... x) {
  using T = std::common_type_t<decltype(x)...>;
  return static_cast<T>(F(static_cast<double>(x)...));
};

}  // namespace shardax::ops
