// kernels/tiles/range_check.cpp - loops over a run that compilers make of vectors.
#include "kernels/tiles/range_check.h"

namespace shardax::kernels {
namespace {

// Is no exponent all ones?
template <class Bits>
bool finite(const std::byte* data, std::int64_t n, Bits exponent) {
  const Bits* bits = reinterpret_cast<const Bits*>(data);
  Bits found = 0;
  for (std::int64_t i = 0; i < n; ++i) found |= (bits[i] & exponent) == exponent ? 1 : 0;
  return found == 0;
}

template <class T>
bool within(const std::byte* data, std::int64_t n, const Range& range) {
  const T* x = reinterpret_cast<const T*>(data);
  bool good = true;
  for (std::int64_t i = 0; i < n; ++i)
    good &= x[i] > range.above && x[i] < range.below && !(range.nonzero && x[i] == 0);
  return good;
}

}  // namespace

bool all_finite(DType dtype, const std::byte* at, std::int64_t n) {
  switch (dtype) {
    case DType::float32: return finite(at, n, std::uint32_t{0x7f800000});
    case DType::float64: return finite(at, n, std::uint64_t{0x7ff0000000000000});
    case DType::float16: return finite(at, n, std::uint16_t{0x7c00});
    case DType::bfloat16: return finite(at, n, std::uint16_t{0x7f80});
    default: return false;
  }
}

bool all_within(DType dtype, const std::byte* at, std::int64_t n, const Range& range) {
  return dtype == DType::float64 ? within<double>(at, n, range) : within<float>(at, n, range);
}

}  // namespace shardax::kernels
