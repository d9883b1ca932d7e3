// kernels/sliding_choice.cpp - the largest or smallest element of each window, and what goes with
// it.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "array/half.h"
#include "kernels/convolution.h"
#include "kernels/dispatch.h"
#include "kernels/sliding.h"
#include "runtime/interrupt.h"

namespace shardax::kernels {
namespace {

template <class S>
constexpr bool is_half_v = std::is_same_v<S, bfloat16_t> || std::is_same_v<S, float16_t>;
template <class S>
using Wide = std::conditional_t<is_half_v<S>, float, S>;

template <class S>
Wide<S> lift(S x) {
  if constexpr (is_half_v<S>) {
    return to_float(x);
  } else {
    return x;
  }
}
template <class S>
S lower(Wide<S> x) {
  if constexpr (std::is_same_v<S, bfloat16_t>) {
    return to_bfloat16(x);
  } else if constexpr (std::is_same_v<S, float16_t>) {
    return to_float16(x);
  } else {
    return x;
  }
}

// The best so far of a run of windows along the last dimension, and the place that it has.
constexpr std::int64_t run_size = 256;
template <class T>
struct Best {
  T key[run_size];
  std::int32_t place[run_size];
};
constexpr std::int32_t nowhere = -1;

// A place of windows first, first + 1, ...: its element takes over where the best is not as good.
template <bool largest, class S>
SHARDAX_CLONES [[gnu::flatten]] void compare(Best<Wide<S>>& best, std::int64_t first, const S* keys,
                                             std::int64_t step, std::int64_t n,
                                             std::int32_t place) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const Wide<S> x = lift(keys[i * step]), own = best.key[first + i];
    const bool kept = largest ? own >= x : own <= x;
    best.key[first + i] = kept ? own : x;
    best.place[first + i] = kept ? best.place[first + i] : place;
  }
}

// Values at a place where it is the best one.
template <class S>
SHARDAX_CLONES [[gnu::flatten]] void take(const std::int32_t* best, std::int32_t place,
                                          const S* values, std::int64_t step, std::int64_t n,
                                          S* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (best[i] == place) out[i] = values[i * step];
  }
}
template <class S>
SHARDAX_CLONES [[gnu::flatten]] void give(const std::int32_t* best, std::int32_t place,
                                          const S* values, std::int64_t n, S* out,
                                          std::int64_t step) {
  for (std::int64_t i = 0; i < n; ++i) {
    const Wide<S> x = best[i] == place ? lift(values[i]) : Wide<S>{};
    if constexpr (std::is_integral_v<S>) {
      using U = std::make_unsigned_t<S>;
      out[i * step] =
          static_cast<S>(static_cast<U>(static_cast<U>(out[i * step]) + static_cast<U>(x)));
    } else {
      out[i * step] = lower<S>(lift(out[i * step]) + x);
    }
  }
}

