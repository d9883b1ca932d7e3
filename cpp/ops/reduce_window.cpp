// ops/reduce_window.cpp - reductions over sliding windows, and the ops of their derivatives: the
// element of an array that goes with each window's largest, and the way back.
#include "kernels/tiles/reduce_window.h"

#include <limits>

#include "ops/contiguous.h"
#include "ops/convolution.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/spmd_partition_rules.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

// The params that these ops share; padding is low, high of each dimension.
struct WindowParams {
  Ints window, strides, padding, base, dilation;
};

Ints ints_or_ones(const Params& p, ParamName name, std::size_t rank) {
  return p.has(name) ? p.get<Ints>(name) : Ints(rank, 1);
}

WindowParams sliding_of(const Params& p) {
  const Ints& window = p.ints(param::window_dimensions);
  return {window, p.ints(param::window_strides), p.ints(param::padding),
          ints_or_ones(p, "base_dilation", window.size()),
          ints_or_ones(p, "window_dilation", window.size())};
}

std::int64_t outputs(const WindowParams& s, std::size_t d, std::int64_t in) {
  const std::int64_t size = dilated_size(in, s.base[d]) + s.padding[2 * d] + s.padding[2 * d + 1],
                     window = dilated_size(s.window[d], s.dilation[d]);
  return size < window ? 0 : (size - window) / s.strides[d] + 1;
}

void check(const WindowParams& s, const Shape& shape) {
  const auto positive = [](const char* what, const Ints& values) {
    for (std::int64_t v : values) {
      if (v < 1) {
        type_error("reduce_window ", what, " must have every element be positive, got ",
                   to_string(values), ".");
      }
    }
  };
  const auto counted = [&](const char* what, const Ints& values) {
    if (values.size() == shape.size()) return;
    type_error("reduce_window ", what,
               " must have the same number of dimensions as the operand, got ", what, "=",
               to_string(values), " for an operand of shape ", to_string(shape), ".");
  };
  const std::pair<const char*, const Ints*> given[] = {{"window_dimensions", &s.window},
                                                       {"window_strides", &s.strides},
                                                       {"base_dilation", &s.base},
                                                       {"window_dilation", &s.dilation}};
  for (const auto& [what, values] : given) {
    counted(what, *values);
    positive(what, *values);
    check_window_numbers("reduce_window", what, *values, false);
  }
  check_window_numbers("reduce_window", "padding", s.padding, true);
  if (s.padding.size() != 2 * shape.size()) {
    type_error(
        "reduce_window padding must have a (low, high) pair per dimension of the operand, got ",
        s.padding.size() / 2, " for an operand of shape ", to_string(shape), ".");
  }
}

Shape reduced_shape(const WindowParams& s, const Shape& in) {
  Shape out;
  for (std::size_t d = 0; d < in.size(); ++d) out.push_back(outputs(s, d, in[d]));
  return out;
}

kernels::Slides slides_of(const WindowParams& s, const Shape& in) {
  kernels::Slides out(std::max<std::size_t>(in.size(), 1), kernels::WindowSpec{1, 1, 1});
  for (std::size_t d = 0; d < in.size(); ++d) {
    out[d] = {in[d],     s.window[d],  outputs(s, d, in[d]), s.strides[d], s.padding[2 * d],
              s.base[d], s.dilation[d]};
  }
  return out;
}

Types reduce_type(const Op& op, const Types& in, const Params& params) {
  check_dtype(op, in[0].dtype);
  const WindowParams s = sliding_of(params);
  check(s, in[0].shape);
  return {with_shape(in[0], reduced_shape(s, in[0].shape))};
}

template <kernels::Combine combine>
Kernel reduce_kernel(const Types& in, const Types&, const Params& params) {
  return [slides = slides_of(sliding_of(params), in[0].shape)](std::span<const View> views,
                                                               std::span<const View> outs) {
    const DenseInput input(views[0]);
    const DenseOutput output(outs[0]);
    kernels::reduce_windows(combine, views[0].dtype, input.as<std::byte>(), output.as<std::byte>(),
                            slides, runtime::parallel_for);
    output.finish();
  };
}

// ---- shared rules ------------------------------------------------------------------------------

