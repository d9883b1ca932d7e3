// kernels/conv/depthwise_window.h - the part of lhs that some rows of a plane see.
//
// Private to kernels/conv. It is copied, with zeros around. Unlike those of block.h's WindowFinder
// the windows of all planes have one shape, which is found once.
#pragma once

#include <vector>

#include "kernels/ceil_div.h"
#include "kernels/conv/block.h"

namespace shardax::kernels {

// Rows are not cut: a chunk has whole ones.
constexpr std::int64_t depthwise_most_columns = 4096;

// Are the last convolutions of the batch side by side, in lhs and in another array?
inline bool has_lanes(const ConvArgs& p, std::int64_t ConvAxis::*other) {
  if (p.batch.empty() || p.dtype != p.out_dtype || itemsize(p.dtype) < 4) return false;
  const ConvAxis& lane = p.batch.back();
  return lane.lhs == 1 && lane.*other == 1 && lane.size >= 4;
}

// Rows of outputs whose window, of elements of so many bytes, stays in the first-level cache.
inline std::int64_t rows_in_cache(const ConvArgs& p, const Part& part, std::int64_t size) {
  constexpr std::int64_t bytes = 16 << 10;
  const Line &x = part.lines[2], &y = part.lines[1];
  const std::int64_t row =
      (x.count * x.lhs_step + span_of(x)) * p.c.size * span_of(part.lines[0]) * size;
  return std::max<std::int64_t>(1, (bytes / row - span_of(y)) / y.lhs_step);
}

// Rows [y0, y1) of outputs at z, of item n.
struct Rows {
  std::int64_t n, z, y0, y1;
};

// The rows of a part in blocks; items come first.
struct RowBlocks {
  RowBlocks(const ConvArgs& p, const Part& part, std::int64_t rows)
      : each(std::clamp<std::int64_t>(rows, 1, part.lines[1].count)),
        blocks(parts_of(part.lines[1].count, each)),
        items(p.n.size),
        count(items * part.lines[0].count * blocks) {}
  Rows rows(const Part& part, std::int64_t i) const {
    const std::int64_t n = i % items, y0 = i / items % blocks * each;
    return {n, i / items / blocks, y0, std::min(y0 + each, part.lines[1].count)};
  }

  std::int64_t each, blocks, items, count;
};

// The places of a window: (channel, z, y, x). Places along x that an output's step is apart are
// adjacent: they lie in groups by their remainder.
class PlaneShape {
 public:
  // `rows`: the most outputs along y; `past`: elements that may be read past the end of a row.
  PlaneShape(const ConvArgs& p, const Part& part, std::int64_t rows, std::int64_t past)
      : channels(p.c.size), step(part.lines[2].lhs_step), most_rows(rows) {
    for (std::size_t d = 0; d < 3; ++d) {
      const std::vector<Tap>& taps = part.lines[d].taps;
      low[d] = taps.empty() ? 0 : taps.front().place;
      size[d] = span_of(part.lines[d]);
    }
    size[1] += (rows - 1) * part.lines[1].lhs_step;
    size[2] += (part.lines[2].count - 1) * step;
    group = parts_of(size[2], step);
    pitch = group * step;
    elements = channels * size[0] * size[1] * pitch + past;
    for (std::int64_t c = 0; c < channels; ++c) {
      for (const Tap& z : part.lines[0].taps) {
        for (const Tap& y : part.lines[1].taps) {
          for (const Tap& x : part.lines[2].taps) {
            const std::int64_t right = x.place - low[2];
            taps.push_back(((c * size[0] + z.place - low[0]) * size[1] + y.place - low[1]) * pitch +
                           right % step * group + right / step);
          }
        }
      }
    }
  }

  std::int64_t channels, step, most_rows;
  Ints3 low, size;
  std::int64_t group, pitch, elements;
  std::vector<std::int64_t> taps;  // from the place of an output's first one on
};

template <class T>
class PlaneWindow {
 public:
  PlaneWindow(const ConvArgs& p, const Part& part, const PlaneShape& shape,
              const FloatKernels<T>& kernels)
      : p_(p), part_(part), shape_(shape), pack_(kernels.pack(p.dtype)), room_(shape.elements) {
    first_ = std::clamp<std::int64_t>(-shape.low[2], 0, shape.size[2]);
    end_ = std::clamp<std::int64_t>(p.space[2].lhs_size - shape.low[2], first_, shape.size[2]);
    is_native_ = itemsize(p.dtype) == sizeof(T);
  }

