// kernels/conv/tiling.cpp - boxes that fit caches and keep cores busy.
#include "kernels/conv/tiling.h"

#include <algorithm>

#include "base/target.h"
#include "runtime/pool.h"

namespace shardax::kernels {
namespace {

// The share of lanes at work where n elements take vectors of `size`.
double share(std::int64_t n, std::int64_t size) {
  return static_cast<double>(n) / static_cast<double>(parts_of(n, size) * size);
}

// Steps of a run: 32 blocks, of long sums fewer, about an eighth. These are gradients of kernels,
// whose few outputs are to keep cores busy.
std::int64_t run_of(std::int64_t steps) {
  constexpr std::int64_t most = 32;
  const std::int64_t blocks = parts_of(steps, matmul_k_block);
  return matmul_k_block * (blocks <= most ? most : std::clamp(parts_of(blocks, 8), most / 4, most));
}

// Every tap along the last dimension, none left out.
bool even_taps(const ConvSpace& x, const Line& line) {
  return x.lhs_dilation == 1 && static_cast<std::int64_t>(line.taps.size()) == x.rhs_size;
}

}  // namespace

Cutter::Cutter(const ConvArgs& p, std::int64_t size, std::int64_t vector, std::int64_t panel)
    : p_(p), size_(size), vector_(vector), panel_(panel), batch_(batch_size(p)) {}

std::int64_t Cutter::width() const {
  // As many features as half a vector has lanes.
  if (2 * p_.o.size == vector_ && vector_ * size_ == 64 && has_fast_halves()) return vector_ / 2;
  return p_.o.size <= vector_ ? vector_ : panel_;
}

double Cutter::nanoseconds(const Part& part) const {
  const double outputs =
      static_cast<double>(batch_ * p_.n.size * p_.o.size) * static_cast<double>(part.outputs());
  return outputs * (static_cast<double>(part.steps) + 8) * static_cast<double>(size_) / 160;
}

bool Cutter::has_lanes() const {
  if (p_.o.size != 1 || p_.batch.empty()) return false;
  const ConvAxis& lane = p_.batch.back();
  return lane.lhs == 1 && lane.out == 1 && itemsize(p_.dtype) == size_ &&
         itemsize(p_.out_dtype) == size_ && lane.size >= vector_ / 4;
}

Strategy Cutter::way(const Part& part) const {
  if (has_lanes()) return Strategy::lanes;
  const Line &x = part.lines[2], &y = part.lines[1];
  // The extra cost of writing results transposed.
  const double turned = 1 / (1 + 8 / static_cast<double>(part.steps));
  const bool along_x = p_.space[2].out * x.step == 1;
  // Tiles of packed panels are the largest: 12 x 2 vectors, of one vector or half of one 12, of
  // lines 6 x 2 or 6.
  const bool last = p_.o.out == 1;
  const double of_width = width() > vector_ ? 1 : width() == vector_ ? 0.8 : last ? 0.75 : 0.6;
  const double features = share(p_.o.size, width()) * of_width * (last ? 1 : turned);
  const double single = p_.o.size == 1 ? 0.6 : 1;
  const double outputs = share(x.count, vector_) *
                         (x.count < vector_       ? 0.4
                          : x.count < 2 * vector_ ? 0.7
                                                  : 0.85) *
                         single * (along_x ? 1 : turned);
  // One feature has nothing to reuse but its window: long rows of many lines take the least steps.
  const bool one = p_.o.size == 1;
  double flat = 0;
  if (y.lhs_step == 1 && x.lhs_step == 1 && y.count > 1 && x.count < (one ? 8 : 2) * vector_) {
    const std::int64_t pitch = x.count + span_of(x) - 1;
    flat = share(x.count, pitch) * share((y.count - 1) * pitch + x.count, 2 * vector_) *
           (one ? 0.75 : turned * 0.85);
  }
  const double best = std::max({features, outputs, flat});
  if (p_.o.size <= vector_ / 2 && even_taps(p_.space[2], x) && x.count < p_.space[2].rhs_size) {
    const double rows = static_cast<double>(p_.n.size * part.outputs());
    const double sums = share(p_.space[2].rhs_size, vector_) / 2;
    const double packed = features * rows / (rows + 20);
    if (sums > std::max({outputs, flat, packed})) return Strategy::sums;
  }
  return best == features  ? Strategy::features
         : best == outputs ? Strategy::outputs
                           : Strategy::flat;
}

Tiling Cutter::cut(const Part& part) const {
  Tiling cut{};
  cut.way = way(part);
  cut.apart = 1;
  cut.run = run_of(part.steps);
  cut.batch = batch_;
  if (cut.way == Strategy::lanes) cut.batch /= p_.batch.back().size;
  const std::int64_t all = cut.way == Strategy::lanes ? p_.batch.back().size : p_.o.size;
  cut.columns = std::min<std::int64_t>(all, cut.way == Strategy::features ? 512 : 64);
  if (cut.way == Strategy::sums) {
    cut.columns = p_.space[2].rhs_size;
    cut.apart = p_.o.size;
    cut.run = std::max<std::int64_t>(1, 32 / cut.columns) * matmul_k_block;
  }
  const std::int64_t steps = cut.way == Strategy::sums ? part.steps / cut.columns : part.steps;
  cut.runs = std::max<std::int64_t>(1, parts_of(steps, cut.run));
  std::int64_t rows = cut.way == Strategy::features
                          ? (items_side_by_side() && cut.runs > 1 ? 640 : 240)
                      : cut.way == Strategy::lanes ? 256
                                                   : 1024 * std::clamp<std::int64_t>(8 / all, 1, 4);
  const std::int64_t enough = runtime::enough_chunks(8);
  while (true) {
    boxes(part, cut, rows);
    cut.column_parts = cut.way == Strategy::sums ? 1 : parts_of(all, cut.columns);
    const double each = nanoseconds(part) / static_cast<double>(cut.blocks());
    if (each < (enough > 8 ? 50e3 : 100e3) || cut.blocks() * cut.runs >= enough) break;
    if (cut.runs == 1 && rows > 60) {
      rows /= 2;
    } else if (cut.way == Strategy::features && cut.columns > 2 * width()) {
      cut.columns = padded(cut.columns / 2);
    } else {
      break;
    }
  }
  std::int64_t outputs = cut.n * cut.t[0] * cut.t[1] * cut.t[2];
  if (cut.way == Strategy::flat) {
    const std::int64_t pitch = part.lines[2].count + span_of(part.lines[2]) - 1;
    outputs = cut.n * cut.t[0] * ((cut.t[1] - 1) * pitch + part.lines[2].count);
  }
  cut.room =
      outputs * cut.apart * (cut.way == Strategy::features ? padded(cut.columns) : cut.columns);
  segments(part, cut);
  cut.split =
      cut.runs > 1 && cut.blocks() < 16 && cut.blocks() * cut.runs * cut.room * size_ <= 64 << 20;
  return cut;
}

// Rows of panels leave out taps that meet padding, along the dimensions where that takes the least
// time. Rows that see the same taps may be too few to fill tiles. But if no padding is read, then
// nothing is copied.
void Cutter::segments(const Part& part, Tiling& cut) const {
  std::array<std::vector<Segment>, 3> all, seen;
  std::array<bool, 3> padded{};
  for (std::size_t d = 0; d < 3; ++d) {
    const Line& line = part.lines[d];
    const auto taps = static_cast<std::int64_t>(line.taps.size());
    all[d] = {{0, line.count, 0, taps}};
    seen[d] = segments_of(line, p_.space[d].lhs_size);
    for (const Segment& s : seen[d]) padded[d] = padded[d] || s.end_tap - s.first_tap < taps;
  }
  cut.segments = all;
  cut.reads_padding = padded[0] || padded[1] || padded[2];
  // Groups of half a vector use too little of each line of lhs to read it in place.
  constexpr double least_nanoseconds = 20e3;
  if (cut.way != Strategy::features || !cut.reads_padding || width() < vector_ ||
      nanoseconds(part) < least_nanoseconds)
    return;
  double least = cycles(part, cut);
  Tiling other = cut;
  for (unsigned which = 1; which < 8; ++which) {
    bool differs = true;
    other.reads_padding = false;
    for (std::size_t d = 0; d < 3; ++d) {
      const bool split = which >> d & 1;
      differs = differs && (!split || padded[d]);
      other.reads_padding = other.reads_padding || (padded[d] && !split);
    }
    if (!differs) continue;
    for (std::size_t d = 0; d < 3; ++d) other.segments[d] = which >> d & 1 ? seen[d] : all[d];
    const double time = cycles(part, other);
    if (time < least) least = time, cut = other;
  }
}

// Of a panel, for one channel of the boxes of some items.
double Cutter::cycles(const Part& part, const Tiling& cut) const {
  // Boxes and segments of a dimension that meet: outputs, taps that they see, and how often.
  struct Piece {
    std::int64_t outputs, taps, count;
  };
  std::array<std::vector<Piece>, 3> pieces;
  for (std::size_t d = 0; d < 3; ++d) {
    for (std::int64_t t = 0; t < part.lines[d].count; t += cut.t[d]) {
      for (const Segment& s : cut.segments[d]) {
        const std::int64_t outputs = std::min(t + cut.t[d], s.end) - std::max(t, s.first);
        const std::int64_t taps = s.end_tap - s.first_tap;
        const auto same = std::find_if(pieces[d].begin(), pieces[d].end(), [&](const Piece& p) {
          return p.outputs == outputs && p.taps == taps;
        });
        if (same != pieces[d].end()) {
          ++same->count;
        } else if (outputs > 0) {
          pieces[d].push_back({outputs, taps, 1});
        }
      }
    }
  }
  const std::int64_t vectors = width() > vector_ ? 2 : 1;
  constexpr std::int64_t tile = 12;
  const auto steps = static_cast<double>(std::min(part.steps, matmul_k_block)),
             panels = static_cast<double>(parts_of(cut.columns, width()));
  // Of each step: to call a tile, and to find the rows and the steps of a group, for all panels.
  const double call = 60 / steps, find = (3 + 150 / steps) / panels;
  double sum = 0;
  if (cut.reads_padding || itemsize(p_.dtype) != size_) {
    constexpr double copying = 0.25;  // of an element
    double copied = static_cast<double>(cut.n);
    for (std::size_t d = 0; d < 3; ++d)
      copied *= static_cast<double>(
          cut.t_parts[d] * (span_of(part.lines[d]) + part.lines[d].lhs_step * (cut.t[d] - 1)));
    sum += copying * copied / panels;
  }
  for (const Piece& z : pieces[0]) {
    for (const Piece& y : pieces[1]) {
      for (const Piece& x : pieces[2]) {
        const std::int64_t rows = cut.n * z.outputs * y.outputs * x.outputs,
                           tiles = parts_of(rows, tile),
                           each = std::max<std::int64_t>(vectors * parts_of(rows, tiles) + 2, 6);
        sum += (static_cast<double>(tiles) * (static_cast<double>(each) + call) + find) *
               static_cast<double>(z.taps * y.taps * x.taps * z.count * y.count * x.count);
      }
    }
  }
  return sum;
}

// Boxes of about `rows` outputs, whole along the dimensions that are adjacent in lhs: the last
// ones, or items if these are side by side.
void Cutter::boxes(const Part& part, Tiling& cut, std::int64_t rows) const {
  const std::int64_t taps = part.steps / std::max<std::int64_t>(p_.c.size, 1);
  const std::int64_t channels =
      std::min(p_.c.size, matmul_k_block / std::max<std::int64_t>(taps, 1) + 2);
  std::int64_t left = std::max<std::int64_t>(rows, 1);
  const bool items_first = cut.way == Strategy::features && items_side_by_side() && cut.runs > 1;
  const auto take_items = [&] {
    cut.n = even(p_.n.size, left);
    left = cut.n == p_.n.size ? std::max<std::int64_t>(1, left / cut.n) : 1;
  };
  if (items_first) take_items();
  for (std::size_t d = 3; d-- > 0;) {
    const std::int64_t count = part.lines[d].count;
    const bool whole =
        d == 2 && (cut.way == Strategy::flat || (cut.way == Strategy::outputs && count < 4096));
    cut.t[d] = whole ? count : even(count, left);
    left = cut.t[d] == count ? std::max<std::int64_t>(1, left / count) : 1;
  }
  if (!items_first) take_items();
  // Their part of lhs stays in the second-level cache.
  const auto seen = [&] {
    std::int64_t size = cut.n * channels;
    for (std::size_t d = 0; d < 3; ++d) {
      const Line& l = part.lines[d];
      const std::int64_t span = span_of(l);
      // Few channels with many taps: a block of steps sees some of them only.
      size *=
          std::min(span, taps > matmul_k_block && d < 2 ? 8 : span) + l.lhs_step * (cut.t[d] - 1);
    }
    return size * size_;
  };
  while (seen() > 512 << 10) {
    if (cut.n > 1) {
      cut.n = even(p_.n.size, cut.n / 2);
    } else if (cut.t[0] > 1) {
      cut.t[0] = even(part.lines[0].count, cut.t[0] / 2);
    } else if (cut.t[1] > 1) {
      cut.t[1] = even(part.lines[1].count, cut.t[1] / 2);
    } else {
      break;
    }
  }
  cut.n_parts = parts_of(p_.n.size, cut.n);
  for (std::size_t d = 0; d < 3; ++d) cut.t_parts[d] = parts_of(part.lines[d].count, cut.t[d]);
}

}  // namespace shardax::kernels
