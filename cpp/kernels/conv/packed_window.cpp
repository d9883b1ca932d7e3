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
      const Bits16* const from =
          lhs + c * p_.c.lhs +
          (inside(0, z) ? (seen.low[0] + z) * p_.space[0].lhs : std::int64_t{0});
      Bits16* const to = room_->data() + c * c_ + z * space_[0];
      const Range rows = inside(0, z) ? rows_inside() : Range{0, 0};
      if (step_ == 1 && p_.space[2].lhs != 1 && p_.n.lhs == 1) {
        fill_items(from, rows, to);
      } else {
        for (std::int64_t n = 0; n < seen.n1 - seen.n0; ++n)
          fill_plane(from + n * p_.n.lhs, rows, to + n * n_);
      }
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

// The lines of one item, of which `rows` are inside of lhs.
SHARDAX_NO_MEMSET
void PackedWindow::fill_plane(const Bits16* from, Range rows, Bits16* to) const {
  const std::int64_t length = step_ * pitch_, apart = p_.space[2].lhs, row = p_.space[1].lhs,
                     first = first_, end = end_;
  from += (seen_.low[1] + rows.begin) * row + (seen_.low[2] + first) * apart;
  Bits16* const lines = to + rows.begin * length;
  for (std::int64_t i = 0; i < rows.begin * length; ++i) to[i] = 0;
  for (std::int64_t i = rows.end * length; i < seen_.size[1] * length; ++i) to[i] = 0;
  for (std::int64_t y = 0; y < rows.end - rows.begin; ++y) {
    Bits16* const line = lines + y * length;
    if (step_ > 1) {
      for (std::int64_t x = 0; x < length; ++x) line[x] = 0;
      fill_phases(from + y * row, line);
      continue;
    }
    for (std::int64_t x = 0; x < first; ++x) line[x] = 0;
    for (std::int64_t x = end; x < length; ++x) line[x] = 0;
    if (apart == 1) {
      copy16(from + y * row, end - first, line + first);
    } else {
      for (std::int64_t x = first; x < end; ++x) line[x] = from[y * row + (x - first) * apart];
    }
  }
}

// The same of all items, which lie side by side.
void PackedWindow::fill_items(const Bits16* from, Range rows, Bits16* to) {
  const std::int64_t items = seen_.n1 - seen_.n0;
  from += (seen_.low[2] + first_) * p_.space[2].lhs;
  for (std::int64_t n = 0; n < items; ++n)
    std::fill_n(to + n * n_, seen_.size[1] * pitch_, Bits16{});
  rows_.resize(index(items));
  for (std::int64_t y = rows.begin; y < rows.end; ++y) {
    for (std::int64_t n = 0; n < items; ++n) rows_[index(n)] = to + n * n_ + y * pitch_ + first_;
    transpose16(from + (seen_.low[1] + y) * p_.space[1].lhs, p_.space[2].lhs, items, end_ - first_,
                rows_.data());
  }
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
