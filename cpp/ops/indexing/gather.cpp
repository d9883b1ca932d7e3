// ops/indexing/gather.cpp - gather: windows of an array, picked by an array of indices.
#include <algorithm>

#include "base/index.h"
#include "base/lists.h"
#include "ops/family.h"
#include "ops/indexing/gather_kernel.h"
#include "ops/indexing/index.h"
#include "ops/indexing/slice_starts.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/spmd_partition_rules.h"

namespace shardax::ops {
namespace {

Types gather_type(const Op&, const Types& in, const Params& params) {
  const WindowDims dims = gather_dims(params);
  const Type &a = in[0], &indices = in[1];
  const Ints& sizes = params.ints(param::slice_sizes);
  window_mode(params, false);
  if (!params.has("fill_value")) value_error("gather: the param fill_value is missing.");
  check_gather(dims, a, indices, sizes);
  return {with_shape(a, windows_shape(dims, indices.shape, sizes))};
}

// ---- dimensions -----------------------------------------------------------------------------

DimFactors gather_factors(const Params& params, const Types& in, const Type& out) {
  DimFactors made =
      window_factors(gather_dims(params), in[0].shape, in[1].shape, out.shape, FactorUse::parallel);
  made.result = std::move(made.operands.back());
  made.operands.pop_back();
  return made;
}

// Windows along dimensions of another size are whole ones, of which a part is asked for.
Params gather_resize(const Params& params, const Shape& out) {
  Ints sizes = params.ints(param::slice_sizes);
  const Ints own = window_sizes(gather_dims(params), sizes.size(), out);
  for (std::size_t d = 0; d < sizes.size(); ++d) sizes[d] = std::min(sizes[d], own[d]);
  return params.with("slice_sizes", sizes);
}

// Dimensions of the result in their order; those of batches as in the indices.
Parts gather_parts(const SplitArgs& a) {
  return parts_by_dims(a, {.by_factor = true, .first = 1, .some = true});
}

void check_gather_split(const Op&, const Params& params, const Types& in, const Types&) {
  const WindowDims dims = gather_dims(params);
  const Ints& sizes = params.ints(param::slice_sizes);
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

// ---- rules ---------------------------------------------------------------------------------

Batched gather_batch(const BatchArgs& a) {
  IndexOptions options = index_options(a.params);
  const bool operand = a.batched[0], indices = a.batched[1];
  Ints sizes = a.params.ints(param::slice_sizes);
  if (operand) sizes.insert(0, indices ? std::min<std::int64_t>(a.axis.size, 1) : a.axis.size);
  if (!operand) options.indices_are_sorted = options.unique_indices = false;
  return batched1(gather(a.in[0], a.in[1], batched_dims(gather_dims(a.params), operand, indices),
                         sizes, options, *a.params.find("fill_value")));
}

const Op gather_op{
    {.name = "gather",
     .operands = 2,
     .doc =
         "Windows of an array that start at the rows of an index array; operands are the array and "
         "the integer indices.",
     .type = gather_type,
     .jvp = [](const JvpArgs& a) -> Values {
       if (!a.t[0]) return {nullptr};
       return {gather(a.t[0], a.in[1], gather_dims(a.params), a.params.ints(param::slice_sizes),
                      index_options(a.params), std::int64_t{0})};
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       const Type operand = with_dtype(a.in_types[0], a.ct[0]->dtype());
       return {scatter_add(zeros(operand), a.in[1], a.ct[0], gather_dims(a.params),
                           index_options(a.params)),
               nullptr};
     },
     .batch = gather_batch,
     .half_native = true,
     .dims = gather_factors,
     .resize = gather_resize,
     .split = [](const SplitArgs& a) { return gather_parts(a).out; },
     .check_split = check_gather_split,
     .parts = gather_parts,
     .kernel = gather_kernel,
     .first_index = 1,
     .starts = gather_starts,
     .show = [](const Params& p) -> std::vector<std::string> {
       const auto ints = [&](ParamName name) {
         return concat(name, "=", to_string(p.get<Ints>(name)));
       };
       const auto flag = [&](ParamName name) {
         return concat(name, p.get<bool>(name) ? "=True" : "=False");
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
  sizes[index(axis)] = 1;
  WindowDims dims;
  for (std::size_t d = 0; d + 1 < rank; ++d) {
    dims.window_dims.push_back(static_cast<std::int64_t>(d < index(axis) ? d : d + index_rank));
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
