// ops/stack.cpp - arrays of one shape along a new dimension, and the slices along one.
//
// Both stand for programs of other ops where they are compiled; programs that users see name them.
#include "base/index.h"
#include "ir/dim_factors.h"
#include "ops/family.h"
#include "ops/sharding_rules/ambiguity.h"
#include "ops/sharding_rules/unreduced_rules.h"
#include "trace/stage.h"

namespace shardax::ops {
namespace {

extern const Op stack_op, unstack_op;

std::size_t stacked_axis(const Params& params) { return index(params.integer(param::axis)); }

Value stack_along(const Values& parts, std::int64_t axis) {
  return bind1(stack_op, {{"axis", axis}}, parts);
}

Values unstack_along(const Value& a, std::int64_t axis) {
  return shardax::bind(unstack_op, {{"axis", axis}}, {a});
}

// ---- stack -----------------------------------------------------------------------------------

Types stack_type(const Op&, const Types& in, const Params& params) {
  if (in.empty()) value_error("stack: no operands; at least one array was expected.");
  Type out = in[0];
  for (const Type& type : in) {
    if (type.shape != out.shape || type.dtype != out.dtype) {
      type_error("stack: operands must have one shape and dtype, got ", to_string(out), " and ",
                 to_string(type), ".");
    }
    out.weak = out.weak && type.weak;
  }
  if (stacked_axis(params) > out.rank()) {
    value_error("stack: axis ", params.integer(param::axis),
                " is out of bounds for arrays of rank ", out.rank(), ".");
  }
  out.insert_dimension(stacked_axis(params), static_cast<std::int64_t>(in.size()), {});
  return {out};
}

Values zeros_where_null(const Values& given, const Types& types) {
  Values out;
  for (std::size_t i = 0; i < given.size(); ++i)
    out.push_back(given[i] ? given[i] : zeros(types[i]));
  return out;
}

Values stack_jvp(const JvpArgs& a) {
  return {stack_along(zeros_where_null(a.t, types_of(a.in)), a.params.integer(param::axis))};
}

Values stack_transpose(const TransposeArgs& a) {
  Values slices = unstack_along(a.ct[0], a.params.integer(param::axis));
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (!a.linear(i)) slices[i] = nullptr;
  }
  return slices;
}

DimFactors stack_dims(const Params& params, const Types& in, const Type& out) {
  const std::size_t axis = stacked_axis(params);
  DimFactors dims;
  dims.result = dims.add_each(out.shape);
  dims.factors[axis].use = FactorUse::windowed;
  ArrayFactors own = dims.result;
  own.erase(own.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.operands.assign(in.size(), own);
  return dims;
}

ProgramPtr stack_expand(const Params& params, const Types& in) {
  const std::int64_t axis = params.integer(param::axis);
  return stage_closed(
      in,
      [axis](const Values& parts) -> Values {
        Values wide;
        for (const Value& part : parts) wide.push_back(expand_dims(part, {axis}));
        return {concatenate(wide, axis)};
      },
      "stack");
}

const Op stack_op{{.name = "stack",
                   .doc = "Arrays of one shape and dtype, along a new dimension.",
                   .type = stack_type,
                   .jvp = stack_jvp,
                   .transpose = stack_transpose,
                   .batch = [](const BatchArgs& a) -> Batched {
                     return batched1(
                         stack_along(all_batched(a), a.params.integer(param::axis) + 1));
                   },
                   .half_native = true,
                   .expand = stack_expand,
                   .dims = stack_dims,
                   .check_split = check_split_joined,
                   .sums = sums_added,
                   .keys = KeyUse::splits}};

// ---- unstack ---------------------------------------------------------------------------------

// Each is a value of its own.
constexpr std::int64_t most_slices = std::int64_t{1} << 24;

Types unstack_type(const Op&, const Types& in, const Params& params) {
  const std::size_t axis = stacked_axis(params);
  if (axis >= in[0].rank()) {
    value_error("unstack: axis ", axis, " is out of bounds for an array of rank ", in[0].rank(),
                ".");
  }
  if (in[0].shape[axis] > most_slices) {
    value_error("unstack: ", in[0].shape[axis], " slices of an array of shape ",
                to_string(in[0].shape), " are too many; at most ", most_slices,
                " were expected. Loop over them with lax.scan or lax.map.");
  }
  Type slice = in[0];
  slice.erase_dimension(axis);
  return Types(index(in[0].shape[axis]), slice);
}

DimFactors unstack_dims(const Params& params, const Types& in, const Type&) {
  const std::size_t axis = stacked_axis(params);
  DimFactors dims;
  dims.operands.push_back(dims.add_each(in[0].shape));
  dims.factors[axis].use = FactorUse::whole;
  dims.result = dims.operands[0];
  dims.result.erase(dims.result.begin() + static_cast<std::ptrdiff_t>(axis));
  return dims;
}

ProgramPtr unstack_expand(const Params& params, const Types& in) {
  const std::int64_t axis = params.integer(param::axis);
  return stage_closed(
      in,
      [axis](const Values& operands) {
        Values slices;
        const std::int64_t count = operands[0]->shape()[index(axis)];
        for (std::int64_t i = 0; i < count; ++i)
          slices.push_back(squeeze(slice_in_dim(operands[0], i, i + 1, axis), {axis}));
        return slices;
      },
      "unstack");
}

const Op unstack_op{
    {.name = "unstack",
     .operands = 1,
     .doc = "The slices of an array along a dimension, without it.",
     .type = unstack_type,
     .jvp = [](const JvpArgs& a) -> Values {
       return unstack_along(a.t[0], a.params.integer(param::axis));
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       return {stack_along(zeros_where_null(a.ct, a.out_types), a.params.integer(param::axis))};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       const Values slices = unstack_along(a.in[0], a.params.integer(param::axis) + 1);
       return {slices, std::vector<bool>(slices.size(), true)};
     },
     .half_native = true,
     .multiple_results = true,
     .expand = unstack_expand,
     .dims = unstack_dims,
     .sums = sums_kept}};

}  // namespace
}  // namespace shardax::ops