template <bool largest, class S>
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
    runs_ = (slides[last_].out + run_size - 1) / run_size;
    for (std::size_t d = first_; d < last_; ++d) rows_ *= slides[d].out;
    std::int64_t in = 1, out = 1;
    for (std::size_t d = slides.size(); d-- > first_;) {
      in_strides_.insert(0, in);
      out_strides_.insert(0, out);
      in *= slides[d].in;
      out *= slides[d].out;
    }
    in_block_ = in;
    out_block_ = out;
  }

  void gather(const S* values, const S* keys, S* out, ParallelFor parallel_for) const {
    const auto body = [&](std::int64_t i) {
      const std::int64_t b = i / rows_;
      row(i % rows_, keys + b * in_block_,
          [&](std::int64_t at, std::int64_t n, const auto& found, auto&& visit) {
            S* to = out + b * out_block_ + at;
            std::fill_n(to, n, lower<S>(Wide<S>{}));
            visit([&](std::int64_t first, std::int64_t count, std::int64_t from, std::int64_t step,
                      std::int32_t place) {
              take(found.place + first, place, values + b * in_block_ + from, step, count,
                   to + first);
            });
          });
    };
    run_chunks(blocks_ * rows_, cost(), parallel_for, body);
  }

  void scatter(const S* values, const S* keys, S* out, ParallelFor parallel_for) const {
    const auto body = [&](std::int64_t b) {
      S* to = out + b * in_block_;
      std::fill_n(to, in_block_, lower<S>(Wide<S>{}));
      for (std::int64_t i = 0; i < rows_; ++i) {
        row(i, keys + b * in_block_,
            [&](std::int64_t at, std::int64_t, const auto& found, auto&& visit) {
              const S* from = values + b * out_block_ + at;
              visit([&](std::int64_t first, std::int64_t count, std::int64_t target,
                        std::int64_t step, std::int32_t place) {
                give(found.place + first, place, from + first, count, to + target, step);
              });
            });
      }
    };
    run_chunks(blocks_, cost() * static_cast<double>(rows_), parallel_for, body);
  }

 private:
  static constexpr Wide<S> identity() {
    using T = Wide<S>;
    if constexpr (std::is_integral_v<T>) {
      return largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    } else {
      return largest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    }
  }

  double cost() const {
    double places = 1;
    for (const Slide& s : slides_) places *= static_cast<double>(s.window);
    return places * static_cast<double>(slides_[last_].out) + 50;
  }

  // The windows of a row of outputs: finish(where the run starts, its length, best, visit) for each
  // run, where visit(f) calls f with the stretches of every place.
  template <class Finish>
  void row(std::int64_t index, const S* keys, Finish&& finish) const {
    runtime::poll();
    Shape at(slides_.size() - first_, 0);
    std::int64_t start = 0;
    for (std::size_t d = last_; d-- > first_;) {
      at[d - first_] = index % slides_[d].out;
      start += at[d - first_] * out_strides_[d - first_];
      index /= slides_[d].out;
    }
    Best<Wide<S>> best;
    for (std::int64_t r = 0; r < runs_; ++r) {
      const std::int64_t t0 = r * run_size, n = std::min(run_size, slides_[last_].out - t0);
      std::fill_n(best.key, n, identity());
      std::fill_n(best.place, n, nowhere);
      std::int32_t place = 0;
      places(first_, at, 0, true, t0, n, place,
             [&](std::int64_t first, std::int64_t count, std::int64_t from, std::int64_t step,
                 std::int32_t p, bool inside) {
               if (!inside) {
                 padding(best, first, count, p == 0 && !gathers_);
                 return;
               }
               if (p == 0 && !gathers_) {
                 for (std::int64_t i = 0; i < count; ++i) {
                   best.key[first + i] = lift(keys[from + i * step]);
                   best.place[first + i] = p;
                 }
                 return;
               }
               compare<largest>(best, first, keys + from, step, count, p);
             });
      finish(start + t0, n, best, [&](auto&& f) {
        std::int32_t again = 0;
        places(first_, at, 0, true, t0, n, again,
               [&](std::int64_t first, std::int64_t count, std::int64_t from, std::int64_t step,
                   std::int32_t p, bool inside) {
                 if (inside) f(first, count, from, step, p);
               });
      });
    }
  }

  // Padding replaces a NaN.
  static void padding(Best<Wide<S>>& best, std::int64_t first, std::int64_t n, bool start) {
    if (start || std::is_integral_v<Wide<S>>) return;
    for (std::int64_t i = first; i < first + n; ++i) {
      if (best.key[i] != best.key[i]) best.key[i] = identity(), best.place[i] = nowhere;
    }
  }

  // Calls f(first, count, from, step, place, inside) for the stretches of every place of the
  // windows t0 ... t0 + n of a row.
  template <class F>
  void places(std::size_t d, const Shape& at, std::int64_t from, bool inside, std::int64_t t0,
              std::int64_t n, std::int32_t& place, F&& f) const {
    const Slide& s = slides_[d];
    for (std::int64_t w = 0; w < s.window; ++w) {
      if (d < last_) {
        const std::int64_t spread = at[d - first_] * s.stride + w * s.dilation - s.low;
        const bool hit = inside && spread >= 0 && spread % s.base == 0 && spread / s.base < s.in;
        places(d + 1, at, hit ? from + spread / s.base * in_strides_[d - first_] : 0, hit, t0, n,
               place, f);
        continue;
      }
      const std::int32_t own = place++;
      if (!inside) {
        f(0, n, 0, 0, own, false);
        continue;
      }
      const Meeting& m = meetings_[static_cast<std::size_t>(w)];
      const std::int64_t skipped =
          m.first < t0 ? std::min(m.count, (t0 - m.first + m.step - 1) / m.step) : 0;
      const std::int64_t first = m.first + skipped * m.step - t0;
      const std::int64_t left = first < n ? (n - first + m.step - 1) / m.step : 0;
      const std::int64_t count = std::min(m.count - skipped, left);
      if (count <= 0) {
        f(0, n, 0, 0, own, false);
        continue;
      }
      const std::int64_t start = from + m.from + skipped * m.from_step;
      if (m.step == 1) {
        if (first > 0) f(0, first, 0, 0, own, false);
        f(first, count, start, m.from_step, own, true);
        if (first + count < n) f(first + count, n - first - count, 0, 0, own, false);
        continue;
      }
      for (std::int64_t t = 0; t < n; ++t) {
        const std::int64_t i = t - first;
        const bool hit = i >= 0 && i % m.step == 0 && i / m.step < count;
        f(t, 1, hit ? start + i / m.step * m.from_step : 0, 1, own, hit);
      }
    }
  }

  const Slides& slides_;
  bool gathers_;
  std::size_t first_ = 0, last_;
  std::int64_t blocks_ = 1, rows_ = 1, runs_, in_block_, out_block_;
  Shape in_strides_, out_strides_;
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

}  // namespace

void slide_gather(bool largest, DType dtype, const std::byte* values, const std::byte* keys,
                  std::byte* out, const Slides& slides, ParallelFor parallel_for) {
  visit_real(dtype, [&](auto zero) {
    using S = decltype(zero);
    S* to = reinterpret_cast<S*>(out);
    if (largest) {
      Choice<true, S>(slides, true).gather(as<S>(values), as<S>(keys), to, parallel_for);
    } else {
      Choice<false, S>(slides, true).gather(as<S>(values), as<S>(keys), to, parallel_for);
    }
  });
}

void slide_scatter(bool largest, DType dtype, const std::byte* values, const std::byte* keys,
                   std::byte* out, const Slides& slides, ParallelFor parallel_for) {
  visit_real(dtype, [&](auto zero) {
    using S = decltype(zero);
    S* to = reinterpret_cast<S*>(out);
    if (largest) {
      Choice<true, S>(slides, false).scatter(as<S>(values), as<S>(keys), to, parallel_for);
    } else {
      Choice<false, S>(slides, false).scatter(as<S>(values), as<S>(keys), to, parallel_for);
    }
  });
}

}  // namespace shardax::kernels
