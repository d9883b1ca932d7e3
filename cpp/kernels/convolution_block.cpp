// kernels/convolution_block.cpp - lines of outputs, and the steps of their sums.
#include "kernels/convolution_block.h"

#include <numeric>

namespace shardax::kernels {
namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

}  // namespace

std::vector<Line> lines_of(const ConvSpace& s) {
  const std::int64_t period = s.lhs_dilation / std::gcd(s.stride, s.lhs_dilation);
  std::vector<Line> lines;
  for (std::int64_t first = 0; first < std::min(period, s.out_size); ++first) {
    Line line{(s.out_size - first + period - 1) / period,
              first,
              period,
              period * s.stride / s.lhs_dilation,
              {}};
    for (std::int64_t w = 0; w < s.rhs_size; ++w) {
      const std::int64_t at = first * s.stride + w * s.rhs_dilation - s.low;
      const std::int64_t place = floor_div(at, s.lhs_dilation);
      if (place * s.lhs_dilation != at) continue;
      // Taps that only meet padding add nothing.
      if (place >= s.lhs_size || place + (line.count - 1) * line.lhs_step < 0) continue;
      line.taps.push_back({w, place});
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void Part::find(const ConvArgs& p, std::int64_t first, std::int64_t count, Steps& out) const {
  Ints3 at;
  std::int64_t rest = first;
  for (std::size_t d = 3; d-- > 0;) {
    const auto taps = static_cast<std::int64_t>(lines[d].taps.size());
    at[d] = rest % taps;
    rest /= taps;
  }
  std::int64_t channel = rest;
  out.count = count;
  out.first_channel = channel;
  out.low = {INT64_MAX, INT64_MAX, INT64_MAX};
  out.high = {INT64_MIN, INT64_MIN, INT64_MIN};
  for (std::int64_t k = 0; k < count; ++k) {
    out.channel[k] = static_cast<std::int32_t>(channel);
    std::int64_t rhs = channel * p.c.rhs;
    for (std::size_t d = 0; d < 3; ++d) {
      const Tap& tap = lines[d].taps[static_cast<std::size_t>(at[d])];
      rhs += tap.w * p.space[d].rhs;
      out.place[d][k] = static_cast<std::int32_t>(tap.place);
      out.low[d] = std::min(out.low[d], tap.place);
      out.high[d] = std::max(out.high[d], tap.place);
    }
    out.rhs[k] = rhs;
    out.last_channel = channel;
    for (std::size_t d = 3; d-- > 0;) {
      if (++at[d] < static_cast<std::int64_t>(lines[d].taps.size())) break;
      at[d] = 0;
      if (d == 0) ++channel;
    }
  }
}

}  // namespace shardax::kernels
