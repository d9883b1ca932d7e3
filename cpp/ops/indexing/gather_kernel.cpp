// ops/indexing/gather_kernel.cpp - windows copied side by side, in tasks of many.
#include "ops/indexing/gather_kernel.h"

#include <complex>
#include <cstring>
#include <limits>

#include "base/index.h"
#include "ops/family.h"
#include "ops/indexing/windows.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

double default_fill(DType dtype) {
  if (is_inexact(dtype)) return std::numeric_limits<double>::quiet_NaN();
  return dtype == DType::boolean ? 1 : 0;
}

ArrayPtr fill_array(DType dtype, const ParamValue& fill) {
  if (const auto* b = std::get_if<bool>(&fill)) return scalar_array_int(dtype, *b);
  if (const auto* i = std::get_if<std::int64_t>(&fill)) return scalar_array_int(dtype, *i);
  if (const auto* d = std::get_if<double>(&fill)) return scalar_array(dtype, *d);
  if (is_key(dtype)) {
    const ArrayPtr array = empty_array(Type{dtype, false, {}, {}});
    std::memset(array->data(), 0xff, index(itemsize(dtype)));
    return array;
  }
  if (!is_integer(dtype)) return scalar_array(dtype, default_fill(dtype));
  const int bits = bit_width(dtype);
  const std::int64_t extreme = is_signed_integer(dtype)
                                   ? std::numeric_limits<std::int64_t>::min() >> (64 - bits)
                                   : static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - bits));
  return scalar_array_int(dtype, extreme);
}

// Elements copied by one task: 20 us where they lie scattered.
constexpr std::int64_t chunk_elements = 8192;

// Rows that lie scattered are asked for so many before they are read.
constexpr std::int64_t ahead = 16;
// Elements, of an operand that the second-level cache does not hold.
constexpr std::int64_t ahead_elements = 64, far_bytes = std::int64_t{1} << 20;

template <class Offset>
using Run = Windows::Run<Offset>;

// Rows of `n` elements: line by line, without a call for each.
template <class T, class Offset>
void copy_rows(const Run<Offset>& run, const T* from, T* to, std::int64_t n, T fill) {
  constexpr auto line = static_cast<std::int64_t>(64 / sizeof(T));
  for (std::int64_t i = 0; i < run.n; ++i) {
    T* out = to + i * run.other_stride;
    if (i + ahead < run.n) __builtin_prefetch(from + run.operand[i + ahead]);
    if (run.operand[i] == outside<Offset>) {
      std::fill_n(out, n, fill);
      continue;
    }
    const T* in = from + run.operand[i];
    std::int64_t k = 0;
    for (; k + line <= n; k += line) std::memcpy(out + k, in + k, line * sizeof(T));
    for (; k < n; ++k) out[k] = in[k];
  }
}

// The fill value of windows that are left out, if they may be, and the number of windows by which
// elements are prefetched.
template <class T>
struct Elements {
  T fill;
  bool fills;
  std::int64_t ahead;
};

// One element of each window.
template <class T, class Offset>
void copy_elements(const Run<Offset>& run, const T* from, T* to, const Elements<T>& how) {
  const auto copy = [&](std::int64_t stride, auto one) {
    std::int64_t i = 0;
    for (; i + how.ahead < run.n; ++i) {
      __builtin_prefetch(from + run.operand[i + how.ahead]);
      to[i * stride] = one(run.operand[i]);
    }
    // A loop of one element is as fast as its place in memory lets it be fetched.
#pragma GCC unroll 4
    for (; i < run.n; ++i) to[i * stride] = one(run.operand[i]);
  };
  const auto inside = [&](Offset at) { return from[at]; };
  const auto any = [&](Offset at) { return at == outside<Offset> ? how.fill : from[at]; };
  if (run.other_stride == 1) {
    how.fills ? copy(1, any) : copy(1, inside);
  } else {
    how.fills ? copy(run.other_stride, any) : copy(run.other_stride, inside);
  }
}

// The elements of one window, of which others lie between.
template <class T, class Offset>
void copy_column(Offset at, const T* from, T* to, std::int64_t n, std::int64_t stride_from,
                 std::int64_t stride_to, T fill) {
  if (at == outside<Offset>) {
    for (std::int64_t k = 0; k < n; ++k) to[k * stride_to] = fill;
  } else {
    for (std::int64_t k = 0; k < n; ++k) to[k * stride_to] = from[at + k * stride_from];
  }
}
// So few are taken one by one.
constexpr std::int64_t few_windows = 8;