Params with_leading(const Params& params) {
  Params out = params;
  for (const ParamName name :
       ParamNames{"window_dimensions", "window_strides", "base_dilation", "window_dilation"}) {
    if (!params.has(name)) continue;
    Ints ints{1};
    ints.append(params.get<Ints>(name).begin(), params.get<Ints>(name).end());
    out.set(name, ints);
  }
  Ints padding{0, 0};
  padding.append(params.ints(param::padding).begin(), params.ints(param::padding).end());
  out.set("padding", padding);
  return out;
}

Batched sliding_batch(const BatchArgs& a) {
  return batched1(bind1(a.op, with_leading(a.params), all_batched(a)));
}

// The dimensions of an array and of the windows that slide over it.
struct SlideFactors {
  DimFactors made;
  ArrayFactors array, windows;
};
SlideFactors slide_factors(const Params& params, const Shape& array, const Shape& windows) {
  const WindowParams s = sliding_of(params);
  SlideFactors out;
  for (std::size_t d = 0; d < array.size(); ++d) {
    const Slide slide{dilated_size(s.window[d], s.dilation[d]), s.strides[d], s.padding[2 * d]};
    const SlideDims own =
        add_slide(out.made, array[d], windows[d], s.base[d] == 1 ? slide : Slide());
    out.array.push_back(own.operand);
    out.windows.push_back(own.windows);
  }
  return out;
}

// All operands are slid over.
DimFactors sliding_factors(const Params& params, const Types& in, const Type& out) {
  SlideFactors slid = slide_factors(params, in[0].shape, out.shape);
  slid.made.operands.assign(in.size(), slid.array);
  slid.made.result = std::move(slid.windows);
  return std::move(slid.made);
}
// Operand 0 has the windows.
DimFactors sliding_scatter_factors(const Params& params, const Types& in, const Type& out) {
  SlideFactors slid = slide_factors(params, out.shape, in[0].shape);
  slid.made.operands = {std::move(slid.windows), slid.array};
  slid.made.result = std::move(slid.array);
  return std::move(slid.made);
}

// As the last operand: the one whose elements choose.
Split sliding_split(const SplitArgs& a) {
  return split_evenly(by_split_of(a.in.size() - 1, a, split_by_dims), a);
}
Parts choice_parts(const SplitArgs& a) {
  return by_split_of(1, a, [](const SplitArgs& own) { return parts_by_dims(own); });
}

// Edges of other parts, or `fill`, come in place of padding.
Parts sliding_parts(const SplitArgs& a, const Value& fill) {
  Parts out = parts_by_dims(a, {.halos = bool(fill), .fill = fill});
  Ints padding = a.params.ints(param::padding);
  for (std::size_t d = 0; d < out.out.size(); ++d) {
    if (!out.out[d].empty()) padding[2 * d] = padding[2 * d + 1] = 0;
  }
  out.params.set("padding", padding);
  return out;
}
Parts sum_parts(const SplitArgs& a) { return sliding_parts(a, scalar(a.in[0].dtype, 0)); }
template <bool greatest>
Parts extreme_parts(const SplitArgs& a) {
  const double least = std::numeric_limits<double>::infinity() * (greatest ? -1 : 1);
  const bool has_infinity = is_floating(a.in[0].dtype) && itemsize(a.in[0].dtype) > 1;
  return sliding_parts(a, has_infinity ? scalar(a.in[0].dtype, least) : nullptr);
}

std::vector<std::string> sliding_show(const Params& p) {
  std::vector<std::string> out;
  const auto ints = [&](ParamName name) {
    if (p.has(name)) out.push_back(concat(name, "=", to_string(p.get<Ints>(name))));
  };
  ints("base_dilation");
  std::string pairs;
  const Ints& padding = p.ints(param::padding);
  for (std::size_t i = 0; i + 1 < padding.size(); i += 2)
    pairs += concat(i ? ", " : "", "(", padding[i], ", ", padding[i + 1], ")");
  out.push_back(concat("padding=(", pairs, padding.size() == 2 ? ",)" : ")"));
  if (p.has("select_prim")) out.push_back("select_prim=" + p.text(param::select_prim));
  ints("window_dilation");
  ints("window_dimensions");
  ints("window_strides");
  return out;
}

extern const Op sum_op, gather_op, sliding_scatter_op;

