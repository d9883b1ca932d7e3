// analysis/replicas.cpp - comparing parts of an array, element by element.
#include "analysis/replicas.h"

#include <cstring>

#include "base/index.h"
#include "runtime/interrupt.h"

namespace shardax {
namespace {

class Comparison {
 public:
  Comparison(const Array& array, Shape part)
      : strides_(array.strides()), part_(std::move(part)), width_(itemsize(array.dtype())) {
    place_.resize(part_.size());
  }

  // Fills `place` where the two differ.
  bool differ(const std::byte* a, const std::byte* b, std::size_t dimension = 0) {
    if (dimension == part_.size()) return std::memcmp(a, b, index(width_)) != 0;
    const std::int64_t step = strides_[dimension] * width_;
    const bool row = dimension + 1 == part_.size() && step == width_;
    const auto bytes = index(part_[dimension] * width_);
    if (row && std::memcmp(a, b, bytes) == 0) return false;
    for (std::int64_t i = 0; i < part_[dimension]; ++i) {
      place_[dimension] = i;
      if (differ(a + i * step, b + i * step, dimension + 1)) return true;
    }
    return false;
  }
  const Shape& place() const { return place_; }

 private:
  const Shape& strides_;
  Shape part_;
  int width_;
  Shape place_;
};

}  // namespace

std::optional<Difference> first_difference(const Array& array, const Shape& counts) {
  Shape part = array.shape();
  std::int64_t parts = 1;
  for (std::size_t d = 0; d < part.size(); ++d) {
    part[d] /= counts[d];
    parts *= counts[d];
  }
  Comparison comparison(array, part);
  for (std::int64_t p = 1; p < parts; ++p) {
    runtime::poll_caller();
    std::int64_t rest = p, offset = 0;
    for (std::size_t d = part.size(); d-- > 0;) {
      offset += rest % counts[d] * part[d] * array.strides()[d];
      rest /= counts[d];
    }
    if (comparison.differ(array.data(), array.data() + offset * itemsize(array.dtype())))
      return Difference{p, comparison.place()};
  }
  return {};
}

}  // namespace shardax
