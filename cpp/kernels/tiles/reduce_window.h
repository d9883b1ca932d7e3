// kernels/tiles/reduce_window.h - reductions over sliding windows, and selection within them.
//
// Along a dimension output t sees the places t * stride + w * dilation - low, w < window, of
// elements that are `base` apart. Places between and beyond them hold the identity.
#pragma once

#include <cstddef>

#include "array/type.h"
#include "base/small_vector.h"
#include "kernels/gemm/matmul.h"

namespace shardax::kernels {

struct WindowSpec {
  std::int64_t in, window, out;  // sizes
  std::int64_t stride = 1, low = 0, base = 1, dilation = 1;
  bool is_plain() const { return window == 1 && stride == 1 && low == 0 && base == 1 && in == out; }
};
using Slides = SmallVector<WindowSpec, 5>;

// The elements at place w of the windows: outputs first, first + step, ... see the elements from,
// from + from_step, ...
struct Meeting {
  std::int64_t first = 0, step = 1, count = 0, from = 0, from_step = 0;
};
Meeting meeting(const WindowSpec& s, std::int64_t w);
// The meeting of outputs start, ..., start + n - 1; `first` counts from `start`.
Meeting within(const Meeting& m, std::int64_t start, std::int64_t n);

enum class Combine { sum, max, min };

// Row-major arrays. Dimension by dimension: the work is the sum of the windows' sizes, not their
// product, and grows with the logarithm of a long window. 16-bit floats are combined in float32 and
// rounded once; NaN wins over any number.
void reduce_windows(Combine combine, DType dtype, const std::byte* in, std::byte* out,
                    const Slides& slides, ParallelFor parallel_for);

// For each window, the element of `values` at the largest (smallest) element of `keys`, 0 in
// padding. The first of equal keys counts, and a NaN that no number follows.
void gather_windows(bool largest, DType dtype, const std::byte* values, const std::byte* keys,
                    std::byte* out, const Slides& slides, ParallelFor parallel_for);
// `values` has an element for each window; it is added to `out` where the largest element lies.
void scatter_windows(bool largest, DType dtype, const std::byte* values, const std::byte* keys,
                     std::byte* out, const Slides& slides, ParallelFor parallel_for);

}  // namespace shardax::kernels
