// kernels/sort/nonzero.cpp - counts of truth values, and their positions.
#include "kernels/sort/nonzero.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/index.h"
#include "kernels/tiles/dispatch.h"
#include "runtime/pool.h"

namespace shardax::kernels {
namespace {

constexpr std::int64_t stretch = 1 << 16;  // elements, of about 0.03 ms
constexpr std::uint64_t ones = 0x0101010101010101;

// The positions of the bits of a byte, from the lowest on.
using Offsets = std::array<std::uint8_t, 8>;
constexpr std::array<Offsets, 256> offsets_of_bits = [] {
  std::array<Offsets, 256> table{};
  for (std::size_t bits = 0; bits < table.size(); ++bits) {
    std::size_t found = 0;
    for (std::uint8_t bit = 0; bit < 8; ++bit) {
      if (bits >> bit & 1) table[bits][found++] = bit;
    }
  }
  return table;
}();

std::int64_t count_stretch(const bool* mask, std::int64_t n) {
  std::int64_t count = 0, i = 0;
  for (; i + 8 <= n; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, mask + i, 8);
    count += static_cast<std::int64_t>(eight * ones >> 56);
  }
  for (; i < n; ++i) count += mask[i];
  return count;
}

// Writes the places of those that hold in [from, to), at most `room`. Eight at a time, without a
// branch for each: places beyond the last one are written again.
template <class I>
void write_places(const bool* mask, std::int64_t from, std::int64_t to, I* out, std::int64_t room) {
  dispatch([=]() mutable {
    I* const end = out + room;
    std::int64_t i = from;
    for (; i + 8 <= to && end - out >= 8; i += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, mask + i, 8);
      // Byte k is 0 or 1, and becomes bit k of the highest byte.
      const Offsets& offsets = offsets_of_bits[eight * 0x0102040810204080 >> 56];
      for (std::size_t k = 0; k < 8; ++k) out[k] = static_cast<I>(i) + offsets[k];
      out += eight * ones >> 56;
    }
    for (; i < to && out < end; ++i) {
      if (mask[i]) *out++ = static_cast<I>(i);
    }
  });
}

// The number of true elements before each stretch, and in all.
std::vector<std::int64_t> counts_before(const bool* mask, std::int64_t n) {
  const std::int64_t stretches = (n + stretch - 1) / stretch;
  std::vector<std::int64_t> before(index(stretches + 1), 0);
  runtime::parallel_for(stretches, [&](std::int64_t s) {
    const std::int64_t start = s * stretch;
    before[index(s + 1)] = count_stretch(mask + start, std::min(stretch, n - start));
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  return before;
}

}  // namespace

std::int64_t count_true(const bool* mask, std::int64_t n) { return counts_before(mask, n).back(); }

namespace {

template <class I>
void find_places(const bool* mask, std::int64_t n, I* out, std::int64_t size) {
  const std::vector<std::int64_t> before = counts_before(mask, n);
  runtime::parallel_for(std::ssize(before) - 1, [&](std::int64_t s) {
    const auto at = index(s);
    const std::int64_t first = before[at], end = std::min(before[at + 1], size);
    if (first >= end) return;
    write_places(mask, s * stretch, std::min(n, (s + 1) * stretch), out + first, end - first);
  });
  if (before.back() < size) {
    std::fill(out + before.back(), out + size, static_cast<I>(n));
  }
}

}  // namespace

void nonzero(const bool* mask, std::int64_t n, std::int32_t* out, std::int64_t size) {
  find_places(mask, n, out, size);
}
void nonzero(const bool* mask, std::int64_t n, std::int64_t* out, std::int64_t size) {
  find_places(mask, n, out, size);
}

}  // namespace shardax::kernels