// Element by element of a window, that of all windows: windows lie side by side in the result.
template <class T, class Offset>
void copy_across(const Windows& windows, const Run<Offset>& run, const T* from, T* to,
                 const Elements<T>& how, Part part) {
  Shape shape = windows.shape();
  shape[0] = part.to - part.from;
  from += part.from * windows.operand_strides()[0];
  to += part.from * windows.other_strides()[0];
  for_lines(shape, windows.operand_strides(), windows.other_strides(), from, to,
            [&](const T* a, T* b, std::int64_t m, std::int64_t stride_a, std::int64_t stride_b) {
              if (run.n < few_windows && m > run.n) {
                for (std::int64_t i = 0; i < run.n; ++i)
                  copy_column(run.operand[i], a, b + i * run.other_stride, m, stride_a, stride_b,
                              how.fill);
                return;
              }
              for (std::int64_t k = 0; k < m; ++k)
                copy_elements(run, a + k * stride_a, b + k * stride_b, how);
            });
}

template <class T, class Offset>
void copy_run(const Windows& windows, const Run<Offset>& run, const T* from, T* to, T fill) {
  constexpr std::int64_t longest_row = 256;
  if (windows.shape().size() == 1 && windows.shape()[0] <= longest_row &&
      windows.operand_strides()[0] == 1 && windows.other_strides()[0] == 1)
    return copy_rows(run, from, to, windows.shape()[0], fill);
  const Shape repeated(windows.shape().size(), 0);
  for (std::int64_t i = 0; i < run.n; ++i) {
    const bool missing = run.operand[i] == outside<Offset>;
    for_lines(windows.shape(), missing ? repeated : windows.operand_strides(),
              windows.other_strides(), missing ? &fill : from + run.operand[i],
              to + i * run.other_stride,
              [](const T* a, T* b, std::int64_t m, std::int64_t stride_a, std::int64_t stride_b) {
                if (stride_a == 1 && stride_b == 1) {
                  std::memcpy(b, a, index(m) * sizeof(T));
                } else {
                  for (std::int64_t k = 0; k < m; ++k) b[k * stride_b] = a[k * stride_a];
                }
              });
  }
}

std::int64_t dense_bytes(const View& view) {
  std::int64_t bytes = itemsize(view.dtype);
  for (const std::int64_t d : view.shape) bytes *= d;
  return bytes;
}

template <class T>
void gather_elements(const Windows& windows, const View& from, const View& to, const Array& fill) {
  T missing;
  std::memcpy(&missing, fill.data(), sizeof(T));
  const bool far = dense_bytes(from) > far_bytes;
  const Elements<T> how{missing, windows.fills(), far ? ahead_elements : windows.count()};
  const auto* const source = reinterpret_cast<const T*>(from.data);
  auto* const target = reinterpret_cast<T*>(to.data);
  if (windows.side_by_side()) {
    // A part of every window for each task, so that their common elements are read once.
    const std::int64_t size = windows.shape()[0], others = windows.elements() / size;
    const std::int64_t each = std::max<std::int64_t>(
        1, chunk_elements / std::max<std::int64_t>(windows.count() * others, 1));
    runtime::parallel_for((size + each - 1) / each, [&](std::int64_t i) {
      const Part part{i * each, std::min((i + 1) * each, size)};
      windows.for_runs(0, windows.count(), [&](const auto& run) {
        copy_across(windows, run, source, target + run.other, how, part);
      });
    });
    return;
  }
  const std::int64_t each =
      std::max<std::int64_t>(1, chunk_elements / std::max<std::int64_t>(windows.elements(), 1));
  runtime::parallel_for((windows.count() + each - 1) / each, [&](std::int64_t i) {
    windows.for_runs(i * each, std::min((i + 1) * each, windows.count()), [&](const auto& run) {
      if (windows.shape().empty()) {
        copy_elements(run, source, target + run.other, how);
      } else {
        copy_run(windows, run, source, target + run.other, missing);
      }
    });
  });
}

}  // namespace

Kernel gather_kernel(const Types& in, const Types& out, const Params& params) {
  const WindowDims dims = gather_dims(params);
  const WindowMode mode = window_mode(params, false);
  const ParamValue* given = params.find("fill_value");
  const ArrayPtr fill = fill_array(in[0].dtype, given ? *given : ParamValue{});
  return [dims, mode, sizes = params.ints(param::slice_sizes), fill, empty = out[0].size() == 0](
             std::span<const View> views, std::span<const View> outs) {
    if (empty) return;
    const Windows windows(dims, mode, views[0], views[1], outs[0], sizes);
    switch (itemsize(outs[0].dtype)) {
      case 1: return gather_elements<std::uint8_t>(windows, views[0], outs[0], *fill);
      case 2: return gather_elements<std::uint16_t>(windows, views[0], outs[0], *fill);
      case 4: return gather_elements<std::uint32_t>(windows, views[0], outs[0], *fill);
      case 8: return gather_elements<std::uint64_t>(windows, views[0], outs[0], *fill);
      default: return gather_elements<std::complex<double>>(windows, views[0], outs[0], *fill);
    }
  };
}

}  // namespace shardax::ops
