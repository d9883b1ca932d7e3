// ops/gather.cpp - gather: windows of an array, picked by an array of indices.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/lists.h"
#include "ops/family.h"
#include "ops/index.h"
#include "ops/parts.h"
#include "ops/split.h"
#include "ops/starts.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

Types gather_type(const Op&, const Types& in, const Params& params) {
  const WindowDims dims = gather_dims(params);
  const Type &a = in[0], &indices = in[1];
  const Ints& sizes = params.ints("slice_sizes");
  window_mode(params, false);
  check_gather(dims, a, indices, sizes);
  return {with_shape(a, windows_shape(dims, indices.shape, sizes))};
}

// ---- how results are split ------------------------------------------------------------------

// Dimensions of windows as in the operand, where they are whole there; the others as in the indices
// or, of batches, as in the operand.
Split gather_split(const SplitArgs& a) {
  const WindowDims dims = gather_dims(a.params);
  const Ints& sizes = a.params.ints("slice_sizes");
  const Split operand = split_of(a, 0);
  Split indices = split_of(a, 1);
  for (std::size_t k = 0; k < dims.operand_batch.size(); ++k) {
    auto& own = indices[static_cast<std::size_t>(dims.index_batch[k])];
    if (own.empty()) own = operand[static_cast<std::size_t>(dims.operand_batch[k])];
  }
  Split out(a.out.rank());
  // Each mesh axis splits one dimension only: the first.
  std::vector<std::string> used;
  const auto take = [&](const std::vector<std::string>& axes) {
    std::vector<std::string> taken;
    for (const std::string& axis : axes) {
      if (has(used, axis)) continue;
      used.push_back(axis);
      taken.push_back(axis);
    }
    return taken;
  };
  std::size_t from = 0, index = 0;
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (!has(dims.window_dims, d)) {
      out[d] = take(indices[index++]);
      continue;
    }
    while (has(dims.collapsed, from) || has(dims.operand_batch, from)) ++from;
    if (sizes[from] == a.in[0].shape[from]) out[d] = take(operand[from]);
    ++from;
  }
  return split_evenly(std::move(out), a);
}

// Windows that are whole along a dimension are split as the operand; the rest as the indices.
Parts gather_parts(const SplitArgs& a) {
  const WindowDims dims = gather_dims(a.params);
  Parts out = parts_whole(a);
  out.out = gather_split(a);
  Ints sizes = a.params.ints("slice_sizes");
  std::size_t from = 0, index = 0;
  for (std::size_t d = 0; d < out.out.size(); ++d) {
    if (!has(dims.window_dims, d)) {
      out.in[1][index] = out.out[d];
      for (std::size_t k = 0; k < dims.index_batch.size(); ++k) {
        if (dims.index_batch[k] == static_cast<std::int64_t>(index))
          out.in[0][static_cast<std::size_t>(dims.operand_batch[k])] = out.out[d];
      }
      ++index;
      continue;
    }
    while (has(dims.collapsed, from) || has(dims.operand_batch, from)) ++from;
    out.in[0][from] = out.out[d];
    sizes[from++] /= parts_of(out.out[d], a.mesh);
  }
  out.params.set("slice_sizes", sizes);
  return out;
}

void check_gather_split(const Op&, const Params& params, const Types& in, const Types&) {
  const WindowDims dims = gather_dims(params);
  const Ints& sizes = params.ints("slice_sizes");
  const auto split = [](const Type& type, std::size_t d) {
    return type.sharding && !type.sharding->explicit_split(d).empty();
  };
  bool open = false;
  for (std::size_t d = 0; d < in[0].rank(); ++d)
    open = open || (has(dims.index_map, d) && sizes[d] != in[0].shape[d] && split(in[0], d));
  for (std::size_t d = 0; d < in[1].rank(); ++d)
    open = open || (!has(dims.index_batch, d) && split(in[1], d));
  if (open)
    fail(
        ErrorKind::sharding_type_error,
        "Use `.at[...].get(out_sharding=)` to provide output PartitionSpec for the gather indexing "
        "as out sharding could not be resolved unambiguously (or would require collectives on "
        "inputs). Got operand=",
        to_string(in[0]), ", indices=", to_string(in[1]));
}

// ---- kernel --------------------------------------------------------------------------------

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
    std::memset(array->data(), 0xff, static_cast<std::size_t>(itemsize(dtype)));
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

// What a window that is left out gives, if that may be, and how many windows before they are read
// elements are asked for.
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
                  std::memcpy(b, a, static_cast<std::size_t>(m) * sizeof(T));
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
    // A part of every window for each task, so that what they share is read once.
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

