// ops/indexing/scatter_kernel.cpp - windows combined into an array, in order, on disjoint parts of
// it.
#include "ops/indexing/scatter_kernel.h"

#include <array>
#include <complex>

#include "base/index.h"
#include "kernels/copy/copy.h"
#include "kernels/tiles/dispatch.h"
#include "kernels/wide.h"
#include "ops/indexing/windows.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

using kernels::is_half_v;

// NaN in either operand gives NaN; complex numbers compare lexicographically.
template <bool greater, class T>
T extremum(T a, T b) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (a != a) return a;
    return (greater ? a > b : a < b) ? a : b;
  } else {
    const bool real_decides = a.real() != b.real();
    const auto x = real_decides ? a.real() : a.imag(), y = real_decides ? b.real() : b.imag();
    return (greater ? x >= y : x <= y) ? a : b;
  }
}

template <ScatterKind kind, class T>
T combine(T a, T b) {
  if constexpr (kind == ScatterKind::put) {
    return b;
  } else if constexpr (std::is_same_v<T, bool>) {
    return kind == ScatterKind::mul || kind == ScatterKind::min ? a && b
           : kind == ScatterKind::sub                           ? a != b
                                                                : a || b;
  } else if constexpr (is_half_v<T>) {
    return kernels::lower<T>(combine<kind>(kernels::lift(a), kernels::lift(b)));
  } else if constexpr (kind == ScatterKind::min || kind == ScatterKind::max) {
    return extremum<kind == ScatterKind::max>(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    return kernels::wrapping(a, b, [](auto x, auto y) {
      return kind == ScatterKind::add ? x + y : kind == ScatterKind::sub ? x - y : x * y;
    });
  } else if constexpr (kind != ScatterKind::mul) {
    return kind == ScatterKind::add ? a + b : a - b;
  } else if constexpr (std::is_floating_point_v<T>) {
    return a * b;
  } else {
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  }
}

// Below this many elements a task is not worth its start.
constexpr std::int64_t worth_splitting = 32768;
// The size of a copied part that stays in the cache until updates act on it.
constexpr std::int64_t copied_bytes = std::int64_t{128} << 10;

// The operand's copy, whole or for some of its batch elements.
class Copy {
 public:
  Copy(const View& from, const View& to) : from_(from), to_(to) {}
  bool needed() const { return from_.data != to_.data; }
  void all() const { run(from_.shape, 0, 0); }
  void part(std::size_t dim, std::int64_t first, std::int64_t end) const {
    Shape shape = from_.shape;
    shape[dim] = end - first;
    run(shape, dim, first);
  }
  // The number of elements along that dimension that stay in the cache.
  std::int64_t most(std::size_t dim) const {
    std::int64_t bytes = itemsize(to_.dtype);
    for (std::size_t d = 0; d < from_.shape.size(); ++d) bytes *= d == dim ? 1 : from_.shape[d];
    return std::max<std::int64_t>(1, copied_bytes / std::max<std::int64_t>(bytes, 1));
  }

 private:
  void run(const Shape& shape, std::size_t dim, std::int64_t first) const {
    const int width = itemsize(to_.dtype);
    const auto start = [&](const View& v) {
      return first == 0 ? v.data : v.data + first * v.strides[dim] * width;
    };
    kernels::copy_strided(start(to_), to_.strides, start(from_), from_.strides, shape, width);
  }
  View from_, to_;
};

// Rows of windows; of the strides one or both may not be 1.
template <ScatterKind kind, class T>
void combine_line(T* x, const T* y, std::int64_t n) {
  dispatch([=] {
    SHARDAX_IVDEP
    for (std::int64_t k = 0; k < n; ++k) x[k] = combine<kind>(x[k], y[k]);
  });
}
template <ScatterKind kind, class T>
void combine_line(T* x, const T* y, std::int64_t n, std::int64_t sx, std::int64_t sy) {
  for (std::int64_t k = 0; k < n; ++k) x[k * sx] = combine<kind>(x[k * sx], y[k * sy]);
}
// The places of windows. Windows of arrays too large for offsets of 32 bits come one at a time.
using Run = Windows::Run<std::int32_t>;

// Gradients of lookups: one row of floats for each window of a run.
template <class T>
void add_lines(const Run& run, T* to, const T* updates, std::int64_t n) {
  dispatch([=, &run] {
    for (std::int64_t i = 0; i < run.n; ++i) {
      if (run.operand[i] == outside<std::int32_t>) continue;
      T* x = to + run.operand[i];
      const T* y = updates + i * run.other_stride;
      SHARDAX_IVDEP
      for (std::int64_t k = 0; k < n; ++k) x[k] += y[k];
    }
  });
}
// Shorter rows take less time element by element than as vectors.
constexpr std::int64_t vector_row = 8;
// The length of shorter ones, coordinates and weights of edges for example, is known where they are
// added.
template <int n, class T>
void add_short_lines(const Run& run, T* to, const T* updates) {
  for (std::int64_t i = 0; i < run.n; ++i) {
    if (run.operand[i] == outside<std::int32_t>) continue;
    T* x = to + run.operand[i];
    const T* y = updates + i * run.other_stride;
    T sums[n];
    for (int k = 0; k < n; ++k) sums[k] = x[k] + y[k];
    for (int k = 0; k < n; ++k) x[k] = sums[k];
  }
}
template <class T, int... n>
constexpr auto short_lines(std::integer_sequence<int, n...>) {
  return std::array{add_short_lines<n + 1, T>...};
}

// Combines the windows of a run, which begin at `to` and `updates`; of their last dimension,
// `part`.
template <ScatterKind kind, class T>
void apply(const Windows& windows, const Run& run, void* operand, const void* other, Part part) {
  T* to = static_cast<T*>(operand);
  const T* updates = static_cast<const T*>(other) + run.other;
  // With bytes the compiler would assume that they change the run itself.
  const auto each = [&, n = run.n, starts = run.operand, stride = run.other_stride](auto&& window) {
    const T* update = updates;
    for (std::int64_t i = 0; i < n; ++i, update += stride) {
      if (starts[i] != outside<std::int32_t>) window(to + starts[i], update);
    }
  };
  const auto pair = [](T* x, const T* y) { *x = combine<kind>(*x, *y); };
  if (windows.shape().empty()) return each(pair);
  const Shape &a = windows.operand_strides(), &b = windows.other_strides();
  const std::int64_t n = part.to - part.from, sx = a.back(), sy = b.back();
  const bool dense = sx == 1 && sy == 1 && n >= vector_row;
  to += part.from * sx;
  updates += part.from * sy;
  if constexpr (kind == ScatterKind::add && std::is_floating_point_v<T>) {
    if (a.size() == 1 && dense) return add_lines(run, to, updates, n);
    if (a.size() == 1 && sx == 1 && sy == 1 && n > 0 && n < vector_row) {
      constexpr auto by_length = short_lines<T>(std::make_integer_sequence<int, vector_row - 1>());
      return by_length[index(n - 1)](run, to, updates);
    }
  }
  // Strided elements of a window come after each other, each for all windows.
  constexpr std::int64_t few_windows = 8;
  if (a.size() == 1 && sx != 1 && run.n > few_windows) {
    for (std::int64_t k = 0; k < n; ++k, to += sx, updates += sy) each(pair);
    return;
  }
  Shape shape = windows.shape();
  shape.back() = n;
  each([&](T* window, const T* update) {
    for_lines(shape, a, b, window, update,
              [dense](T* x, const T* y, std::int64_t m, std::int64_t dx, std::int64_t dy) {
                dense ? combine_line<kind>(x, y, m) : combine_line<kind>(x, y, m, dx, dy);
              });
  });
}
using Apply = void (*)(const Windows&, const Run&, void*, const void*, Part);

// The type whose kernel T shares. A put copies bits, and sums, differences and products of integers
// are the same with and without signs.
template <ScatterKind kind, class T>
auto shared_type() {
  constexpr bool wraps =
      kind == ScatterKind::add || kind == ScatterKind::sub || kind == ScatterKind::mul;
  if constexpr (kind == ScatterKind::put) {
    if constexpr (sizeof(T) == 1)
      return std::uint8_t{};
    else if constexpr (sizeof(T) == 2)
      return std::uint16_t{};
    else if constexpr (sizeof(T) == 4)
      return std::uint32_t{};
    else if constexpr (sizeof(T) == 8)
      return std::uint64_t{};
    else
      return std::complex<double>{};
  } else if constexpr (wraps && std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return std::make_unsigned_t<T>{};
  } else {
    return T{};
  }
}
template <ScatterKind kind>
Apply apply_of(DType dtype) {
  Apply found = nullptr;
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!is_opaque<T> || kind == ScatterKind::put)
      found = apply<kind, decltype(shared_type<kind, T>())>;
  });
  return found;
}

