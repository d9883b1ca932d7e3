// kernels/conv/packed_product.h - products of bfloat16: operands packed, multiplied, and written.
//
// Private to kernels/conv. Rows are outputs, whose elements are copied out of a window; columns are
// features. packed_boxes.cpp and packed_segments.cpp cut the outputs and the sums.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "array/half.h"
#include "base/target.h"
#include "kernels/ceil_div.h"
#include "kernels/conv/packed_runs.h"
#include "kernels/conv/packed_window.h"
#include "kernels/gemm/packed_dot_kernels.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace shardax::kernels {

using PairKernels = GroupKernels<Bits16, float>;
using Row = std::int64_t;  // the place of an output in a window, or in the result

inline constexpr std::int64_t block_rows = 64;  // their packed elements stay in the first caches

inline std::int64_t taps_of(const Line& line) {
  return static_cast<std::int64_t>(line.taps.size());
}

// Taps [first, end) of each dimension, and channels: some elements of the sums.
struct Elements {
  std::int64_t c0, c1;
  Ints3 w0, w1;
};

class PackedProduct {
 protected:
  PackedProduct(const ConvArgs& p, const Part& part, Inner inner, const PairKernels& kernels)
      : p_(p),
        part_(part),
        inner_(inner),
        kernels_(kernels),
        floats_(float_kernels<float>(best_isa())),
        round_(floats_.round(p.out_dtype)),
        panels_(parts_of(p.o.size, kernels.panel)),
        batch_(batch_size(p)) {
    const std::vector<Tap>& taps = part.lines[2].taps;
    if (taps.size() > 1) tap_step_ = taps[1].place - taps[0].place;
  }

  std::int64_t width() const { return panels_ * kernels_.panel; }
  const Bits16* lhs(std::int64_t batch) const {
    return reinterpret_cast<const Bits16*>(p_.lhs) + batch_offset(p_, batch, &ConvAxis::lhs);
  }
  const Bits16* rhs(std::int64_t batch) const {
    return reinterpret_cast<const Bits16*>(p_.rhs) + batch_offset(p_, batch, &ConvAxis::rhs);
  }
  double nanoseconds(double rows, double steps) const {
    const double groups = steps / static_cast<double>(kernels_.group);
    return rows * static_cast<double>(panels_) * groups * kernels_.nanoseconds + rows * steps / 16;
  }
  Elements whole() const {
    return {0,
            p_.c.size,
            {0, 0, 0},
            {taps_of(part_.lines[0]), taps_of(part_.lines[1]), taps_of(part_.lines[2])}};
  }

  // Calls f(channel, count, taps) for each run of elements in order; counts go along `inner_`.
  template <class F>
  void for_runs(const Elements& s, F&& f) const {
    const auto &z = part_.lines[0].taps, &y = part_.lines[1].taps, &x = part_.lines[2].taps;
    const bool channels = inner_ == Inner::channels;
    for (std::int64_t c = s.c0; c < (channels ? s.c0 + 1 : s.c1); ++c) {
      for (std::int64_t i = s.w0[0]; i < s.w1[0]; ++i) {
        for (std::int64_t j = s.w0[1]; j < s.w1[1]; ++j) {
          for (std::int64_t k = s.w0[2]; k < (channels ? s.w1[2] : s.w0[2] + 1); ++k)
            f(c, channels ? s.c1 - s.c0 : s.w1[2] - s.w0[2], z[index(i)], y[index(j)], x[index(k)]);
        }
      }
    }
  }
  // The places in rhs of the elements of a segment.
  void find_in_rhs(const Elements& s, Runs& runs) const {
    runs.clear();
    const std::vector<Tap>& taps = part_.lines[2].taps;
    const std::int64_t step = inner_ == Inner::channels ? p_.c.rhs
                              : taps.size() > 1         ? (taps[1].w - taps[0].w) * p_.space[2].rhs
                                                        : 1;
    for_runs(s, [&](std::int64_t c, std::int64_t count, const Tap& z, const Tap& y, const Tap& x) {
      const std::int64_t at =
          c * p_.c.rhs + z.w * p_.space[0].rhs + y.w * p_.space[1].rhs + x.w * p_.space[2].rhs;
      runs.add({at, count, step});
    });
  }

