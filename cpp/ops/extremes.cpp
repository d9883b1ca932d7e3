// ops/extremes.cpp - argmax and argmin.
#include <algorithm>
#include <limits>
#include <vector>

#include "base/index.h"
#include "base/target.h"
#include "kernels/tiles/extremum.h"
#include "kernels/tiles/short_rows.h"
#include "kernels/wide.h"
#include "ops/contiguous.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/lines.h"
#include "ops/param_checks.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

template <bool greatest, class T>
bool beats(T a, T b) {
  return greatest ? a > b : a < b;
}

constexpr std::int64_t line_block = 1024;  // elements of a line that are searched again

using kernels::lift;  // 16-bit floats are compared as floats

// The extreme value of n elements, NaN where one of them is.
template <bool greatest, class T>
[[gnu::always_inline]] inline auto extreme_of(const T* x, std::int64_t n) {
  using V = decltype(lift(T{}));
  if constexpr (std::is_floating_point_v<T>) {
    return kernels::extremum_of<greatest>(x, n);
  } else if constexpr (std::is_floating_point_v<V>) {
    V converted[line_block];
    for (std::int64_t i = 0; i < n; ++i) converted[i] = lift(x[i]);
    return kernels::extremum_of<greatest>(converted, n);
  } else {
    V best = x[0];
    for (std::int64_t i = 1; i < n; ++i) best = beats<greatest>(x[i], best) ? x[i] : best;
    return best;
  }
}

// A line whose elements are neighbours: in which block the extreme value stands first, then where.
template <bool greatest, class T>
std::int64_t position_in_row(const T* row, std::int64_t n) {
  return dispatch([=] {
    auto best = lift(row[0]);
    bool nan = best != best;
    std::int64_t found = 0;
    for (std::int64_t start = 0; start < n && !nan; start += line_block) {
      const auto extreme = extreme_of<greatest>(row + start, std::min(line_block, n - start));
      nan = extreme != extreme;
      if (!nan && !beats<greatest>(extreme, best)) continue;
      best = extreme;
      found = start;
    }
    for (; found < n; ++found) {
      const auto x = lift(row[found]);
      if (nan ? x != x : x == best) return found;
    }
    return std::int64_t{0};
  });
}

// The best numbers so far, and their places. Those of `v` win where they are better, or the first
// NaN.
template <bool greatest, class T>
[[gnu::always_inline]] inline void keep_better(typename kernels::ShortRows<T>::V& best,
                                               typename kernels::ShortRows<T>::Mask& places,
                                               const typename kernels::ShortRows<T>::V& v,
                                               std::int64_t place) {
  using S = kernels::ShortRows<T>;
  typename S::Mask hit = greatest ? v > best : v < best;
  if constexpr (std::is_floating_point_v<T>) hit |= (v != v) & (best == best);
  best = hit ? v : best;
  places = hit ? typename S::Mask{} + static_cast<typename S::Index>(place) : places;
}

// Rows of fewer than 16 elements side by side, element by element: the best so far, and its place.
template <bool greatest, class T>
[[gnu::always_inline]] inline void positions_in_few(typename kernels::ShortRows<T>::Mask& found,
                                                    const T* from, std::int64_t n) {
  using S = kernels::ShortRows<T>;
  typename S::V best{};
  found = typename S::Mask{};
  for (std::int64_t first = 0; first < n; first += S::width) {
    typename S::V v[S::width];
#pragma GCC unroll 8
    for (int k = 0; k < S::width; ++k) std::memcpy(&v[k], from + k * n + first, sizeof v[k]);
    kernels::turn<T>(v);
    if (first == 0) best = v[0];
#pragma GCC unroll 8
    for (int k = 0; k < S::width; ++k) {
      if (first + k < n) keep_better<greatest, T>(best, found, v[k], first + k);
    }
  }
}

// Short rows side by side: the extreme value of each, then the first element that is it. For
// processors that have such vectors.
template <bool greatest, class T, class Index>
void positions_in_short_rows(const T* x, std::int64_t n, std::int64_t rows, Index* to) {
  at_v3([=] {
    using S = kernels::ShortRows<T>;
    using Least = kernels::Extreme<false>;
    const kernels::LastLanes<T> last(n);
    const kernels::LastLanes<Index> last_positions(n);
    typename S::Mask lane;
    for (int l = 0; l < S::width; ++l) lane[l] = l;
    kernels::in_padded_rows(x, n, rows, [&](const T* from, std::int64_t first, std::int64_t count) {
      if (n < kernels::row_lanes) {
        typename S::Mask few;
        positions_in_few<greatest, T>(few, from, n);
        for (std::int64_t r = 0; r < count; ++r) to[first + r] = few[r];
        return;
      }
      typename S::V best;
      kernels::combine_rows<kernels::Extreme<greatest>, T>(
          best, n, last, [&](auto& out, std::int64_t row, std::int64_t at) {
            std::memcpy(&out, from + row * n + at, sizeof out);
          });
      typename kernels::ShortRows<Index>::V found;
      kernels::combine_rows<Least, Index>(
          found, n, last_positions, [&](auto& out, std::int64_t row, std::int64_t at) {
            typename S::V v;
            std::memcpy(&v, from + row * n + at, sizeof v);
            const typename S::V of_row = typename S::V{} + best[row];
            typename S::Mask hit = v == of_row;
            if constexpr (std::is_floating_point_v<T>) hit |= v != v;
            const typename S::Mask position =
                hit ? lane + static_cast<Index>(at) : typename S::Mask{} + Least::identity<Index>();
            std::memcpy(&out, &position, sizeof out);  // another type of the same bits to clang
          });
      for (std::int64_t r = 0; r < count; ++r) to[first + r] = found[r];
    });
  });
}
template <class T>
inline constexpr bool side_by_side =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t>;

