// kernels/conv/packed_window.cpp - windows are copied, and transposed where lhs lies otherwise.
#include "kernels/conv/packed_window.h"

#include "base/target.h"

namespace shardax::kernels {

void PackedWindow::lay_out() {
  const std::int64_t channels = seen_.c1 - seen_.c0;
  std::int64_t total = 1;
  const auto take = [&](std::int64_t& stride, std::int64_t size) {
    stride = total;
    total *= size;
  };
  if (inner_ == Inner::channels) {
    take(c_, channels);
    take(space_[2], seen_.size[2]);
  } else {
    pitch_ = (seen_.size[2] + step_ - 1) / step_;
    take(space_[2], step_ * pitch_);
  }
  take(space_[1], seen_.size[1]);
  take(space_[0], seen_.size[0]);
  if (inner_ == Inner::taps) take(c_, channels);
  take(n_, seen_.n1 - seen_.n0);
  if (!room_ || room_->size() < total + slack) {
    room_.reset();
    room_ = std::make_unique<AlignedBuffer<Bits16>>(total + slack);
  }
  first_ = std::clamp<std::int64_t>(-seen_.low[2], 0, seen_.size[2]);
  end_ = std::clamp<std::int64_t>(p_.space[2].lhs_size - seen_.low[2], first_, seen_.size[2]);
}

void PackedWindow::fill(const Bits16* lhs, const Seen& seen) {
  seen_ = seen;
  lay_out();
  lhs += seen.n0 * p_.n.lhs + seen.c0 * p_.c.lhs;
  if (inner_ == Inner::channels) {
    for (std::int64_t n = 0; n < seen.n1 - seen.n0; ++n) {
      for (std::int64_t z = 0; z < seen.size[0]; ++z) {
        rows_.clear();
        const Bits16* from = nullptr;  // of the places in rows_
        for (std::int64_t y = 0; y < seen.size[1]; ++y) {
          Bits16* const line = room_->data() + n * n_ + z * space_[0] + y * space_[1];
          const std::int64_t all = seen.size[2] * space_[2];
          if (!inside(0, z) || !inside(1, y) || first_ == end_) {
            std::fill_n(line, all, Bits16{});
            continue;
          }
          std::fill_n(line, first_ * space_[2], Bits16{});
          std::fill_n(line + end_ * space_[2], all - end_ * space_[2], Bits16{});
          const Bits16* const at = lhs + n * p_.n.lhs + (seen.low[0] + z) * p_.space[0].lhs +
                                   (seen.low[1] + y) * p_.space[1].lhs +
                                   (seen.low[2] + first_) * p_.space[2].lhs;
          // Whole lines that lie one after the other are transposed at a time.
          const auto held = static_cast<std::int64_t>(rows_.size());
          if (held > 0 && at != from + held * p_.space[2].lhs) {
            fill_channels(from, held);
            rows_.clear();
          }
          if (rows_.empty()) from = at;
          for (std::int64_t x = first_; x < end_; ++x) rows_.push_back(line + x * space_[2]);
        }
        fill_channels(from, static_cast<std::int64_t>(rows_.size()));
      }
    }
    return;
  }
  for (std::int64_t c = 0; c < seen.c1 - seen.c0; ++c) {
    for (std::int64_t z = 0; z < seen.size[0]; ++z) {
      for (std::int64_t y = 0; y < seen.size[1]; ++y) fill_taps(lhs, c, z, y);
    }
  }
}

// All channels of `count` places, to rows_.
void PackedWindow::fill_channels(const Bits16* from, std::int64_t count) {
  const std::int64_t channels = seen_.c1 - seen_.c0, apart = p_.space[2].lhs;
  if (channels == 1 || p_.c.lhs == 1) {
    for (std::int64_t i = 0; i < count; ++i) copy16(from + i * apart, channels, rows_[index(i)]);
  } else if (apart == 1) {
    transpose16(from, p_.c.lhs, count, channels, rows_.data());
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t c = 0; c < channels; ++c)
        rows_[index(i)][c] = from[i * apart + c * p_.c.lhs];
    }
  }
}

// A line of all items.
SHARDAX_NO_MEMSET
void PackedWindow::fill_taps(const Bits16* lhs, std::int64_t c, std::int64_t z, std::int64_t y) {
  const std::int64_t items = seen_.n1 - seen_.n0, length = step_ * pitch_, apart = p_.space[2].lhs;
  Bits16* const to = room_->data() + c * c_ + z * space_[0] + y * space_[1];
  const bool any = inside(0, z) && inside(1, y) && first_ < end_;
  const Bits16* const from =
      lhs + c * p_.c.lhs +
      (any ? (seen_.low[0] + z) * p_.space[0].lhs + (seen_.low[1] + y) * p_.space[1].lhs +
                 (seen_.low[2] + first_) * apart
           : 0);
  const bool turned = any && step_ == 1 && apart != 1 && p_.n.lhs == 1;
  if (turned) rows_.clear();
  for (std::int64_t n = 0; n < items; ++n) {
    Bits16* const line = to + n * n_;
    if (!any || step_ > 1) {
      std::fill_n(line, length, Bits16{});
      if (any) fill_phases(from + n * p_.n.lhs, line);
      continue;
    }
    for (std::int64_t x = 0; x < first_; ++x) line[x] = 0;
    for (std::int64_t x = end_; x < length; ++x) line[x] = 0;
    if (turned) {
      rows_.push_back(line + first_);
    } else if (apart == 1) {
      copy16(from + n * p_.n.lhs, end_ - first_, line + first_);
    } else {
      for (std::int64_t x = first_; x < end_; ++x)
        line[x] = from[n * p_.n.lhs + (x - first_) * apart];
    }
  }
  if (turned) transpose16(from, apart, items, end_ - first_, rows_.data());
}

// One line, by the remainders of places.
void PackedWindow::fill_phases(const Bits16* from, Bits16* to) const {
  for (std::int64_t phase = 0; phase < step_; ++phase) {
    const std::int64_t skipped = first_ > phase ? (first_ - phase + step_ - 1) / step_ : 0;
    const std::int64_t apart = p_.space[2].lhs;
    std::int64_t x = phase + skipped * step_;
    for (Bits16* out = to + phase * pitch_ + skipped; x < end_; x += step_)
      *out++ = from[(x - first_) * apart];
  }
}

}  // namespace shardax::kernels