  // Columns from j on of rhs, n of them, as a panel.
  void pack_panel(const Runs& runs, const Bits16* rhs, std::int64_t j, std::int64_t n,
                  std::uint32_t* out) const {
    constexpr std::int64_t most = Runs::block, pitch = most + Runs::together, widest = 32;
    alignas(64) Bits16 lines[widest * pitch];
    std::int64_t places[most];
    rhs += j * p_.o.rhs;
    for (std::size_t b = 0; b < runs.blocks(); ++b) {
      const std::int64_t length = runs.length(b), padded = runs.padded(b),
                         groups = padded / kernels_.group;
      if (p_.o.rhs == 1) {
        std::int64_t* to = places;
        for (const Run* r = runs.first(b); r < runs.last(b); ++r)
          for (std::int64_t i = 0; i < r->count; ++i) *to++ = r->at + i * r->step;
        if (n < kernels_.panel || padded > length)
          std::fill_n(out, groups * kernels_.panel, std::uint32_t{});
        for (std::int64_t i = 0; i < length; i += 2) {
          const bool both = i + 1 < length;
          kernels_.pack_rows(rhs + places[i], both ? places[i + 1] - places[i] : 0, n, both ? 2 : 1,
                             0, out + i / 2 * kernels_.panel, kernels_.panel);
        }
      } else {
        for (std::int64_t l = 0; l < kernels_.panel; ++l) {
          Bits16* to = lines + l * pitch;
          for (const Run* r = runs.first(b); l < n && r < runs.last(b); ++r) {
            const Bits16* const from = rhs + l * p_.o.rhs + r->at;
            if (r->step == 1) {
              copy16(from, r->count, to);
            } else {
              for (std::int64_t i = 0; i < r->count; ++i) to[i] = from[i * r->step];
            }
            to += r->count;
          }
          std::fill(to, lines + l * pitch + padded, Bits16{});
        }
        // Turned as floats: they are moved only.
        floats_.turn(reinterpret_cast<const float*>(lines), pitch / 2, groups, kernels_.panel,
                     kernels_.panel, reinterpret_cast<float*>(out));
      }
      out += groups * kernels_.panel;
    }
  }
  std::int64_t panel_size(const Runs& runs) const {
    return runs.padded() / kernels_.group * kernels_.panel;
  }

  // Words between packed rows: an odd number of cache lines.
  static constexpr std::int64_t row_words = Runs::block / 2 + 16;

  // Copies the elements of block b of `rows` rows.
  static void pack_rows(const Runs& runs, std::size_t b, const Bits16* window, const Row* sites,
                        std::int64_t rows, Bits16* to) {
    const Run *const first = runs.first(b), *const last = runs.last(b);
    const std::int64_t length = runs.length(b), padded = runs.padded(b);
    dispatch([=] {
      constexpr std::int64_t few = 16, many = 32;  // elements that are copied at a time
      for (std::int64_t r = 0; r < rows; ++r) {
        // Too many are copied; the next run is written over them.
        Bits16* out = to + r * 2 * row_words;
        for (const Run* run = first; run < last; ++run) {
          const Bits16* const from = window + sites[r] + run->at;
          const std::int64_t n = run->count;
          if (n <= few) {
            __builtin_memcpy(out, from, few * sizeof *out);
          } else {
            for (std::int64_t i = 0; i < n; i += many)
              __builtin_memcpy(out + i, from + i, many * sizeof *out);
          }
          out += n;
        }
        for (std::int64_t i = length; i < padded; ++i) to[r * 2 * row_words + i] = 0;
      }
    });
  }

  // The sums of up to block_rows rows with features in panels, which lie `apart`.
  void multiply(const Runs& runs, const Bits16* window, const Row* sites, std::int64_t rows,
                const std::uint32_t* panels, std::int64_t apart, std::int64_t features,
                std::uint32_t* room, float* sums, bool add) const {
    const std::int64_t pitch = parts_of(features, kernels_.panel) * kernels_.panel;
    for (std::size_t b = 0; b < runs.blocks(); ++b) {
      pack_rows(runs, b, window, sites, rows, reinterpret_cast<Bits16*>(room));
      const std::uint32_t* columns =
          panels + static_cast<std::int64_t>(b) * Runs::block / 2 * kernels_.panel;
      if (kernels_.open) kernels_.open();
      for (std::int64_t j = 0; j < features; j += kernels_.panel, columns += apart)
        kernels_.rows_by_panel(rows, features - j, runs.padded(b) / kernels_.group, room, row_words,
                               columns, sums + j, pitch, add || b > 0);
      if (kernels_.close) kernels_.close();
    }
  }

  // Places of the outputs of a box in the result, and in a window whose first output is at `start`.
  void find_rows(const Box& box, const Ints3& start, const PackedWindow& window,
                 std::vector<Row>& places, std::vector<Row>& sites) const {
    places.resize(index(box.rows()));
    sites.resize(index(box.rows()));
    Row *place = places.data(), *site = sites.data();
    const Line& line = part_.lines[2];
    const std::int64_t apart = line.step * p_.space[2].out;
    for (std::int64_t n = box.n0; n < box.n1; ++n) {
      for (std::int64_t z = box.t0[0]; z < box.t1[0]; ++z) {
        for (std::int64_t y = box.t0[1]; y < box.t1[1]; ++y) {
          const Ints3 t{z, y, box.t0[2]};
          Ints3 seen{};
          std::int64_t at = n * p_.n.out;
          for (std::size_t d = 0; d < 3; ++d) {
            const Line& l = part_.lines[d];
            at += (l.first + t[d] * l.step) * p_.space[d].out;
            if (d < 2) seen[d] = (t[d] - start[d]) * l.lhs_step;
          }
          const std::int64_t first = window.at(n - box.n0, 0, seen);
          for (std::int64_t x = 0; x < box.t1[2] - box.t0[2]; ++x) {
            *place++ = at + x * apart;
            *site++ = first + window.along((x + box.t0[2] - start[2]) * line.lhs_step);
          }
        }
      }
    }
  }