// Lines side by side: columns of an array with `inner` elements between rows, so many vectors.
template <bool greatest, int vectors, class T, class I>
[[gnu::always_inline]] inline void positions_in_strip(const T* from, std::int64_t n,
                                                      std::int64_t inner, I* to) {
  using S = kernels::ShortRows<T>;
  typename S::V best[vectors];
  typename S::Mask places[vectors] = {};
  std::memcpy(best, from, sizeof best);
  for (std::int64_t row = 1; row < n; ++row) {
    typename S::V v[vectors];
    std::memcpy(v, from + row * inner, sizeof v);
#pragma GCC unroll 8
    for (int k = 0; k < vectors; ++k) keep_better<greatest, T>(best[k], places[k], v[k], row);
  }
  for (int k = 0; k < vectors; ++k) {
    for (int l = 0; l < S::width; ++l) to[k * S::width + l] = static_cast<I>(places[k][l]);
  }
}

// The same of `width` columns, each by itself.
template <bool greatest, class T, class I>
void positions_one_by_one(const T* from, std::int64_t n, std::int64_t inner, std::int64_t width,
                          I* to) {
  using V = decltype(lift(T{}));
  constexpr std::int64_t block = 256;
  V best[block];
  for (std::int64_t start = 0; start < width; start += block) {
    const std::int64_t count = std::min(block, width - start);
    for (std::int64_t c = 0; c < count; ++c) {
      best[c] = lift(from[start + c]);
      to[start + c] = 0;
    }
    for (std::int64_t row = 1; row < n; ++row) {
      const T* line = from + row * inner + start;
      for (std::int64_t c = 0; c < count; ++c) {
        const V x = lift(line[c]);
        const bool wins = beats<greatest>(x, best[c]) || (x != x && best[c] == best[c]);
        best[c] = wins ? x : best[c];
        to[start + c] = wins ? static_cast<I>(row) : to[start + c];
      }
    }
  }
}

// Columns of numbers as wide as a place are vectors. The last one goes over some columns again.
template <bool greatest, class T, class I>
void positions_in_columns(const T* from, std::int64_t n, std::int64_t inner, std::int64_t width,
                          I* to) {
  if constexpr (side_by_side<T>) {
    constexpr std::int64_t lanes = kernels::ShortRows<T>::width, strip = 4 * lanes;
    if (width >= lanes) {
      return dispatch([=] {
        std::int64_t c = 0;
        for (; c + strip <= width; c += strip)
          positions_in_strip<greatest, 4>(from + c, n, inner, to + c);
        for (; c < width; c += lanes) {
          const std::int64_t at = std::min(c, width - lanes);
          positions_in_strip<greatest, 1>(from + at, n, inner, to + at);
        }
      });
    }
  }
  positions_one_by_one<greatest>(from, n, inner, width, to);
}

// A long line in parts, side by side: the place of each part's extreme value, then the best of
// these.
template <bool greatest, class T>
std::int64_t position_in_long_row(const T* row, std::int64_t n, std::int64_t part) {
  std::vector<std::int64_t> places(index((n + part - 1) / part));
  runtime::parallel_for(static_cast<std::int64_t>(places.size()), [&](std::int64_t task) {
    const std::int64_t first = task * part;
    places[index(task)] = first + position_in_row<greatest>(row + first, std::min(part, n - first));
  });
  std::int64_t found = places[0];
  for (const std::int64_t place : places) {
    const auto best = lift(row[found]), x = lift(row[place]);
    if (beats<greatest>(x, best) || (x != x && best == best)) found = place;
  }
  return found;
}

