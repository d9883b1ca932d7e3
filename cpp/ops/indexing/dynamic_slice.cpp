// ops/indexing/dynamic_slice.cpp - windows that start where scalar operands say.
#include "kernels/copy/copy.h"
#include "ops/batch_axis.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/indexing/index.h"
#include "ops/indexing/slice_starts.h"
#include "ops/sharding_rules/ambiguity.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/unreduced_rules.h"

namespace shardax::ops {
namespace {

// The starts begin at operand `first`.
void check_starts(const char* api, const Types& in, std::size_t first) {
  const std::size_t rank = in[0].rank();
  if (in.size() != first + rank) {
    type_error(api, " start_indices must have length equal to the rank of operand, got ",
               in.size() - first, " indices for operand shape ", to_string(in[0].shape), ".");
  }
  std::string dtypes;
  bool fits = true;
  for (std::size_t i = first; i < in.size(); ++i) {
    if (in[i].rank() != 0) {
      type_error("start_indices arguments to ", api, " must be scalars, got an index of type ",
                 to_string(in[i]), ".");
    }
    fits = fits && is_integer(in[i].dtype) && in[i].dtype == in[first].dtype;
    dtypes += (dtypes.empty() ? "" : ", ") + std::string(name(in[i].dtype));
  }
  if (!fits)
    type_error("index arguments to ", api, " must be integers of the same type, got: ", dtypes);
}

bool fits_inside(const Shape& inner, const Shape& outer) {
  for (std::size_t d = 0; d < outer.size(); ++d) {
    if (inner[d] > outer[d]) return false;
  }
  return true;
}

// A window of the whole size along a dimension starts at 0.
DimFactors dims_of_window(const Types& in, const Type& out, const Shape& window) {
  Ints cut;
  for (std::size_t d = 0; d < window.size(); ++d) {
    if (in[0].shape[d] != window[d]) cut.push_back(static_cast<std::int64_t>(d));
  }
  return dims_along(cut, in, out, FactorUse::windowed);
}

std::int64_t read_integer(const View& scalar) {
  std::int64_t out = 0;
  visit_dtype(scalar.dtype, [&](auto zero) {
    using I = decltype(zero);
    if constexpr (std::is_integral_v<I>) {
      const I value = *reinterpret_cast<const I*>(scalar.data);
      out = static_cast<std::int64_t>(value);
      if (std::is_unsigned_v<I> && out < 0) out = INT64_MAX;
    }
  });
  return out;
}

// The start of the window of `sizes` in `view`.
std::byte* window_start(const View& view, const Shape& sizes, std::span<const View> starts) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const std::int64_t last = view.shape[d] - sizes[d];
    offset += std::max<std::int64_t>(0, std::min(read_integer(starts[d]), last)) * view.strides[d];
  }
  return view.data + offset * itemsize(view.dtype);
}

Values from(const Values& values, std::size_t first) {
  return Values(values.begin() + static_cast<std::ptrdiff_t>(first), values.end());
}

bool any_batched(const BatchArgs& a, std::size_t first) {
  for (std::size_t i = first; i < a.in.size(); ++i) {
    if (a.batched[i]) return true;
  }
  return false;
}

// The same starts in an operand with one more leading dimension, which is taken whole.
Values with_leading_start(const Values& starts) {
  Values out{scalar(starts.empty() ? DType::int32 : starts[0]->dtype(), 0)};
  out.insert(out.end(), starts.begin(), starts.end());
  return out;
}

// Scalars, some of them batched, as rows of an index array.
Value start_rows(const BatchArgs& a, std::size_t first) {
  Values columns;
  for (std::size_t i = first; i < a.in.size(); ++i) {
    columns.push_back(broadcast_in_dim(a.in[i], {a.axis.size, 1}, a.batched[i] ? Ints{0} : Ints{}));
  }
  return concatenate(columns, 1);
}

// Dimension numbers of one window over all dimensions.
WindowDims whole_dims(std::size_t rank) {
  WindowDims dims;
  dims.window_dims = dims.index_map = iota_ints(rank);
  return dims;
}

const IndexOptions clipped{"clip", true, true};

Batched slice_batch(const BatchArgs& a) {
  Ints sizes = a.params.ints(param::slice_sizes);
  if (!any_batched(a, 1)) {
    sizes.insert(0, a.axis.size);
    return batched1(dynamic_slice(a.in[0], with_leading_start(from(a.in, 1)), sizes));
  }
  const WindowDims dims = batched_dims(whole_dims(sizes.size()), a.batched[0], true);
  if (a.batched[0]) sizes.insert(0, std::min<std::int64_t>(a.axis.size, 1));
  IndexOptions options = clipped;
  if (!a.batched[0]) options = {};
  return batched1(gather(a.in[0], start_rows(a, 1), dims, sizes, options));
}