  // Fills the window for a box of outputs and finds the elements of their sums there.
  void see(const Box& box, const Elements& s, const Bits16* lhs, PackedWindow& window,
           Runs& runs) const {
    Seen seen{box.n0, box.n1, s.c0, s.c1, {}, {}};
    Ints3 first{};
    for (std::size_t d = 0; d < 3; ++d) {
      const Line& l = part_.lines[d];
      first[d] = l.taps[index(s.w0[d])].place;
      seen.low[d] = first[d] + box.t0[d] * l.lhs_step;
      seen.size[d] = l.taps[index(s.w1[d] - 1)].place - first[d] + 1 +
                     (box.t1[d] - 1 - box.t0[d]) * l.lhs_step;
    }
    window.fill(lhs, seen);
    runs.clear();
    find_in_window(s, s.c0, first, window, runs);
  }
  // The elements of sums in a window that starts with channel c0 and these places of taps.
  void find_in_window(const Elements& s, std::int64_t c0, const Ints3& first,
                      const PackedWindow& window, Runs& runs) const {
    for_runs(s, [&](std::int64_t c, std::int64_t count, const Tap& z, const Tap& y, const Tap& x) {
      const Ints3 place{z.place - first[0], y.place - first[1], x.place - first[2]};
      runs.add({window.at(0, c - c0, place), count, 1});
    });
  }

  // Rows of sums, `pitch` apart, of features [j, j + n) to the result at `out`.
  void write(const float* sums, std::int64_t pitch, const Row* places, std::int64_t rows,
             std::int64_t j, std::int64_t n, std::int64_t out) const {
    const std::int64_t bytes = itemsize(p_.out_dtype), step = p_.o.out;
    std::byte* const to = p_.out + (out + j * step) * bytes;
    for (std::int64_t i = 0; i < rows;) {
      std::int64_t end = i + 1;
      const std::int64_t apart = end < rows ? places[end] - places[i] : 1;
      while (step != 1 && end < rows && places[end] == places[end - 1] + apart) ++end;
      const float* from = sums + i * pitch;
      if (end - i < 4 || (apart != 1 && p_.out_dtype == DType::float32)) {
        for (; i < end; ++i, from += pitch) round_(from, 1, n, to + places[i] * bytes, 0, step);
        continue;
      }
      turn_out(from, pitch, end - i, n, to + places[i] * bytes, apart);
      i = end;
    }
  }
  // Whole panels of sums, rounded to bfloat16.
  static void round_panels(const float* sums, std::int64_t pitch, std::int64_t rows,
                           std::int64_t columns, Bits16* to, std::int64_t to_pitch) {
    dispatch([=] {
      constexpr std::int64_t panel = 32;
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t j = 0; j < columns; j += panel) {
          SHARDAX_IVDEP
          for (std::int64_t l = j; l < j + panel; ++l)
            to[r * to_pitch + l] = to_bfloat16(sums[r * pitch + l]).bits;
        }
      }
    });
  }
  // The sums of outputs that lie `apart`.
  void turn_out(const float* sums, std::int64_t pitch, std::int64_t rows, std::int64_t n,
                std::byte* to, std::int64_t apart) const {
    const std::int64_t step = p_.o.out;
    if (p_.out_dtype == DType::float32)
      return floats_.turn(sums, pitch, n, rows, step, reinterpret_cast<float*>(to));
    constexpr std::int64_t some = 64, panel = 32;
    Bits16 rounded[block_rows * some], turned[block_rows * some];
    Bits16* lines[some];
    for (std::int64_t j = 0; j < n; j += some) {
      const std::int64_t count = std::min(some, n - j);
      Bits16* const first = reinterpret_cast<Bits16*>(to) + j * step;
      round_panels(sums + j, pitch, rows, parts_of(count, panel) * panel, rounded, some);
      for (std::int64_t l = 0; l < count; ++l)
        lines[l] = apart == 1 ? first + l * step : turned + l * block_rows;
      transpose16(rounded, some, count, rows, lines);
      for (std::int64_t l = 0; apart != 1 && l < count; ++l) {
        for (std::int64_t r = 0; r < rows; ++r) first[l * step + r * apart] = lines[l][r];
      }
    }
  }

  const ConvArgs& p_;
  const Part& part_;
  const Inner inner_;
  const PairKernels& kernels_;
  const FloatKernels<float>& floats_;
  const Round<float> round_;
  const std::int64_t panels_, batch_;
  std::int64_t tap_step_ = 1;
};

// Outputs in boxes, each of which has all the elements of its sums: convolutions.
void convolution_in_boxes(const ConvArgs& p, const Part& part, const PairKernels& kernels,
                          ParallelFor parallel_for);
// Elements of sums in segments, all outputs of some items at a time: gradients of kernels.
void convolution_in_segments(const ConvArgs& p, const Part& part, const PairKernels& kernels,
                             ParallelFor parallel_for);

}  // namespace shardax::kernels
