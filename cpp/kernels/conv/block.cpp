// kernels/conv/block.cpp - lines of outputs, and the steps of their sums.
#include "kernels/conv/block.h"

#include <numeric>

#include "base/index.h"

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

std::vector<Segment> segments_of(const Line& line, std::int64_t lhs_size) {
  std::vector<Segment> segments;
  const auto taps = static_cast<std::int64_t>(line.taps.size());
  for (std::int64_t t = 0; t < line.count; ++t) {
    const auto place = [&](std::int64_t k) {
      return line.taps[index(k)].place + t * line.lhs_step;
    };
    Segment own{t, t + 1, 0, taps};
    while (own.first_tap < taps && place(own.first_tap) < 0) ++own.first_tap;
    while (own.end_tap > own.first_tap && place(own.end_tap - 1) >= lhs_size) --own.end_tap;
    if (!segments.empty() && segments.back().first_tap == own.first_tap &&
        segments.back().end_tap == own.end_tap) {
      ++segments.back().end;
    } else {
      segments.push_back(own);
    }
  }
  return segments;
}

std::vector<Part> lines_by_taps(const ConvArgs& p) {
  std::array<std::vector<Line>, 3> lines;
  for (std::size_t d = 0; d < 3; ++d) lines[d] = lines_of(p.space[d]);
  std::vector<Part> parts;
  for (const Line& a : lines[0]) {
    for (const Line& b : lines[1]) {
      for (const Line& c : lines[2]) {
        Part part{{a, b, c}};
        part.steps = p.c.size;
        for (const Line& l : part.lines) part.steps *= static_cast<std::int64_t>(l.taps.size());
        parts.push_back(std::move(part));
      }
    }
  }
  return parts;
}

TapsBySegments::TapsBySegments(const ConvArgs& p, const Part& part) {
  const auto& lines = part.lines;
  std::array<std::vector<Segment>, 3> segments;
  for (std::size_t d = 0; d < 3; ++d) segments[d] = segments_of(lines[d], p.space[d].lhs_size);
  const auto taps = [&](std::size_t d) { return static_cast<std::int64_t>(lines[d].taps.size()); };
  const auto place = [&](std::size_t d, std::int64_t k) {
    return lines[d].taps[index(k)].place * p.space[d].lhs;
  };
  const std::size_t count = segments[0].size() * segments[1].size() * segments[2].size();
  all.reserve(count);
  lhs.resize(count * index(part.steps));
  steps.resize(lhs.size());
  std::int64_t *to_lhs = lhs.data(), *to_steps = steps.data();
  const auto row = [&](std::int64_t at, std::int64_t step, const Segment& x) {
    for (std::int64_t k = x.first_tap; k < x.end_tap; ++k) {
      *to_lhs++ = at + place(2, k);
      *to_steps++ = step + k;
    }
  };
  for (const Segment& z : segments[0]) {
    for (const Segment& y : segments[1]) {
      for (const Segment& x : segments[2]) {
        const std::int64_t first = to_lhs - lhs.data();
        for (std::int64_t c = 0; c < p.c.size; ++c) {
          for (std::int64_t i = z.first_tap; i < z.end_tap; ++i) {
            for (std::int64_t j = y.first_tap; j < y.end_tap; ++j)
              row(c * p.c.lhs + place(0, i) + place(1, j),
                  ((c * taps(0) + i) * taps(1) + j) * taps(2), x);
          }
        }
        all.push_back({{z, y, x}, first, to_lhs - lhs.data() - first});
      }
    }
  }
}

void Part::find(const ConvArgs& p, std::int64_t first, std::int64_t count, Steps& out) const {
  const auto size = [&](std::size_t d) { return static_cast<std::int64_t>(lines[d].taps.size()); };
  std::int64_t x = first % size(2), y = first / size(2) % size(1),
               z = first / size(2) / size(1) % size(0),
               channel = first / size(2) / size(1) / size(0);
  out.count = count;
  out.first_channel = channel;
  out.low = {INT64_MAX, INT64_MAX, INT64_MAX};
  out.high = {INT64_MIN, INT64_MIN, INT64_MIN};
  out.run_count = 0;
  const auto seen = [&](std::size_t d, std::int64_t place) {
    out.low[d] = std::min(out.low[d], place);
    out.high[d] = std::max(out.high[d], place);
  };
  for (std::int64_t k = 0; k < count;) {
    const Tap &outer = lines[0].taps[index(z)], &middle = lines[1].taps[index(y)];
    const Tap* taps = lines[2].taps.data() + x;
    const std::int64_t n = std::min(size(2) - x, count - k);
    out.runs[out.run_count++] = {k, n, channel, {outer.place, middle.place}, taps};
    const std::int64_t rhs =
        channel * p.c.rhs + outer.w * p.space[0].rhs + middle.w * p.space[1].rhs;
    for (std::int64_t i = 0; i < n; ++i) out.rhs[k + i] = rhs + taps[i].w * p.space[2].rhs;
    seen(0, outer.place);
    seen(1, middle.place);
    seen(2, taps[0].place);
    seen(2, taps[n - 1].place);
    out.last_channel = channel;
    k += n;
    x = 0;
    if (++y == size(1)) y = 0, ++z;
    if (z == size(0)) z = 0, ++channel;
  }
}

}  // namespace shardax::kernels