  // `lhs`: where the convolution's own batch starts.
  const T* fill(const std::byte* lhs, const Rows& rows) {
    const ConvSpace &z = p_.space[0], &y = p_.space[1];
    const std::int64_t z0 = shape_.low[0] + rows.z * part_.lines[0].lhs_step,
                       y0 = shape_.low[1] + rows.y0 * part_.lines[1].lhs_step;
    const std::int64_t seen =
        shape_.size[1] - (shape_.most_rows - (rows.y1 - rows.y0)) * part_.lines[1].lhs_step;
    const std::array<std::int64_t, 4> inside{
        std::clamp<std::int64_t>(-z0, 0, shape_.size[0]),
        std::clamp<std::int64_t>(z.lhs_size - z0, 0, shape_.size[0]),
        std::clamp<std::int64_t>(-y0, 0, shape_.size[1]),
        std::clamp<std::int64_t>(y.lhs_size - y0, 0, seen)};
    if (inside != inside_) {
      std::fill_n(room_.data(), shape_.elements, T{});
      inside_ = inside;
    }
    const std::int64_t width = itemsize(p_.dtype);
    lhs += (rows.n * p_.n.lhs + (shape_.low[2] + first_) * p_.space[2].lhs) * width;
    for (std::int64_t c = 0; c < shape_.channels; ++c) {
      for (std::int64_t i = inside[0]; i < inside[1]; ++i) {
        T* to =
            room_.data() + ((c * shape_.size[0] + i) * shape_.size[1] + inside[2]) * shape_.pitch;
        const std::byte* from =
            lhs + (c * p_.c.lhs + (z0 + i) * z.lhs + (y0 + inside[2]) * y.lhs) * width;
        for (std::int64_t j = inside[2]; j < inside[3]; ++j) {
          row(from, to);
          from += y.lhs * width, to += shape_.pitch;
        }
      }
    }
    return room_.data();
  }

 private:
  void row(const std::byte* from, T* to) const {
    const std::int64_t step = shape_.step, apart = p_.space[2].lhs;
    if (is_native_ && step * apart == 1)
      return copy_short(reinterpret_cast<const T*>(from), end_ - first_, to + first_);
    const auto place = [&](std::int64_t i) { return to + i % step * shape_.group + i / step; };
    if (is_native_ && apart == 1 && step == 2) {
      const T* const elements = reinterpret_cast<const T*>(from);
      return split_pairs(elements, end_ - first_, place(first_), place(first_ + 1));
    }
    for (std::int64_t i = first_; i < std::min(end_, first_ + step); ++i) {
      const std::int64_t n = parts_of(end_ - i, step), at = (i - first_) * apart;
      T* const out = place(i);
      if (is_native_) {
        const T* const elements = reinterpret_cast<const T*>(from) + at;
        for (std::int64_t k = 0; k < n; ++k) out[k] = elements[k * step * apart];
      } else {
        pack_(from + at * itemsize(p_.dtype), 0, step * apart, 1, n, n, out);
      }
    }
  }

  static void split_pairs(const T* from, std::int64_t n, T* __restrict even, T* __restrict odd) {
    for (std::int64_t k = 0; k < n / 2; ++k) even[k] = from[2 * k], odd[k] = from[2 * k + 1];
    if (n % 2 != 0) even[n / 2] = from[n - 1];
  }

  const ConvArgs& p_;
  const Part& part_;
  const PlaneShape& shape_;
  Pack<T> pack_;
  std::int64_t first_, end_;  // places of a row that are in lhs
  bool is_native_;
  AlignedBuffer<T> room_;
  std::array<std::int64_t, 4> inside_{-1, -1, -1, -1};  // planes and rows of the last one, in lhs
};

}  // namespace shardax::kernels
