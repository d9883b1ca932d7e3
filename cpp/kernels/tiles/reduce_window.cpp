// kernels/tiles/reduce_window.cpp - reductions over sliding windows, a dimension at a time.
#include "kernels/tiles/reduce_window.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>

#include "kernels/aligned_buffer.h"
#include "kernels/conv/convolution.h"
#include "kernels/tiles/dispatch.h"
#include "kernels/tiles/extremum.h"
#include "kernels/wide.h"
#include "runtime/interrupt.h"

namespace shardax::kernels {

Meeting meeting(const WindowSpec& s, std::int64_t w) {
  // Output t lies at t * stride + shift among the spread elements; every step-th hits one.
  const std::int64_t shift = w * s.dilation - s.low;
  Meeting m;
  m.step = s.base / std::gcd(s.stride, s.base);
  m.from_step = m.step * s.stride / s.base;
  const std::int64_t limit = std::min(m.step, s.out);
  for (; m.first < limit; ++m.first) {
    if ((m.first * s.stride + shift) % s.base == 0) break;
  }
  if (m.first >= limit) return m;
  const std::int64_t place = (m.first * s.stride + shift) / s.base;
  const std::int64_t skipped = place < 0 ? (-place + m.from_step - 1) / m.from_step : 0;
  m.first += skipped * m.step;
  m.from = place + skipped * m.from_step;
  if (m.first >= s.out || m.from >= s.in) return m;
  m.count = std::min((s.out - 1 - m.first) / m.step, (s.in - 1 - m.from) / m.from_step) + 1;
  return m;
}

Meeting within(const Meeting& m, std::int64_t start, std::int64_t n) {
  const std::int64_t skipped =
      m.first < start ? std::min(m.count, (start - m.first + m.step - 1) / m.step) : 0;
  Meeting part = m;
  part.first = m.first + skipped * m.step - start;
  part.from = m.from + skipped * m.from_step;
  const std::int64_t left = part.first < n ? (n - part.first + m.step - 1) / m.step : 0;
  part.count = std::min(m.count - skipped, left);
  return part;
}

namespace {

template <Combine combine, class T>
struct Combiner {
  static T identity() {
    if constexpr (combine == Combine::sum) {
      return T{};
    } else {
      if constexpr (std::is_integral_v<T>) {
        return combine == Combine::max ? std::numeric_limits<T>::lowest()
                                       : std::numeric_limits<T>::max();
      } else if constexpr (std::is_floating_point_v<T>) {
        const T infinity = std::numeric_limits<T>::infinity();
        return combine == Combine::max ? -infinity : infinity;
      } else {
        using R = typename T::value_type;
        const R infinity = std::numeric_limits<R>::infinity();
        return combine == Combine::max ? T(-infinity, -infinity) : T(infinity, infinity);
      }
    }
  }
  [[gnu::always_inline]] static T of(T a, T b) {
    if constexpr (combine == Combine::sum) {
      if constexpr (std::is_same_v<T, bool>) {
        return a || b;
      } else {
        return wrap_add(a, b);
      }
    } else {
      return extremum<combine == Combine::max>(a, b);
    }
  }
};

// out[i * step], or, if it is the first, the identity, combined with in[i * from_step].
template <Combine combine, class T>
void combine_row(T* out, std::int64_t step, const T* in, std::int64_t from_step, std::int64_t n,
                 bool first) {
  dispatch([=] {
    using F = Combiner<combine, T>;
    if (first) {
      for (std::int64_t i = 0; i < n; ++i) out[i * step] = F::of(F::identity(), in[i * from_step]);
    } else if (step == 1 && from_step == 1) {
      SHARDAX_IVDEP
      for (std::int64_t i = 0; i < n; ++i) out[i] = F::of(out[i], in[i]);
    } else if (step == 1 && from_step == 2) {
      SHARDAX_IVDEP
      for (std::int64_t i = 0; i < n; ++i) out[i] = F::of(out[i], in[2 * i]);
    } else {
      SHARDAX_IVDEP
      for (std::int64_t i = 0; i < n; ++i) out[i * step] = F::of(out[i * step], in[i * from_step]);
    }
  });
}

// The same of rows of n elements, which begin `step` and `from_step` apart.
template <Combine combine, class T>
void combine_rows(T* out, std::int64_t step, const T* in, std::int64_t from_step, std::int64_t rows,
                  std::int64_t n, bool first) {
  dispatch([=]() mutable {
    using F = Combiner<combine, T>;
    for (std::int64_t r = 0; r < rows; ++r, out += step, in += from_step) {
      if (first) {
        for (std::int64_t i = 0; i < n; ++i) out[i] = F::of(F::identity(), in[i]);
      } else {
        SHARDAX_IVDEP
        for (std::int64_t i = 0; i < n; ++i) out[i] = F::of(out[i], in[i]);
      }
    }
  });
}

// A dimension of outer x size x inner elements.
template <Combine combine, class T>
class Pass {
 public:
  Pass(const WindowSpec& s, std::int64_t outer, std::int64_t inner)
      : s_(s), outer_(outer), inner_(inner) {
    for (std::int64_t w = 0; w < s.window; ++w) {
      if (is_long()) break;
      runtime::poll();
      const Meeting m = meeting(s, w);
      if (m.count > 0) meetings_.push_back(m);
    }
    if (follow_each_other()) {
      for (Meeting& m : meetings_) m.count *= outer;
      s_.in *= outer;
      s_.out *= outer;
      outer_ = 1;
    }
  }