// Tasks work on disjoint parts of the operand: on batch elements, or on ranges of the windows.
// Ranges are of whole cache lines if elements are contiguous. Within a task updates act in their
// order.
void run_all(const Windows& windows, const View& out, const std::byte* updates, const Copy& copy,
             Apply apply) {
  const std::int64_t work = windows.count() * windows.elements();
  const std::int64_t size = windows.shape().empty() ? 1 : windows.shape().back();
  const int width = itemsize(out.dtype);
  const auto task = [&](std::int64_t from, std::int64_t end, Part part) {
    windows.for_runs(from, end, [&](const auto& run) {
      if constexpr (std::is_same_v<decltype(run), const Run&>) {
        apply(windows, run, out.data, updates, part);
      } else {
        for (std::int64_t i = 0; i < run.n; ++i) {
          if (run.operand[i] == outside<std::int64_t>) continue;
          const std::int32_t start = 0;
          const Run one{&start, 1, run.other + i * run.other_stride, 0};
          apply(windows, one, out.data + run.operand[i] * width, updates, part);
        }
      }
    });
  };
  if (const std::int64_t own = windows.independent(); own > 0 && work >= worth_splitting) {
    const std::int64_t groups = windows.count() / own;
    std::int64_t each = std::max<std::int64_t>(
        1, worth_splitting / std::max<std::int64_t>(own * windows.elements(), 1));
    const std::size_t dim = windows.independent_dim();
    if (copy.needed()) each = std::min(each, copy.most(dim));
    runtime::parallel_for((groups + each - 1) / each, [&](std::int64_t i) {
      const std::int64_t first = i * each, end = std::min(groups, first + each);
      if (copy.needed()) copy.part(dim, first, end);
      task(first * own, end * own, {0, size});
    });
    return;
  }
  if (copy.needed()) copy.all();
  const bool dense = !windows.shape().empty() && windows.operand_strides().back() == 1;
  const std::int64_t line = dense ? 64 / width : 1;
  const std::int64_t most = std::min<std::int64_t>(runtime::thread_count(), size / line);
  const std::int64_t parts = work < worth_splitting ? 1 : std::clamp<std::int64_t>(most, 1, 8);
  const std::int64_t step = (size + parts - 1) / parts;
  runtime::parallel_for(parts, [&](std::int64_t i) {
    task(0, windows.count(), {std::min(i * step, size), std::min((i + 1) * step, size)});
  });
}

Kernel kernel_of(Apply (*apply_of)(DType), const Types& in, const Params& params) {
  const WindowDims dims = scatter_dims(params);
  return [apply_of, dims, mode = window_mode(params, true),
          sizes = window_sizes(dims, in[0].rank(), in[2].shape),
          empty = in[2].size() == 0](std::span<const View> in_views, std::span<const View> outs) {
    const View &operand = in_views[0], &updates = in_views[2], &out = outs[0];
    const Copy copy(operand, out);
    if (empty) {
      if (copy.needed()) copy.all();
      return;
    }
    run_all(Windows(dims, mode, out, in_views[1], updates, sizes), out, updates.data, copy,
            apply_of(out.dtype));
  };
}

}  // namespace

Kernel make_scatter_kernel(ScatterKind kind, const Types& in, const Params& params) {
  constexpr Apply (*by_kind[])(DType) = {apply_of<ScatterKind::put>, apply_of<ScatterKind::add>,
                                         apply_of<ScatterKind::sub>, apply_of<ScatterKind::mul>,
                                         apply_of<ScatterKind::min>, apply_of<ScatterKind::max>};
  return kernel_of(by_kind[index(kind)], in, params);
}

}  // namespace shardax::ops