// ---- sums --------------------------------------------------------------------------------------

// Each element is in the windows of a sum over the cotangents, spread by the strides.
Values sum_transpose(const TransposeArgs& a) {
  const WindowParams s = sliding_of(a.params);
  const Value& ct = a.ct[0];
  Ints low, high, interior;
  const Shape &in = a.in_types[0].shape, &out = a.out_types[0].shape;
  for (std::size_t d = 0; d < in.size(); ++d) {
    const std::int64_t wide = dilated_size(s.window[d], s.dilation[d]);
    low.push_back(wide - s.padding[2 * d] - 1);
    high.push_back(dilated_size(in[d], s.base[d]) + wide - 1 - dilated_size(out[d], s.strides[d]) -
                   low[d]);
    interior.push_back(s.strides[d] - 1);
  }
  const Value padded = pad(ct, scalar(ct->dtype(), 0), low, high, interior);
  return {bind1(sum_op,
                {{"window_dimensions", s.window},
                 {"window_strides", s.base},
                 {"padding", Ints(2 * in.size(), 0)},
                 {"base_dilation", Ints(in.size(), 1)},
                 {"window_dilation", s.dilation}},
                {padded})};
}

const Op sum_op{
    {.name = "reduce_window_sum",
     .operands = 1,
     .doc = "The sum over each of the windows that slide over an array.",
     .checks = makes_nan,
     .dtypes = numbers,
     .type = reduce_type,
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(sum_op, a.params, {a.t[0]})}; },
     .transpose = sum_transpose,
     .batch = sliding_batch,
     .half_native = true,
     .dims = sliding_factors,
     .split = sliding_split,
     .parts = sum_parts,
     .kernel = reduce_kernel<kernels::Combine::sum>,
     .show = sliding_show}};

// ---- extremes ----------------------------------------------------------------------------------

// The tangent of the element that is chosen, the first one of equals.
template <char g>
Values extreme_jvp(const JvpArgs& a) {
  Params params = a.params;
  params.set("select_prim", std::string(g == 'g' ? "ge" : "le"));
  return {bind1(gather_op, params, {a.t[0], a.in[0]})};
}

const Op sliding_max_op{
    {.name = "reduce_window_max",
     .operands = 1,
     .doc = "The largest element of each of the windows that slide over an array.",
     .dtypes = any_dtype,
     .type = reduce_type,
     .jvp = extreme_jvp<'g'>,
     .batch = sliding_batch,
     .half_native = true,
     .dims = sliding_factors,
     .split = sliding_split,
     .parts = extreme_parts<true>,
     .kernel = reduce_kernel<kernels::Combine::max>,
     .show = sliding_show}};

const Op sliding_min_op{
    {.name = "reduce_window_min",
     .operands = 1,
     .doc = "The smallest element of each of the windows that slide over an array.",
     .dtypes = any_dtype,
     .type = reduce_type,
     .jvp = extreme_jvp<'l'>,
     .batch = sliding_batch,
     .half_native = true,
     .dims = sliding_factors,
     .split = sliding_split,
     .parts = extreme_parts<false>,
     .kernel = reduce_kernel<kernels::Combine::min>,
     .show = sliding_show}};

// ---- choices -----------------------------------------------------------------------------------

bool largest(const Params& p) { return p.text(param::select_prim) == "ge"; }

void check_select(const Op& op, const Types& in, const Params& params) {
  for (const Type& type : in) check_dtype(op, type.dtype);
  if (in[0].dtype != in[1].dtype) {
    type_error(op.name, " requires arguments to have the same dtypes, got ", name(in[0].dtype),
               ", ", name(in[1].dtype), ".");
  }
  const std::string& select = params.text(param::select_prim);
  if (select != "ge" && select != "le")
    value_error(op.name, ": select_prim is '", select, "'; ge or le was expected.");
}

Types gather_type(const Op& op, const Types& in, const Params& params) {
  check_select(op, in, params);
  const WindowParams s = sliding_of(params);
  check(s, in[1].shape);
  if (in[0].shape != in[1].shape) {
    type_error("select_and_gather_add tangents and operand shapes must match, got ",
               to_string(in[0].shape), " and ", to_string(in[1].shape), ".");
  }
  return {with_shape(in[0], reduced_shape(s, in[1].shape))};
}

