// kernels/conv/block.h - the elements that a block of a convolution multiplies.
//
// Private to kernels/conv. Start at Line (the outputs of a dimension that see the same taps). Next
// are Steps (256 pairs of channel and tap) and Window (the place of lhs for a block).
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/index.h"
#include "base/target.h"
#include "kernels/aligned_buffer.h"
#include "kernels/ceil_div.h"
#include "kernels/conv/convolution.h"
#include "kernels/gemm/kernels.h"

namespace shardax::kernels {

using Ints3 = std::array<std::int64_t, 3>;

// A tap w, and the place in lhs where the first output of a line sees it.
struct Tap {
  std::int64_t w, place;
};
// Outputs first, first + step, ... of a dimension; the next one sees places lhs_step further.
struct Line {
  std::int64_t count, first, step, lhs_step;
  std::vector<Tap> taps;
};

// Places of a dimension that its taps span.
inline std::int64_t span_of(const Line& line) {
  return line.taps.empty() ? 1 : std::abs(line.taps.back().place - line.taps[0].place) + 1;
}

// The lines of a dimension: one for each residue of outputs that meets other elements between the
// zeros of a dilated lhs.
std::vector<Line> lines_of(const ConvSpace& s);

// Outputs [first, end) of a line, which see its taps [first_tap, end_tap) inside of lhs.
struct Segment {
  std::int64_t first, end, first_tap, end_tap;
};
std::vector<Segment> segments_of(const Line& line, std::int64_t lhs_size);

// Up to matmul_k_block pairs of a channel and a tap: where each lies in rhs, and in a window.
struct Steps {
  // Taps of the last dimension, one after the other.
  struct Run {
    std::int64_t first, count;       // steps
    std::int64_t channel, outer[2];  // places in the other dimensions
    const Tap* taps;
  };
  std::int64_t count, first_channel, last_channel;
  Ints3 low, high;  // the places of taps
  std::int64_t rhs[matmul_k_block], lhs[matmul_k_block];
  Run runs[matmul_k_block];
  std::int64_t run_count;

  // Calls f(first, count, stride) for steps that lie evenly in rhs.
  template <class F>
  void each_rhs_run(F&& f) const {
    for (std::int64_t k = 0; k < count;) {
      std::int64_t end = k + 1;
      const std::int64_t stride = end < count ? rhs[end] - rhs[k] : 1;
      while (end < count && rhs[end] - rhs[end - 1] == stride) ++end;
      f(k, end - k, stride);
      k = end;
    }
  }
};

// Parts of nearly equal size, of at most `size`.
inline std::int64_t even(std::int64_t n, std::int64_t size) {
  size = std::clamp<std::int64_t>(size, 1, std::max<std::int64_t>(n, 1));
  return parts_of(n, parts_of(n, size));
}

// Outputs whose lines are the same in all dimensions.
struct Part {
  std::array<Line, 3> lines;
  std::int64_t steps = 1;  // pairs in all
  std::int64_t outputs() const { return lines[0].count * lines[1].count * lines[2].count; }
  // Pairs [first, first + count) of the row-major order (channel, taps).
  void find(const ConvArgs& p, std::int64_t first, std::int64_t count, Steps& out) const;
};

// The outputs of a convolution of three dimensions, by the taps that they see.
std::vector<Part> lines_by_taps(const ConvArgs& p);
inline ConvArgs with_three_dimensions(ConvArgs p) {
  while (p.space.size() < 3) p.space.insert(0, ConvSpace{1, 1, 1, 0, 0, 0});
  return p;
}

// The outputs of a block: positions along n and along the lines.
struct Box {
  std::int64_t n0, n1;
  Ints3 t0, t1;
  std::int64_t rows() const {
    return (n1 - n0) * (t1[0] - t0[0]) * (t1[1] - t0[1]) * (t1[2] - t0[2]);
  }
};

// The taps of outputs in a segment of each dimension, `count` of them from `first` on in
// TapsBySegments.
struct SeenTaps {
  std::array<Segment, 3> at;
  std::int64_t first, count;
};
struct TapsBySegments {
  TapsBySegments(const ConvArgs& p, const Part& part);
  std::vector<SeenTaps> all;
  // Their places in lhs from that of output 0 on, and their numbers among the steps of the part.
  std::vector<std::int64_t> lhs, steps;
};

// The elements of lhs that a box sees in some steps: in place, or copied with zeros around.
template <class T>
struct Window {
  const T* data;
  std::int64_t n;  // strides
  Ints3 space;
  // Places along the last dimension lie in so many groups, `pitch` apart, by their remainder.
  std::int64_t phases = 1, pitch = 0;
  std::int64_t along(std::int64_t x) const {
    return phases == 1 ? x * space[2] : x % phases * pitch + x / phases;
  }
};

// Dimensions of a copy, outermost first.
struct CopyDim {
  std::int64_t size, from_stride, low, bound, to_stride;
  std::int64_t phases = 1;
};

// Rows are often too short for a call.
template <class T>
void copy_short(const T* from, std::int64_t n, T* to) {
  constexpr std::int64_t few = 16 / sizeof(T);
  if (n > 256) return static_cast<void>(std::copy_n(from, n, to));
  if (n < few) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
    return;
  }
  for (std::int64_t i = 0; i + few < n; i += few)
    std::memcpy(static_cast<void*>(to + i), from + i, 16);
  std::memcpy(static_cast<void*>(to + n - few), from + n - few, 16);
}