  void run(const T* in, T* out, ParallelFor parallel_for) const {
    const double row = static_cast<double>(inner_ * static_cast<std::int64_t>(sizeof(T))) / 16;
    if (is_long()) {
      const std::int64_t blocks = (inner_ + width - 1) / width;
      const auto body = [&](std::int64_t i) { doubled(in, out, i / blocks, i % blocks * width); };
      run_chunks(outer_ * blocks, row * static_cast<double>(10 * (s_.in + s_.out)), parallel_for,
                 body);
      return;
    }
    const std::int64_t part = std::clamp<std::int64_t>(part_elements / inner_, 1, s_.out),
                       parts = (s_.out + part - 1) / part;
    const auto body = [&](std::int64_t i) {
      const std::int64_t t = i % parts * part;
      some(in, out, i / parts, t, std::min(part, s_.out - t));
    };
    run_chunks(outer_ * parts, row * static_cast<double>(s_.window * part), parallel_for, body);
  }

 private:
  using F = Combiner<combine, T>;
  static constexpr std::int64_t width = 64, part_elements = 4096;

  bool is_long() const { return s_.window >= 16 && s_.base == 1 && s_.window >= 4 * s_.stride; }

  // Are all lines one, of which each place of the windows meets every stride-th element?
  bool follow_each_other() const {
    return !meetings_.empty() && s_.base == 1 && s_.in == s_.out * s_.stride &&
           std::all_of(meetings_.begin(), meetings_.end(),
                       [&](const Meeting& m) { return m.count == s_.out; });
  }

  // Some outputs of a line, place by place.
  void some(const T* in, T* out, std::int64_t outer, std::int64_t start, std::int64_t n) const {
    runtime::poll();
    T* const to = out + (outer * s_.out + start) * inner_;
    const T* const from = in + outer * s_.in * inner_;
    const auto whole = [&](const Meeting& m) { return within(m, start, n).count == n; };
    const bool copies = !meetings_.empty() && whole(meetings_[0]);
    if (!copies) std::fill_n(to, n * inner_, F::identity());
    for (std::size_t i = 0; i < meetings_.size(); ++i) {
      const Meeting m = within(meetings_[i], start, n);
      T* const place = to + m.first * inner_;
      const T* const met = from + m.from * inner_;
      const bool first = copies && i == 0;
      if (m.count <= 0) continue;
      if (inner_ == 1 || (m.step == 1 && m.from_step == 1)) {
        combine_row<combine>(place, m.step, met, m.from_step, m.count * inner_, first);
      } else {
        combine_rows<combine>(place, m.step * inner_, met, m.from_step * inner_, m.count, inner_,
                              first);
      }
    }
  }

  // Windows of 1, 2, 4, ... places, each made of two of those before. A window of any size is one
  // of each power of two in it, side by side.
  void doubled(const T* in, T* out, std::int64_t outer, std::int64_t column) const {
    const std::int64_t n = std::min(width, inner_ - column);
    const std::int64_t length = (s_.out - 1) * s_.stride + (s_.window - 1) * s_.dilation + 1;
    if (s_.out == 0) return;
    const AlignedBuffer<T> room(length * n), result(s_.out * n);
    T* line = room.data();
    T* sums = result.data();
    std::fill_n(line, length * n, F::identity());
    for (std::int64_t i = std::max<std::int64_t>(0, s_.low); i < std::min(length, s_.in + s_.low);
         ++i)
      std::copy_n(in + (outer * s_.in + i - s_.low) * inner_ + column, n, line + i * n);
    std::fill_n(sums, s_.out * n, F::identity());
    std::int64_t placed = 0;
    for (std::int64_t size = 1; size <= s_.window; size *= 2) {
      runtime::poll();
      if (s_.window & size) {
        for (std::int64_t t = 0; t < s_.out; ++t) {
          combine_row<combine>(sums + t * n, 1, line + (t * s_.stride + placed * s_.dilation) * n,
                               1, n, false);
        }
        placed += size;
      }
      const std::int64_t apart = size * s_.dilation;
      if (2 * size <= s_.window && apart < length)
        combine_row<combine>(line, 1, line + apart * n, 1, (length - apart) * n, false);
    }
    for (std::int64_t t = 0; t < s_.out; ++t)
      std::copy_n(sums + t * n, n, out + (outer * s_.out + t) * inner_ + column);
  }