template <bool greatest, class T, class I>
void find_all(const Lines& lines, const T* from, I* to) {
  constexpr std::int64_t chunk = 32768, part = 8 * chunk;
  if (lines.inner == 1 && lines.n > part) {
    for (std::int64_t o = 0; o < lines.outer; ++o) {
      to[o] = static_cast<I>(position_in_long_row<greatest>(from + o * lines.n, lines.n, part));
    }
    return;
  }
  if (lines.inner == 1) {
    const std::int64_t each = std::max<std::int64_t>(1, chunk / lines.n);
    runtime::parallel_for((lines.outer + each - 1) / each, [&](std::int64_t task) {
      const std::int64_t first = task * each, end = std::min(lines.outer, first + each);
      if constexpr (side_by_side<T>) {
        if (processor_level != Level::baseline && lines.n < kernels::short_row) {
          std::vector<typename kernels::ShortRows<T>::Index> found(index(end - first));
          positions_in_short_rows<greatest>(from + first * lines.n, lines.n, end - first,
                                            found.data());
          std::transform(found.begin(), found.end(), to + first,
                         [](auto position) { return static_cast<I>(position); });
          return;
        }
      }
      for (std::int64_t o = first; o < end; ++o) {
        to[o] = static_cast<I>(position_in_row<greatest>(from + o * lines.n, lines.n));
      }
    });
    return;
  }
  const std::int64_t width = std::min(lines.inner, std::max<std::int64_t>(256, chunk / lines.n));
  const std::int64_t parts = (lines.inner + width - 1) / width;
  const std::int64_t each = std::max<std::int64_t>(1, chunk / (lines.n * width));
  const std::int64_t count = lines.outer * parts;
  runtime::parallel_for((count + each - 1) / each, [&](std::int64_t task) {
    for (std::int64_t k = task * each; k < std::min(count, (task + 1) * each); ++k) {
      const std::int64_t o = k / parts, c = k % parts * width;
      positions_in_columns<greatest>(from + o * lines.n * lines.inner + c, lines.n, lines.inner,
                                     std::min(width, lines.inner - c), to + o * lines.inner + c);
    }
  });
}

template <bool greatest>
Kernel position_kernel(const Types& in, const Types& out, const Params& params) {
  return [empty = out[0].size() == 0, lines = Lines(in[0].shape, params.ints(param::axes)[0])](
             std::span<const View> views, std::span<const View> outs) {
    if (empty) return;
    const DenseInput input(views[0]);
    const DenseOutput output(outs[0]);
    visit_dtype(views[0].dtype, [&](auto value) {
      // Truth values are bytes of 0 and 1.
      using T =
          std::conditional_t<std::is_same_v<decltype(value), bool>, std::uint8_t, decltype(value)>;
      constexpr bool half = std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>;
      if constexpr (std::is_arithmetic_v<T> || half) {
        const T* const from = input.as<T>();
        const auto find_narrow = [&](auto zero) {
          using I = decltype(zero);
          std::vector<std::uint32_t> found(index(lines.outer * lines.inner));
          find_all<greatest>(lines, from, found.data());
          std::transform(found.begin(), found.end(), output.as<I>(),
                         [](std::uint32_t position) { return static_cast<I>(position); });
        };
        switch (itemsize(outs[0].dtype)) {
          case 1: return find_narrow(std::uint8_t{});
          case 2: return find_narrow(std::uint16_t{});
          case 4: return find_all<greatest>(lines, from, output.as<std::uint32_t>());
          default: return find_all<greatest>(lines, from, output.as<std::uint64_t>());
        }
      }
    });
    output.finish();
  };
}

Types position_type(const Op& op, const Types& in, const Params& params) {
  check_dtype(op, in[0].dtype);
  const Ints& axes = params.ints(param::axes);
  const DType position = params.dtype(param::index_dtype);
  if (axes.size() != 1 || axes[0] < 0 || axes[0] >= static_cast<std::int64_t>(in[0].rank())) {
    value_error("Invalid axis ", axes.size() == 1 ? concat(axes[0]) : to_string(axes),
                " for operand shape ", to_string(in[0].shape));
  }
  const auto axis = index(axes[0]);
  if (in[0].shape[axis] < 1) {
    value_error("argmin and argmax require non-empty reduced dimension. operand.shape=",
                to_string(in[0].shape), " axis=", axis);
  }
  if (!is_integer(position))
    type_error("index_dtype must be an integer type, but got ", name(position));
  check_places(op.name, in[0].shape[axis], position);
  Type out = with_dtype(in[0], position);
  out.shape.erase(axis);
  return {out};
}

Batched position_batch(const BatchArgs& a) {
  return batched1(
      bind1(a.op, a.params.with("axes", Ints{a.params.ints(param::axes)[0] + 1}), a.in));
}

constexpr DTypeSet ordered = any_dtype & ~complexes;

const Op argmax_op{{.name = "argmax",
                    .operands = 1,
                    .doc = "The first position of the largest element along an axis, or of a NaN.",
                    .dtypes = ordered,
                    .type = position_type,
                    .batch = position_batch,
                    .no_gradient = true,
                    .half_native = true,
                    .dims = dims_reduced,
                    .kernel = position_kernel<true>}};
const Op argmin_op{{.name = "argmin",
                    .operands = 1,
                    .doc = "The first position of the smallest element along an axis, or of a NaN.",
                    .dtypes = ordered,
                    .type = position_type,
                    .batch = position_batch,
                    .no_gradient = true,
                    .half_native = true,
                    .dims = dims_reduced,
                    .kernel = position_kernel<false>}};

}  // namespace
}  // namespace shardax::ops