template <class T>
class WindowFinder {
 public:
  WindowFinder(const ConvArgs& p, const Part& part, const FloatKernels<T>& kernels)
      : p_(p), part_(part), pack_(kernels.pack(p.dtype)), width_(itemsize(p.dtype)) {
    native_ = itemsize(p.dtype) == sizeof(T);
  }

  // `lhs` is the element where the convolution's own batch starts. `lanes` elements of the next
  // batches lie side by side; unless `step` is 0, so do places along the last dimension that are
  // `step` apart. With `close` they are copied, and so lie the
  // lines of the last dimension side by side. Sets steps.lhs.
  Window<T> find(const std::byte* lhs, const Box& box, Steps& steps, std::int64_t lanes,
                 std::int64_t step, bool close, bool reads_padding) {
    const bool rows = step > 0;
    Ints3 low, size;
    bool inside = native_ && !close;
    for (std::size_t d = 0; d < 3; ++d) {
      const Line& line = part_.lines[d];
      low[d] = steps.low[d] + line.lhs_step * box.t0[d];
      size[d] = steps.high[d] - steps.low[d] + 1 + line.lhs_step * (box.t1[d] - 1 - box.t0[d]);
      inside =
          inside && (!reads_padding || (low[d] >= 0 && low[d] + size[d] <= p_.space[d].lhs_size));
    }
    lhs += width_ * (box.n0 * p_.n.lhs + steps.first_channel * p_.c.lhs);
    if (inside && (!rows || (step == 1 && p_.space[2].lhs == 1))) {
      std::int64_t at = 0;
      Window<T> window{nullptr, p_.n.lhs, {}, 1, 0};
      for (std::size_t d = 0; d < 3; ++d) {
        at += low[d] * p_.space[d].lhs;
        window.space[d] = p_.space[d].lhs;
      }
      window.data = reinterpret_cast<const T*>(lhs) + at;
      set(steps, p_.c.lhs, window.space, 1, 0);
      return window;
    }
    return copied(lhs, box, steps, low, size, lanes, step, close);
  }

 private:
  void set(Steps& steps, std::int64_t channel, const Ints3& space, std::int64_t phases,
           std::int64_t phase) const {
    for (std::int64_t r = 0; r < steps.run_count; ++r) {
      const Steps::Run& run = steps.runs[r];
      const std::int64_t start = (run.channel - steps.first_channel) * channel +
                                 (run.outer[0] - steps.low[0]) * space[0] +
                                 (run.outer[1] - steps.low[1]) * space[1];
      std::int64_t* to = steps.lhs + run.first;
      for (std::int64_t i = 0; i < run.count; ++i) {
        const std::int64_t x = run.taps[i].place - steps.low[2];
        to[i] = start + (phases == 1 ? x * space[2] : x % phases * phase + x / phases);
      }
    }
  }

  Window<T> copied(const std::byte* lhs, const Box& box, Steps& steps, const Ints3& low,
                   const Ints3& size, std::int64_t lanes, std::int64_t step, bool close) {
    const bool rows = step > 0;
    const std::int64_t channels = steps.last_channel - steps.first_channel + 1,
                       items = box.n1 - box.n0;
    std::int64_t n = 0, c = 0, lane = 0;
    Ints3 space{};
    struct Named {
      CopyDim dim;
      std::int64_t* stride;
    };
    std::array<Named, 6> dims{{
        {{items, p_.n.lhs, 0, items, 0}, &n},
        {{channels, p_.c.lhs, 0, channels, 0}, &c},
        {{size[0], p_.space[0].lhs, low[0], p_.space[0].lhs_size, 0}, &space[0]},
        {{size[1], p_.space[1].lhs, low[1], p_.space[1].lhs_size, 0}, &space[1]},
        {{size[2], p_.space[2].lhs, low[2], p_.space[2].lhs_size, 0}, &space[2]},
        {{lanes, 1, 0, lanes, 0}, &lane},
    }};
    const std::size_t innermost = rows ? 4 : 5;
    const auto rank = [&](const Named& d) {
      if (d.stride == dims[innermost].stride && (rows || lanes > 1)) return std::int64_t{-1};
      if (close && d.stride == &space[1]) return std::int64_t{0};
      return d.dim.size == 1 ? INT64_MAX : std::abs(d.dim.from_stride);
    };
    std::array<std::pair<std::int64_t, std::size_t>, 6> order;
    for (std::size_t i = 0; i < 6; ++i) order[i] = {-rank(dims[i]), i};
    std::sort(order.begin(), order.end());
    std::int64_t total = 1, pitch = 0;
    copy_.clear();
    for (std::size_t i = 6; i-- > 0;) {
      Named& d = dims[order[i].second];
      *d.stride = d.dim.to_stride = total;
      std::int64_t length = d.dim.size;
      if (rows && d.stride == &space[2] && step > 1) {
        d.dim.phases = step;
        pitch = (length + step - 1) / step;
        length = pitch * step;
      }
      total *= length;
      copy_.insert(copy_.begin(), d.dim);
    }
    join_rows();
    if (total > room_size_) {
      room_.reset();
      room_ = std::make_unique<AlignedBuffer<T>>(room_size_ = total);
    }
    copy(0, lhs, room_->data(), total);
    set(steps, c, space, pitch ? step : 1, pitch);
    return {room_->data(), n, space, pitch ? step : 1, pitch};
  }