Types sliding_scatter_type(const Op& op, const Types& in, const Params& params) {
  check_select(op, in, params);
  const WindowParams s = sliding_of(params);
  check(s, in[1].shape);
  const Shape expected = reduced_shape(s, in[1].shape);
  if (in[0].shape != expected) {
    type_error("select_and_scatter_add: the source has an element for each window, ",
               to_string(expected), "; got ", to_string(in[0].shape), ".");
  }
  return {with_shape(in[0], in[1].shape)};
}

using WindowSpec = void (*)(bool, DType, const std::byte*, const std::byte*, std::byte*,
                            const kernels::Slides&, kernels::ParallelFor);
template <WindowSpec slide>
Kernel choice_kernel(const Types& in, const Types&, const Params& params) {
  return [slides = slides_of(sliding_of(params), in[1].shape), most = largest(params)](
             std::span<const View> views, std::span<const View> outs) {
    const DenseInput values(views[0]), keys(views[1]);
    const DenseOutput output(outs[0]);
    slide(most, views[0].dtype, values.as<std::byte>(), keys.as<std::byte>(),
          output.as<std::byte>(), slides, runtime::parallel_for);
    output.finish();
  };
}

// With only the values varied, the choice does not change.
Values choice_jvp(const Op& op, const JvpArgs& a) {
  return {a.t[0] ? bind1(op, a.params, {a.t[0], a.in[1]}) : nullptr};
}

const DTypeSet comparable = integers | floats;

Values gather_transpose(const TransposeArgs& a) {
  const WindowParams s = sliding_of(a.params);
  Params params{{"select_prim", a.params.text(param::select_prim)},
                {"window_dimensions", s.window},
                {"window_strides", s.strides},
                {"padding", s.padding}};
  const std::size_t rank = s.window.size();
  const Ints ones(rank, 1);
  if (s.dilation != ones) params.set("window_dilation", s.dilation);
  Value keys = a.in[1];
  if (s.base != ones) {
    const double infinity = std::numeric_limits<double>::infinity();
    Ints interior;
    for (std::int64_t b : s.base) interior.push_back(b - 1);
    keys = pad(keys, scalar(keys->dtype(), largest(a.params) ? -infinity : infinity), Ints(rank, 0),
               Ints(rank, 0), interior);
  }
  Value out = bind1(sliding_scatter_op, params, {a.ct[0], keys});
  if (s.base != ones) out = slice(out, Ints(rank, 0), out->shape(), s.base);
  return {out, nullptr};
}

const Op gather_op{
    {.name = "select_and_gather_add",
     .operands = 2,
     .doc = "For each of the windows that slide over `operand`: the element of `tangents` at its "
            "largest (ge) or smallest (le) one.",
     .dtypes = comparable,
     .type = gather_type,
     .jvp = [](const JvpArgs& a) { return choice_jvp(gather_op, a); },
     .transpose = gather_transpose,
     .batch = sliding_batch,
     .half_native = true,
     .dims = sliding_factors,
     .split = sliding_split,
     .parts = choice_parts,
     .kernel = choice_kernel<kernels::gather_windows>,
     .show = sliding_show}};

const Op sliding_scatter_op{
    {.name = "select_and_scatter_add",
     .operands = 2,
     .doc = "Zeros like `operand`, with each element of `source` added where the largest (ge) or "
            "smallest (le) element of its window lies.",
     .dtypes = comparable,
     .type = sliding_scatter_type,
     .jvp = [](const JvpArgs& a) { return choice_jvp(sliding_scatter_op, a); },
     .transpose = [](const TransposeArgs& a) -> Values {
       Params params = a.params;
       const std::size_t rank = a.in_types[1].rank();
       params.set("base_dilation", Ints(rank, 1));
       if (!params.has("window_dilation")) params.set("window_dilation", Ints(rank, 1));
       return {bind1(gather_op, params, {a.ct[0], a.in[1]}), nullptr};
     },
     .batch = sliding_batch,
     .half_native = true,
     .dims = sliding_scatter_factors,
     .split = sliding_split,
     .parts = choice_parts,
     .kernel = choice_kernel<kernels::scatter_windows>,
     .show = sliding_show}};

}  // namespace
}  // namespace shardax::ops