Kernel gather_kernel(const Types& in, const Types& out, const Params& params) {
  const WindowDims dims = gather_dims(params);
  const WindowMode mode = window_mode(params, false);
  const ParamValue* given = params.find("fill_value");
  const ArrayPtr fill = fill_array(in[0].dtype, given ? *given : ParamValue{});
  return [dims, mode, sizes = params.ints("slice_sizes"), fill, empty = out[0].size() == 0](
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

// ---- rules ---------------------------------------------------------------------------------

IndexOptions options_of(const Params& p) {
  return {p.text("mode"), p.flag("indices_are_sorted"), p.flag("unique_indices")};
}

Batched gather_batch(const BatchArgs& a) {
  IndexOptions options = options_of(a.params);
  const bool operand = a.batched[0], indices = a.batched[1];
  Ints sizes = a.params.ints("slice_sizes");
  if (operand) sizes.insert(0, indices ? std::min<std::int64_t>(a.axis.size, 1) : a.axis.size);
  if (!operand) options.indices_are_sorted = options.unique_indices = false;
  return batched1(gather(a.in[0], a.in[1], batched_dims(gather_dims(a.params), operand, indices),
                         sizes, options, *a.params.find("fill_value")));
}

const Op gather_op{
    {.name = "gather",
     .doc =
         "Windows of an array that start at the rows of an index array; operands are the array and "
         "the integer indices.",
     .type = gather_type,
     .jvp = [](const JvpArgs& a) -> Values {
       if (!a.t[0]) return {nullptr};
       return {gather(a.t[0], a.in[1], gather_dims(a.params), a.params.ints("slice_sizes"),
                      options_of(a.params), std::int64_t{0})};
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       const Type operand = with_dtype(a.in_types[0], a.ct[0]->dtype());
       return {scatter_add(zeros(operand), a.in[1], a.ct[0], gather_dims(a.params),
                           options_of(a.params)),
               nullptr};
     },
     .batch = gather_batch,
     .half_native = true,
     .split = gather_split,
     .check_split = check_gather_split,
     .parts = gather_parts,
     .kernel = gather_kernel,
     .first_index = 1,
     .starts = gather_starts,
     .show = [](const Params& p) -> std::vector<std::string> {
       const auto ints = [&](const char* name) {
         return concat(name, "=", to_string(p.ints(name)));
       };
       const auto flag = [&](const char* name) {
         return concat(name, p.flag(name) ? "=True" : "=False");
       };
       const ParamValue* fill = p.find("fill_value");
       return {
           concat("dimension_numbers=GatherDimensionNumbers(", ints("offset_dims"), ", ",
                  ints("collapsed_slice_dims"), ", ", ints("start_index_map"), ", ",
                  ints("operand_batching_dims"), ", ", ints("start_indices_batching_dims"), ")"),
           "fill_value=" + (fill ? to_string(*fill) : "None"),
           flag("indices_are_sorted"),
           "mode=" + mode_text(p),
           ints("slice_sizes"),
           flag("unique_indices")};
     }}};

}  // namespace

Value gather(const Value& a, const Value& indices, const WindowDims& dims, const Ints& sizes,
             const IndexOptions& options, const ParamValue& fill) {
  return bind1(gather_op,
               {{"offset_dims", dims.window_dims},
                {"collapsed_slice_dims", dims.collapsed},
                {"start_index_map", dims.index_map},
                {"operand_batching_dims", dims.operand_batch},
                {"start_indices_batching_dims", dims.index_batch},
                {"slice_sizes", sizes},
                {"mode", options.mode},
                {"fill_value", fill},
                {"indices_are_sorted", options.indices_are_sorted},
                {"unique_indices", options.unique_indices}},
               {a, indices});
}

Value take(const Value& a, const Value& indices, std::int64_t axis) {
  const std::size_t rank = a->shape().size(), index_rank = indices->shape().size();
  Ints sizes = a->shape();
  sizes[static_cast<std::size_t>(axis)] = 1;
  WindowDims dims;
  for (std::size_t d = 0; d + 1 < rank; ++d) {
    dims.window_dims.push_back(
        static_cast<std::int64_t>(d < static_cast<std::size_t>(axis) ? d : d + index_rank));
  }
  dims.collapsed = dims.index_map = {axis};
  return gather(a, expand_dims(indices, {static_cast<std::int64_t>(index_rank)}), dims, sizes);
}

Value take_along(const Value& a, const Value& indices, std::int64_t axis) {
  const std::size_t rank = a->shape().size();
  WindowDims dims;
  dims.collapsed = dims.index_map = {axis};
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d) {
    if (d == axis) continue;
    dims.operand_batch.push_back(d);
    dims.index_batch.push_back(d);
  }
  return gather(a, expand_dims(indices, {static_cast<std::int64_t>(rank)}), dims, Ints(rank, 1),
                {"promise_in_bounds", false, true});
}

}  // namespace shardax::ops