  WindowSpec s_;
  std::int64_t outer_, inner_;
  SmallVector<Meeting, 8> meetings_;
};

void run_inline(std::int64_t count, FunctionRef<void(std::int64_t)> body) {
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

// S: elements, T: the type in which they are combined.
template <Combine combine, class S, class T>
class Reduction {
 public:
  explicit Reduction(const Slides& slides) : slides_(slides) {
    while (first_ < slides.size() && slides[first_].is_plain()) blocks_ *= slides[first_++].in;
    for (std::size_t d = first_; d < slides.size(); ++d) {
      in_ *= slides[d].in;
      out_ *= slides[d].out;
    }
  }

  void run(const S* in, S* out, ParallelFor parallel_for) const {
    if (blocks_ * out_ == 0) return;
    if (blocks_ < 8) {
      for (std::int64_t i = 0; i < blocks_; ++i)
        some(in + i * in_, out + i * out_, 1, parallel_for);
      return;
    }
    const std::int64_t each =
        std::clamp<std::int64_t>(group_elements / std::max<std::int64_t>(in_, 1), 1, blocks_);
    const auto body = [&](std::int64_t i) {
      some(in + i * each * in_, out + i * each * out_, std::min(each, blocks_ - i * each),
           run_inline);
    };
    run_chunks((blocks_ + each - 1) / each,
               static_cast<double>(each * in_ * std::int64_t{sizeof(T)}) / 4 + 100, parallel_for,
               body);
  }

 private:
  static constexpr bool same = std::is_same_v<S, T>;
  // Blocks that are smaller go through the passes together.
  static constexpr std::int64_t group_elements = 4096;

  void some(const S* in, S* out, std::int64_t blocks, ParallelFor parallel_for) const {
    std::size_t last = slides_.size();
    while (last > first_ && slides_[last - 1].is_plain()) --last;
    const T* from;
    std::unique_ptr<AlignedBuffer<T>> rooms[2];
    if constexpr (same) {
      from = in;
    } else {
      rooms[0] = std::make_unique<AlignedBuffer<T>>(blocks * in_);
      for (std::int64_t i = 0; i < blocks * in_; ++i) rooms[0]->data()[i] = to_float(in[i]);
      from = rooms[0]->data();
    }
    std::int64_t outer = blocks, inner = 1;
    for (std::size_t d = first_; d < slides_.size(); ++d) inner *= slides_[d].in;
    for (std::size_t d = first_; d < last; ++d) {
      const WindowSpec& s = slides_[d];
      inner = s.in == 0 ? inner_of(d) : inner / s.in;
      if (!s.is_plain()) {
        const bool final = same && d + 1 == last;
        std::unique_ptr<AlignedBuffer<T>> room;
        if (!final) room = std::make_unique<AlignedBuffer<T>>(outer * s.out * inner);
        T* to;
        if constexpr (same) {
          to = final ? out : room->data();
        } else {
          to = room->data();
        }
        Pass<combine, T>(s, outer, inner).run(from, to, parallel_for);
        from = to;
        if (room) rooms[0] = std::exchange(rooms[1], std::move(room));
      }
      outer *= s.out;
    }
    if constexpr (!same) {
      for (std::int64_t i = 0; i < blocks * out_; ++i) {
        out[i] = lower<S>(from[i]);
      }
    } else if (last == first_) {
      std::copy_n(in, blocks * out_, out);
    }
  }

  std::int64_t inner_of(std::size_t d) const {
    std::int64_t inner = 1;
    for (std::size_t i = d + 1; i < slides_.size(); ++i) inner *= slides_[i].in;
    return inner;
  }

  const Slides& slides_;
  std::size_t first_ = 0;
  std::int64_t blocks_ = 1, in_ = 1, out_ = 1;
};

template <Combine combine>
void reduce(DType dtype, const std::byte* in, std::byte* out, const Slides& slides,
            ParallelFor parallel_for) {
  visit_dtype(dtype, [&](auto zero) {
    using S = decltype(zero);
    if constexpr (!is_opaque<S>) {
      // Sums of integers have the same bits with and without a sign.
      constexpr bool wraps =
          combine == Combine::sum && std::is_integral_v<S> && !std::is_same_v<S, bool>;
      using T =
          typename std::conditional_t<wraps, std::make_unsigned<S>, std::type_identity<S>>::type;
      Reduction<combine, T, Wide<T>>(slides).run(reinterpret_cast<const T*>(in),
                                                 reinterpret_cast<T*>(out), parallel_for);
    }
  });
}

}  // namespace

void reduce_windows(Combine combine, DType dtype, const std::byte* in, std::byte* out,
                    const Slides& slides, ParallelFor parallel_for) {
  switch (combine) {
    case Combine::sum: return reduce<Combine::sum>(dtype, in, out, slides, parallel_for);
    case Combine::max: return reduce<Combine::max>(dtype, in, out, slides, parallel_for);
    case Combine::min: return reduce<Combine::min>(dtype, in, out, slides, parallel_for);
  }
}

}  // namespace shardax::kernels
