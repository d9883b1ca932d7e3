// runtime/size_class.h - the sizes of blocks: four per power of two, so at most a quarter is slack.
#pragma once

#include <bit>
#include <cstddef>

namespace shardax::runtime {

struct SizeClass {
  std::size_t index;
  std::size_t bytes;  // a multiple of 64
};

// The smallest class of at least `bytes`: multiples of 64 up to 256, from there on 5/4, 6/4, 7/4
// and 8/4 of each power of two. `bytes` is at most 2^62.
constexpr SizeClass size_class(std::size_t bytes) {
  if (bytes <= 256) {
    const std::size_t index = bytes == 0 ? 0 : (bytes - 1) / 64;
    return {index, (index + 1) * 64};
  }
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  const std::size_t quarters = ((bytes - 1) >> (power - 2)) + 1;
  return {4 * (power - 8) + quarters - 1, quarters << (power - 2)};
}

constexpr SizeClass class_at(std::size_t index) {
  if (index < 4) return {index, (index + 1) * 64};
  return {index, (index % 4 + 5) << (index / 4 + 5)};
}

constexpr bool classes_are_consistent() {
  for (std::size_t i = 0; i < 200; ++i) {
    const SizeClass c = class_at(i);
    if (size_class(c.bytes).index != i || size_class(c.bytes).bytes != c.bytes) return false;
    if (size_class(c.bytes + 1).index != i + 1 || c.bytes % 64 != 0) return false;
  }
  return true;
}
static_assert(classes_are_consistent());

}  // namespace shardax::runtime
