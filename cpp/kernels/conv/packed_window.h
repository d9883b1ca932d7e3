// kernels/conv/packed_window.h - the part of lhs that some outputs see, as rows of a product lie.
//
// Private to kernels/conv. Elements have 16 bits. Zeros stand for places outside of lhs.
#pragma once

#include <memory>
#include <vector>

#include "kernels/aligned_buffer.h"
#include "kernels/conv/block.h"
#include "kernels/conv/transpose16.h"

namespace shardax::kernels {

// The dimension along which a sum takes elements one after the other.
enum class Inner {
  channels,  // of a place: convolutions with more outputs than taps
  taps,      // of the last dimension: gradients of kernels
};

// Places [low, low + size) of items [n0, n1) and channels [c0, c1).
struct Seen {
  std::int64_t n0, n1, c0, c1;
  Ints3 low, size;
};

class PackedWindow {
 public:
  // Elements after the last one that may be read, and hold anything.
  static constexpr std::int64_t slack = 64;

  // With taps as inner elements, those `step` apart lie side by side.
  PackedWindow(const ConvArgs& p, Inner inner, std::int64_t step)
      : p_(p), inner_(inner), step_(step) {}

  // `lhs` is the element where the convolution's own batch starts.
  void fill(const Bits16* lhs, const Seen& seen);

  const Bits16* data() const { return room_->data(); }
  // The offset of an item, a channel and a place, all counted from the first ones seen.
  std::int64_t at(std::int64_t n, std::int64_t c, const Ints3& x) const {
    return n * n_ + c * c_ + x[0] * space_[0] + x[1] * space_[1] + along(x[2]);
  }

  std::int64_t along(std::int64_t x) const {
    return step_ == 1 ? x * space_[2] : x % step_ * pitch_ + x / step_;
  }

 private:
  using Rows = std::vector<Bits16*>;
  struct Range {
    std::int64_t begin, end;
  };
  // Lines of a plane that are inside of lhs; none if no place along the last dimension is.
  Range rows_inside() const {
    if (first_ == end_) return {0, 0};
    const std::int64_t begin = std::clamp<std::int64_t>(-seen_.low[1], 0, seen_.size[1]);
    return {begin, std::clamp(p_.space[1].lhs_size - seen_.low[1], begin, seen_.size[1])};
  }
  void lay_out();
  void fill_channels(const Bits16* from, std::int64_t count);
  void fill_plane(const Bits16* from, Range rows, Bits16* to) const;
  void fill_items(const Bits16* from, Range rows, Bits16* to);
  void fill_phases(const Bits16* from, Bits16* to) const;
  bool inside(std::size_t d, std::int64_t x) const {
    return seen_.low[d] + x >= 0 && seen_.low[d] + x < p_.space[d].lhs_size;
  }

  const ConvArgs& p_;
  const Inner inner_;
  const std::int64_t step_;
  Seen seen_{};
  std::int64_t n_ = 0, c_ = 0, pitch_ = 0, first_ = 0, end_ = 0;  // places of a line inside of lhs
  Ints3 space_{};
  std::unique_ptr<AlignedBuffer<Bits16>> room_;
  Rows rows_;
};

}  // namespace shardax::kernels