  // The two innermost dimensions as one, where lhs has them side by side.
  void join_rows() {
    while (copy_.size() > 1) {
      const CopyDim inner = copy_.back();
      CopyDim& outer = copy_[copy_.size() - 2];
      if (inner.low != 0 || inner.bound != inner.size || inner.phases != 1) return;
      if (inner.size != 1) {
        if (inner.from_stride != 1 || outer.from_stride != inner.size || outer.phases != 1) return;
        outer.from_stride = 1;
        outer.size *= inner.size, outer.low *= inner.size, outer.bound *= inner.size;
        outer.to_stride = inner.to_stride;
      }
      copy_.pop_back();
    }
  }

  // `to` has `count` elements.
  void copy(std::size_t level, const std::byte* from, T* to, std::int64_t count) const {
    const CopyDim& d = copy_[level];
    if (level + 1 == copy_.size()) return copy_row(d, from, to, count);
    if (level + 2 == copy_.size() && native_ && copy_.back().phases == 1 &&
        copy_.back().from_stride == 1)
      return copy_rows(d, copy_.back(), reinterpret_cast<const T*>(from), to);
    const std::int64_t each = d.to_stride;
    for (std::int64_t i = 0; i < d.size; ++i, to += each) {
      const std::int64_t at = d.low + i;
      if (at < 0 || at >= d.bound) {
        std::memset(static_cast<void*>(to), 0, index(each) * sizeof(T));
      } else {
        copy(level + 1, from + at * d.from_stride * width_, to, each);
      }
    }
  }

  // Rows that lie as they are copied: zeros, elements, zeros.
  static void copy_rows(const CopyDim& d, const CopyDim& row, const T* from, T* to) {
    const std::int64_t first = std::clamp<std::int64_t>(-row.low, 0, row.size),
                       end = std::clamp<std::int64_t>(row.bound - row.low, first, row.size),
                       each = d.to_stride;
    for (std::int64_t i = 0; i < d.size; ++i, to += each) {
      const std::int64_t at = d.low + i;
      const bool inside = at >= 0 && at < d.bound;
      const std::int64_t begin = inside ? first : each;
      clear_short(to, begin);
      if (!inside) continue;
      copy_short(from + at * d.from_stride + row.low + first, end - first, to + first);
      clear_short(to + end, each - end);
    }
  }

  void copy_row(const CopyDim& d, const std::byte* from, T* to, std::int64_t count) const {
    const std::int64_t each = count / d.phases;
    for (std::int64_t phase = 0; phase < d.phases; ++phase, to += each) {
      const std::int64_t low = d.low + phase;
      const std::int64_t first = low < 0 ? std::min(each, (-low + d.phases - 1) / d.phases) : 0;
      const std::int64_t left = d.bound - low;
      const std::int64_t end =
          std::max(first, std::min(each, left <= 0 ? 0 : (left + d.phases - 1) / d.phases));
      std::fill_n(to, first, T{});
      if (end > first) {
        const std::byte* source = from + (low + first * d.phases) * d.from_stride * width_;
        const std::int64_t stride = d.phases * d.from_stride, n = end - first;
        if (native_ && stride == 1) {
          copy_short(reinterpret_cast<const T*>(source), n, to + first);
        } else {
          pack_(source, 0, stride, 1, n, n, to + first);
        }
      }
      std::fill_n(to + end, each - end, T{});
    }
  }

  // Rows are often too short for a call.
  SHARDAX_NO_MEMSET static void clear_short(T* to, std::int64_t n) {
    if (n > 64) return static_cast<void>(std::fill_n(to, n, T{}));
    for (std::int64_t x = 0; x < n; ++x) to[x] = T{};
  }

  const ConvArgs& p_;
  const Part& part_;
  Pack<T> pack_;
  std::int64_t width_;  // bytes of an element of lhs
  bool native_;
  std::vector<CopyDim> copy_;
  std::unique_ptr<AlignedBuffer<T>> room_;
  std::int64_t room_size_ = 0;
};

}  // namespace shardax::kernels
