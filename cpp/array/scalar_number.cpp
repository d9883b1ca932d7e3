// array/scalar_number.cpp - elements of any real dtype as a double.
#include "array/scalar_number.h"

#include <type_traits>

#include "array/half.h"

namespace shardax {

std::optional<double> scalar_number(const Array& scalar) {
  if (scalar.type().rank() != 0 || scalar.dtype() == DType::float0) return {};
  return visit_dtype(scalar.dtype(), [&](auto kind) -> std::optional<double> {
    using T = decltype(kind);
    const T* at = reinterpret_cast<const T*>(scalar.data());
    if constexpr (std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>)
      return to_float(*at);
    else if constexpr (std::is_arithmetic_v<T>)
      return static_cast<double>(*at);
    else
      return {};
  });
}

}  // namespace shardax
