// kernels/tiles/select_window.cpp - extremes of windows, and the elements that go with them.
//
// Rows of windows along the last dimension are searched together, as many as a tile has room for,
// place by place of the windows. Elements at a place are in rows too.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/aligned_buffer.h"
#include "kernels/conv/convolution.h"
#include "kernels/tiles/window_tile.h"
#include "runtime/interrupt.h"

namespace shardax::kernels {
namespace {

template <class S>
class Choice {
 public:
  // With `gathers` the search starts from the identity, which no element of its size replaces; else
  // from the first place.
  Choice(const Slides& slides, bool gathers) : slides_(slides), gathers_(gathers) {
    last_ = slides.size() - 1;
    for (std::int64_t w = 0; w < slides[last_].window; ++w) {
      runtime::poll();
      meetings_.push_back(meeting(slides[last_], w));
    }
    while (first_ < last_ && slides[first_].is_plain()) blocks_ *= slides[first_++].in;
    row_ = slides[last_].out;
    for (std::size_t d = last_; d-- > first_;) rows_ *= slides[d].out;
    std::int64_t in = 1;
    for (std::size_t d = slides.size(); d-- > first_;) {
      in_strides_.insert(0, in);
      in *= slides[d].in;
    }
    in_block_ = in;
  }

  void gather(const S* values, const S* keys, S* out, ParallelFor parallel_for) const {
    const S* const end = values + blocks_ * in_block_;
    tiles(
        keys, parallel_for, [](std::int64_t, std::int64_t) {},
        [&](const Spot& spot, const Tile& tile, TileRoom<S>& room) {
          std::fill_n(room.best, tile.rows * tile.pitch, Wide<S>{});
          visit(spot, tile, room, [&](const Meeting& m, std::int32_t place) {
            see(room, tile, m, values, end, Wide<S>{});
            choose<true>(room.place, place, room.seen, tile.rows * tile.pitch, room.best);
          });
          for (std::int64_t r = 0; r < tile.rows; ++r) {
            S* const to = out + (spot.row + r) * row_ + spot.window;
            for (std::int64_t i = 0; i < tile.n; ++i)
              to[i] = lower<S>(room.best[r * tile.pitch + i]);
          }
        });
  }

  void scatter(const S* values, const S* keys, S* out, ParallelFor parallel_for) const {
    const auto clear = [&](std::int64_t block, std::int64_t count) {
      std::fill_n(out + block * in_block_, count * in_block_, S{});
    };
    tiles(keys, parallel_for, clear, [&](const Spot& spot, const Tile& tile, TileRoom<S>& room) {
      for (std::int64_t r = 0; r < tile.rows; ++r) {
        S* const row = room.values + r * tile.pitch;
        std::copy_n(values + (spot.row + r) * row_ + spot.window, tile.n, row);
        std::fill(row + tile.n, row + tile.pitch, S{});
      }
      visit(spot, tile, room, [&](const Meeting& m, std::int32_t place) {
        choose<false>(room.place, place, room.values, tile.rows * tile.pitch, room.terms);
        add_terms(room, tile, m, out, out + spot.end * in_block_);
      });
    });
  }

 private:
  // A tile's first row of all outputs and first window in it; the block at which this thread's end.
  struct Spot {
    std::int64_t row, window, end;
  };

  static constexpr Wide<S> identity() {
    using T = Wide<S>;
    if constexpr (std::is_integral_v<T>) {
      return std::numeric_limits<T>::lowest();
    } else {
      return -std::numeric_limits<T>::infinity();
    }
  }

  // For blocks some at a time, begin(first, count), then finish(spot, tile, room) for each tile of
  // their windows, whose best places are known by then.
  template <class Begin, class Finish>
  void tiles(const S* keys, ParallelFor parallel_for, Begin&& begin, Finish&& finish) const {
    // A tile has whole blocks or part of one: sums of windows that overlap do not depend on where
    // in the array their block lies.
    const std::int64_t n = std::min(row_, most_windows),
                       pitch = std::max(lanes, (n + lanes - 1) / lanes * lanes);
    const std::int64_t most = most_windows / pitch, whole = most / std::max<std::int64_t>(rows_, 1),
                       rows = whole > 0 ? whole * rows_ : most,
                       group = std::max<std::int64_t>(1, 2 * whole);
    double places = 1;
    for (const WindowSpec& s : slides_) places *= static_cast<double>(s.window);
    const double each = 0.3 * places * static_cast<double>(rows_ * row_) + 20;
    const auto body = [&](std::int64_t i) {
      const std::int64_t block = i * group, end = std::min(blocks_, block + group);
      begin(block, end - block);
      TileRoom<S> room;
      for (std::int64_t row = block * rows_, next = row; row < end * rows_; row = next) {
        next = std::min(row + rows, whole > 0 ? end * rows_ : (row / rows_ + 1) * rows_);
        for (std::int64_t window = 0; window < row_; window += n) {
          const Spot spot{row, window, end};
          const Tile tile{next - row, std::min(n, row_ - window), pitch};
          find(keys, spot, tile, room);
          finish(spot, tile, room);
        }
      }
    };
    run_chunks((blocks_ + group - 1) / group, each * static_cast<double>(group), parallel_for,
               body);
  }

