// tests/kernels/target_check.cpp - the promises of base/target.h and array/half.h for any compiler.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "array/half.h"
#include "base/target.h"

namespace {

using namespace shardax;

int failures = 0;
void expect(bool holds, const char* what, std::uint64_t at) {
  if (holds) return;
  if (++failures <= 20) std::printf("%s: %llx\n", what, static_cast<unsigned long long>(at));
}

// The value of a half, by its definition.
double value_of(std::uint16_t half) {
  const int exponent = (half >> 10) & 31, fraction = half & 1023;
  double value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
  return half >> 15 ? -value : value;
}

// Each half, what lies between it and the next one, and next to the middle.
void check_halves() {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto half = static_cast<std::uint16_t>(h);
    const double value = value_of(half);
    const float wide = float_of_half_bits(half);
    if (std::isnan(value)) {
      expect(std::isnan(wide), "NaN of a half", h);
      expect(half_bits(wide) == (half | 0x200), "NaN there and back", h);
      expect(std::isnan(to_float(to_float16(wide))), "NaN by the compiler", h);
      continue;
    }
    expect(static_cast<double>(wide) == value, "value", h);
    expect(std::signbit(wide) == (half >> 15 != 0), "sign", h);
    expect(half_bits(wide) == half && half_bits(value) == half, "there and back", h);
    expect(to_float16(wide).bits == half && to_float(float16_t{half}) == wide, "by the compiler",
           h);
    const std::uint16_t next = static_cast<std::uint16_t>(half + 1);
    if ((half & 0x7fff) >= 0x7bff) continue;
    const double middle = (value + value_of(next)) / 2;
    const std::uint16_t even = half % 2 == 0 ? half : next;
    expect(half_bits(middle) == even && half_bits(static_cast<float>(middle)) == even, "tie", h);
    const bool up = !(half >> 15);
    const double above = std::nextafter(middle, up ? INFINITY : -INFINITY),
                 below = std::nextafter(middle, up ? -INFINITY : INFINITY);
    // Doubles that a float on the way would round to the tie.
    expect(half_bits(above) == next && to_float16(above).bits == next, "above a tie", h);
    expect(half_bits(below) == half && to_float16(below).bits == half, "below a tie", h);
  }
  for (const double large : {65519.99, 65520.0, 1e5, 1e300, HUGE_VAL}) {
    const std::uint16_t expected = large < 65520 ? 0x7bff : 0x7c00;
    expect(half_bits(large) == expected && half_bits(-large) == (expected | 0x8000), "large",
           std::bit_cast<std::uint64_t>(large));
  }
}

typedef std::int32_t Eight __attribute__((vector_size(32)));
typedef std::int32_t Four __attribute__((vector_size(16)));

void check_shuffles() {
  Eight a, b, order;
  for (int l = 0; l < 8; ++l) {
    a[l] = 10 + l;
    b[l] = 20 + l;
    order[l] = (5 * l + 3) % 16;
  }
  Eight mixed, same = a, known;
  shuffle(mixed, a, b, order);
  for (int l = 0; l < 8; ++l) {
    const int from = (5 * l + 3) % 16;
    expect(mixed[l] == (from < 8 ? 10 + from : 12 + from), "shuffle", static_cast<unsigned>(l));
    order[l] = 7 - l;
  }
  permute(same, order);
  shuffle<8, 0, 9, 1, 10, 2, 15, 7>(known, a, b);
  Four half;
  shuffle<4, 5, 6, 15>(half, a, b);
  const Eight expected{20, 10, 21, 11, 22, 12, 27, 17};
  for (int l = 0; l < 8; ++l) {
    expect(same[l] == 17 - l, "permute", static_cast<unsigned>(l));
    expect(known[l] == expected[l], "known shuffle", static_cast<unsigned>(l));
  }
  expect(half[0] == 14 && half[1] == 15 && half[2] == 16 && half[3] == 27, "half", 0);
}

float sum(const float* x, std::int64_t n) {
  float parts[16] = {};
  for (std::int64_t i = 0; i < n; ++i) parts[i % 16] += x[i] * x[i] + 0.1f;
  float total = 0;
  for (const float part : parts) total += part;
  return total;
}

// Each level that the processor has gives the same bits; stores do not change what was captured.
void check_levels() {
  std::vector<float> x(1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i + 3);
  const float* from = x.data();
  const auto f = [=] { return sum(from, 1000); };
  const float expected = at_baseline(f);
  expect(dispatch(f) == expected && dispatch_256(f) == expected, "dispatch", 0);
  if (processor_level != Level::baseline) expect(at_v3(f) == expected, "v3", 0);
  if (processor_level == Level::v4) expect(at_v4(f) == expected, "v4", 0);
  std::int64_t n = 7;
  std::int64_t* out = &n;
  dispatch([=] {
    for (std::int64_t i = 0; i < n; ++i) *out = i;
  });
  expect(n == 6, "captured by copy", static_cast<std::uint64_t>(n));
}

}  // namespace

int main() {
  check_halves();
  check_shuffles();
  check_levels();
  return failures != 0;
}