const Op dynamic_slice_op{
    {.name = "dynamic_slice",
     .operands = at_least(1),
     .doc = "A window of static size that starts at scalar operands, moved inside where it sticks "
            "out.",
     .type = [](const Op&, const Types& in, const Params& params) -> Types {
       const Ints& sizes = params.ints(param::slice_sizes);
       check_starts("dynamic_slice", in, 1);
       if (sizes.size() != in[0].rank() || !fits_inside(sizes, in[0].shape)) {
         type_error(
             "slice slice_sizes must be less than or equal to operand shape, got slice_sizes ",
             to_string(sizes), " for operand shape ", to_string(in[0].shape), ".");
       }
       for (std::int64_t n : sizes) {
         if (n < 0) {
           type_error(
               "slice slice_sizes must be greater than or equal to zero, got slice_sizes of ",
               to_string(sizes), ".");
         }
       }
       return {with_shape(in[0], sizes)};
     },
     .jvp = [](const JvpArgs& a) -> Values {
       return {a.t[0] ? dynamic_slice(a.t[0], from(a.in, 1), a.params.ints(param::slice_sizes))
                      : nullptr};
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       Values out(a.in.size());
       out[0] = dynamic_update_slice(zeros(with_dtype(a.in_types[0], a.ct[0]->dtype())), a.ct[0],
                                     from(a.in, 1));
       return out;
     },
     .batch = slice_batch,
     .half_native = true,
     .dims = [](const Params&, const Types& in,
                const Type& out) { return dims_of_window(in, out, out.shape); },
     .resize = [](const Params& p, const Shape& out) { return p.with("slice_sizes", out); },
     .split = split_grown,
     .check_split = [](const Op&, const Params&, const Types& in,
                       const Types& out) { check_comes_out_even("dynamic_slice", in[0], out[0]); },
     .sums = sums_kept,
     .kernel = [](const Types&, const Types&, const Params& params) -> Kernel {
       return [sizes = params.ints(param::slice_sizes)](std::span<const View> in,
                                                        std::span<const View> out) {
         kernels::copy_strided(out[0].data, out[0].strides,
                               window_start(in[0], sizes, in.subspan(1)), in[0].strides, sizes,
                               itemsize(in[0].dtype));
       };
     },
     .first_index = 1,
     .starts =
         [](const Params& params, const Values& in) {
           return scalar_starts(in, 1, params.ints(param::slice_sizes));
         }}};

Batched update_batch(const BatchArgs& a) {
  const auto leading = [&](std::size_t i) {
    return a.batched[i] ? a.in[i] : repeated(a.in[i], a.axis, a.in);
  };
  if (!any_batched(a, 2)) {
    return batched1(
        dynamic_update_slice(leading(0), leading(1), with_leading_start(from(a.in, 2))));
  }
  const std::size_t rank = a.in[0]->shape().size() - (a.batched[0] ? 1 : 0);
  return batched1(scatter("scatter", leading(0), start_rows(a, 2), leading(1),
                          batched_dims(whole_dims(rank), true, true), clipped));
}

const Op update_op{
    {.name = "dynamic_update_slice",
     .operands = at_least(2),
     .doc =
         "An array with a window replaced by the second operand; the window starts at the further, "
         "scalar operands and is moved inside where it sticks out.",
     .type = [](const Op&, const Types& in, const Params&) -> Types {
       const Type &operand = in[0], &update = in[1];
       if (operand.dtype != update.dtype) {
         type_error("lax.dynamic_update_slice requires arguments to have the same dtypes, got ",
                    name(operand.dtype), ", ", name(update.dtype), ".");
       }
       if (operand.rank() != update.rank()) {
         type_error(
             "dynamic_update_slice update must have the same rank as operand, got update shape ",
             to_string(update.shape), " for operand shape ", to_string(operand.shape), ".");
       }
       check_starts("dynamic_update_slice", in, 2);
       if (!fits_inside(update.shape, operand.shape)) {
         type_error(
             "dynamic_update_slice update shape must be smaller than operand shape, got update "
             "shape ",
             to_string(update.shape), " for operand shape ", to_string(operand.shape), ".");
       }
       Type out = operand;
       out.weak = operand.weak && update.weak;
       return {out};
     },
     .jvp = [](const JvpArgs& a) -> Values {
       const auto tangent = [&](std::size_t i) { return a.t[i] ? a.t[i] : full_like(a.in[i], 0); };
       if (!a.t[0] && !a.t[1]) return {nullptr};
       return {dynamic_update_slice(tangent(0), tangent(1), from(a.in, 2))};
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       Values out(a.in.size());
       const Values starts = from(a.in, 2);
       const Type update = with_dtype(a.in_types[1], a.ct[0]->dtype());
       if (a.linear(0)) out[0] = dynamic_update_slice(a.ct[0], zeros(update), starts);
       if (a.linear(1)) out[1] = dynamic_slice(a.ct[0], starts, update.shape);
       return out;
     },
     .batch = update_batch,
     .half_native = true,
     .dims = [](const Params&, const Types& in,
                const Type& out) { return dims_of_window(in, out, in[1].shape); },
     .split = split_same_shape,
     .check_split = check_split_replaced,
     .sums = sums_kept,
     .kernel = [](const Types&, const Types&, const Params&) -> Kernel {
       return [](std::span<const View> in, std::span<const View> out) {
         const int width = itemsize(in[0].dtype);
         if (out[0].data != in[0].data) {
           kernels::copy_strided(out[0].data, out[0].strides, in[0].data, in[0].strides,
                                 in[0].shape, width);
         }
         kernels::copy_strided(window_start(out[0], in[1].shape, in.subspan(2)), out[0].strides,
                               in[1].data, in[1].strides, in[1].shape, width);
       };
     },
     .in_place = true,
     .first_index = 2,
     .starts = [](const Params&,
                  const Values& in) { return scalar_starts(in, 2, in[1]->shape()); }}};

}  // namespace

Value dynamic_slice(const Value& a, const Values& starts, const Ints& sizes) {
  Values in{a};
  in.insert(in.end(), starts.begin(), starts.end());
  return bind1(dynamic_slice_op, {{"slice_sizes", sizes}}, in);
}

Value dynamic_update_slice(const Value& a, const Value& update, const Values& starts) {
  Values in{a, update};
  in.insert(in.end(), starts.begin(), starts.end());
  return bind1(update_op, {}, in);
}

}  // namespace shardax::ops