  void find(const S* keys, const Spot& spot, const Tile& tile, TileRoom<S>& room) const {
    const S* const end = keys + blocks_ * in_block_;
    const std::int64_t size = tile.rows * tile.pitch;
    std::fill_n(room.seen, size, identity());
    if (gathers_) {
      std::fill_n(room.best, size, identity());
      std::fill_n(room.place, size, nowhere);
    }
    // Padding replaces a NaN, as the identity does.
    visit<true>(spot, tile, room, [&](const Meeting& m, std::int32_t place) {
      see(room, tile, m, keys, end, identity());
      if (place > 0 || gathers_) return compare<S>(room, size, place);
      std::copy_n(room.seen, size, room.best);
      std::fill_n(room.place, size, place);
    });
  }

  // Calls f(meeting, place) for each place of the windows; room.at says where rows meet it. Unless
  // `all`, only where some row does.
  template <bool all = false, class F>
  void visit(const Spot& spot, const Tile& tile, TileRoom<S>& room, F&& f) const {
    Shape w(slides_.size() - first_ - 1, 0);
    std::int32_t place = 0;
    do {
      runtime::poll();
      const bool some = locate(spot, tile, w, room.at);
      for (const Meeting& m : meetings_) {
        const std::int32_t own = place++;
        if (!some && !all) continue;
        const Meeting part = within(m, spot.window, tile.n);
        if (all || part.count > 0) f(part, own);
      }
    } while (next(w));
  }

  bool next(Shape& w) const {
    for (std::size_t d = w.size(); d-- > 0;) {
      if (++w[d] < slides_[first_ + d].window) return true;
      w[d] = 0;
    }
    return false;
  }

  // Locates the elements of place `w` of all dimensions but the last for the rows of a tile; true
  // if there are some.
  bool locate(const Spot& spot, const Tile& tile, const Shape& w, std::int64_t* at) const {
    Shape out(w.size(), 0);
    std::int64_t rest = spot.row;
    for (std::size_t d = w.size(); d-- > 0;) {
      out[d] = rest % slides_[first_ + d].out;
      rest /= slides_[first_ + d].out;
    }
    bool some = false;
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      std::int64_t place = rest * in_block_;
      for (std::size_t d = 0; d < w.size(); ++d) {
        const WindowSpec& s = slides_[first_ + d];
        std::int64_t in = out[d] * s.stride + w[d] * s.dilation - s.low;
        if (s.base != 1) in = in % s.base == 0 ? in / s.base : -1;
        if (in < 0 || in >= s.in) {
          place = -1;
          break;
        }
        place += in * in_strides_[d];
      }
      at[r] = place;
      some = some || place >= 0;
      std::size_t d = w.size();
      while (d > 0 && ++out[d - 1] == slides_[first_ + d - 1].out) out[--d] = 0;
      if (d == 0) ++rest;
    }
    return some;
  }

  const Slides& slides_;
  bool gathers_;
  std::size_t first_ = 0, last_;
  // Blocks of rows of outputs, which have elements of their own.
  std::int64_t blocks_ = 1, rows_ = 1, row_, in_block_;
  Shape in_strides_;
  SmallVector<Meeting, 8> meetings_;  // of the last dimension
};

template <class F>
void visit_real(DType dtype, F&& f) {
  visit_dtype(dtype, [&](auto zero) {
    using S = decltype(zero);
    constexpr bool real = std::is_arithmetic_v<S> && !std::is_same_v<S, bool>;
    if constexpr (real || is_half_v<S>) f(zero);
  });
}

template <class S>
const S* as(const std::byte* p) {
  return reinterpret_cast<const S*>(p);
}

// Keys in the opposite order: the search for the smallest key is one for the largest of these.
template <class S>
S opposite(S key) {
  if constexpr (std::is_integral_v<S>)
    return static_cast<S>(~key);
  else
    return lower<S>(-lift(key));
}
template <class S>
class Keys {
 public:
  Keys(bool largest, const std::byte* keys, const Slides& slides, ParallelFor parallel_for)
      : keys_(as<S>(keys)), opposites_(largest ? 0 : size_of(slides)) {
    if (largest) return;
    const std::int64_t count = opposites_.size();
    constexpr std::int64_t chunk = 65536;
    run_chunks((count + chunk - 1) / chunk, 0.1 * chunk, parallel_for, [&](std::int64_t i) {
      const std::int64_t end = std::min(count, (i + 1) * chunk);
      for (std::int64_t k = i * chunk; k < end; ++k) opposites_[k] = opposite(keys_[k]);
    });
    keys_ = opposites_.data();
  }
  const S* data() const { return keys_; }

 private:
  static std::int64_t size_of(const Slides& slides) {
    std::int64_t count = 1;
    for (const WindowSpec& s : slides) count *= s.in;
    return count;
  }

  const S* keys_;
  AlignedBuffer<S> opposites_;
};

}  // namespace

void gather_windows(bool largest, DType dtype, const std::byte* values, const std::byte* keys,
                    std::byte* out, const Slides& slides, ParallelFor parallel_for) {
  visit_real(dtype, [&](auto zero) {
    using S = decltype(zero);
    const Keys<S> ordered(largest, keys, slides, parallel_for);
    Choice<S>(slides, true)
        .gather(as<S>(values), ordered.data(), reinterpret_cast<S*>(out), parallel_for);
  });
}

void scatter_windows(bool largest, DType dtype, const std::byte* values, const std::byte* keys,
                     std::byte* out, const Slides& slides, ParallelFor parallel_for) {
  visit_real(dtype, [&](auto zero) {
    using S = decltype(zero);
    const Keys<S> ordered(largest, keys, slides, parallel_for);
    Choice<S>(slides, false)
        .scatter(as<S>(values), ordered.data(), reinterpret_cast<S*>(out), parallel_for);
  });
}

}  // namespace shardax::kernels
