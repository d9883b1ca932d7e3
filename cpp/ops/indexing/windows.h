// ops/indexing/windows.h - the geometry of gather and scatter: windows of an operand, placed by an
// index array, and the array that lists them.
//
// Start at WindowDims (the dimension numbers), then Windows (where each element lies).
#pragma once

#include <limits>

#include "ir/dim_factors.h"
#include "ir/op.h"
#include "runtime/interrupt.h"

namespace shardax::ops {

// Dimension numbers. The last dimension of the index array holds the components of one row. Its
// other dimensions, in order, are the dimensions of the other array that are not `window_dims`.
struct WindowDims {
  Ints window_dims;    // of the other array: those that run along a window (offset_dims)
  Ints collapsed;      // of the operand: windows have size 1 here, and the other array no dimension
  Ints index_map;      // the operand's dimension that each component of a row counts along
  Ints operand_batch;  // of the operand: paired with ...
  Ints index_batch;    // ... these of the index array
  // The number added to each negative component; empty: none
  // (compile/simplify/fold_index_wrap.cpp).
  Ints wraps = {};
};

// The treatment of windows that stick out. clip moves them inside; fill leaves them out (gather
// gives the fill value, scatter drops the update). A promise that none sticks out is kept as clip
// by gather and as fill by scatter, as XLA does.
enum class WindowMode : std::uint8_t { clip, fill };

WindowDims gather_dims(const Params& params);
WindowDims scatter_dims(const Params& params);
// Throws TypeError unless `mode` is one of JAX's names; scatter keeps a promise as fill.
WindowMode window_mode(const Params& params, bool scatter);
// "GatherScatterMode.CLIP", as programs show it.
std::string mode_text(const Params& params);

// Throw TypeError, in JAX's words, unless the dimension numbers and sizes fit the operands.
void check_gather(const WindowDims& dims, const Type& operand, const Type& indices,
                  const Ints& slice_sizes);
void check_scatter(const WindowDims& dims, const Type& operand, const Type& indices,
                   const Type& updates);
// The shape of the other array.
Shape windows_shape(const WindowDims& dims, const Shape& indices, const Ints& slice_sizes);
// The size of a window in each dimension of the operand, given the shape of the other array.
Ints window_sizes(const WindowDims& dims, std::size_t operand_rank, const Shape& other);
// The factors of the operand, the index array and the other array, in the order of the latter's
// dimensions. Batches, and windows that are whole along a dimension, are parallel; dimensions that
// list windows are `listed`. Results are one of these arrays.
DimFactors window_factors(const WindowDims& dims, const Shape& operand, const Shape& indices,
                          const Shape& other, FactorUse listed);
// Are the dimension numbers of a batch: a new leading dimension of the operand and of the other
// array. With `indices` it is a batch dimension of the index array too, else a window dimension.
WindowDims batched_dims(const WindowDims& dims, bool operand, bool indices);

// Stands for the offset of a window that is left out.
template <class Offset>
constexpr Offset outside = std::numeric_limits<Offset>::min();

class Windows {
 public:
  Windows(const WindowDims& dims, WindowMode mode, const View& operand, const View& indices,
          const View& other, const Ints& sizes);

  std::int64_t count() const { return count_; }
  std::int64_t elements() const { return elements_; }  // of one window

  // Some windows: window i starts at operand[i] (or is outside) in the operand, and at
  // other + i * other_stride in the other array.
  template <class Offset>
  struct Run {
    const Offset* operand;
    std::int64_t n;
    std::int64_t other, other_stride;
  };
  // Calls take(run) for windows [from, to), in row-major order of the index array; offsets are of
  // 32 bits where those of the operand are.
  template <class Take>
  void for_runs(std::int64_t from, std::int64_t to, Take&& take) const {
    narrow_ ? for_runs_as<std::int32_t>(from, to, take) : for_runs_as<std::int64_t>(from, to, take);
  }
  // Windows that follow each other so many times lie in a part of the operand that no others touch
  // (0: nothing is known).
  std::int64_t independent() const { return independent_; }
  // The operand's dimension along which these parts follow each other.
  std::size_t independent_dim() const { return independent_dim_; }

  bool fills() const { return mode_ == WindowMode::fill; }
  // Do elements of windows that follow each other lie closer together, in the other array, than
  // those of one window?
  bool side_by_side() const;

  // The dimensions of a window, joined where both arrays allow it: sizes and strides.
  const Shape& shape() const { return shape_; }
  const Shape& operand_strides() const { return operand_strides_; }
  const Shape& other_strides() const { return other_strides_; }

 private:
  static constexpr std::int64_t run_size = 512;
  struct Batch {
    std::int64_t size, index_stride, operand_stride, other_stride;
  };
  struct Component {
    std::int64_t index_offset;  // of the component in a row
    std::int64_t operand_stride;
    std::int64_t limit;  // the last start that fits
    std::int64_t wrap;   // number added to negative starts
  };
  template <class Offset, class Take>
  void for_runs_as(std::int64_t from, std::int64_t to, Take&& take) const {
    Offset offsets[run_size];
    while (from < to) {
      runtime::poll();
      const Run<Offset> run = locate(from, to, offsets);
      take(run);
      from += run.n;
    }
  }
  template <class Offset>
  Run<Offset> locate(std::int64_t from, std::int64_t to, Offset* offsets) const;
  template <class Offset, class I>
  void locate_as(const I* row, std::int64_t index_stride, Offset operand, Offset operand_stride,
                 std::int64_t n, Offset* offsets) const;

  WindowMode mode_;
  bool narrow_ = false;  // offsets take 32 bits
  View indices_;
  std::int64_t count_ = 1;
  std::int64_t elements_ = 1;
  std::int64_t independent_ = 0;
  std::size_t independent_dim_ = 0;
  Shape shape_, operand_strides_, other_strides_;
  std::vector<Batch> batches_;
  std::vector<Component> components_;
};

// A range of a dimension of every window.
struct Part {
  std::int64_t from, to;
};

// Calls line(a, b, n, stride_a, stride_b) for each innermost run of a window that starts at a and
// b.
template <class A, class B, class Line>
void for_lines(const Shape& shape, const Shape& strides_a, const Shape& strides_b, A* a, B* b,
               Line&& line, std::size_t dim = 0) {
  const std::size_t left = shape.size() - dim;
  if (left == 0) return line(a, b, std::int64_t{1}, std::int64_t{1}, std::int64_t{1});
  if (left == 1) return line(a, b, shape[dim], strides_a[dim], strides_b[dim]);
  for (std::int64_t i = 0; i < shape[dim]; ++i) {
    for_lines(shape, strides_a, strides_b, a + i * strides_a[dim], b + i * strides_b[dim], line,
              dim + 1);
  }
}

}  // namespace shardax::ops
