// ops/indexing/slice.cpp - slice and rev: parts of an array at fixed places, as views.
#include "base/index.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/layout.h"
#include "ops/param_checks.h"
#include "ops/sharding_rules/ambiguity.h"
#include "ops/sharding_rules/sharding_rules.h"

namespace shardax::ops {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a == 0 ? 0 : (a - 1) / b + 1; }

Types slice_type(const Op&, const Types& in, const Params& params) {
  const Ints& start = params.ints(param::start_indices);
  const Ints& limit = params.ints(param::limit_indices);
  const Ints& step = params.ints(param::strides);
  const std::size_t rank = in[0].rank();
  if (start.size() != rank || limit.size() != rank || step.size() != rank) {
    type_error("slice start_indices ", list(start), ", limit_indices ", list(limit),
               " and strides ", list(step),
               " must have one entry per dimension of the operand, whose shape is ",
               to_string(in[0].shape), ".");
  }
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d) {
    if (start[d] < 0 || limit[d] > in[0].shape[d] || start[d] > limit[d] || step[d] < 1) {
      type_error("slice start_indices ", list(start),
                 " must be nonnegative and less than or equal to limit_indices ", list(limit),
                 ", which must be less than or equal to operand shape ", to_string(in[0].shape),
                 "; strides ", list(step), " must be positive.");
    }
    shape.push_back(ceil_div(limit[d] - start[d], step[d]));
  }
  return one(in[0], shape);
}

bool slice_view(const Params& params, const Type&, const Shape& strides, const Type&,
                ViewLayout& result) {
  const Ints& start = params.ints(param::start_indices);
  const Ints& step = params.ints(param::strides);
  for (std::size_t d = 0; d < strides.size(); ++d) {
    result.strides.push_back(strides[d] * step[d]);
    result.offset += strides[d] * start[d];
  }
  return true;
}

Value slice_transpose(const Value& ct, const Type& in, const Params& params) {
  const Ints& start = params.ints(param::start_indices);
  const Ints& step = params.ints(param::strides);
  Ints high, interior;
  for (std::size_t d = 0; d < in.rank(); ++d) {
    const std::int64_t n = ct->shape()[d];
    const std::int64_t covered = n == 0 ? 0 : (n - 1) * step[d] + 1;
    high.push_back(in.shape[d] - start[d] - covered);
    interior.push_back(step[d] - 1);
  }
  return pad(ct, scalar(in.dtype, 0), start, high, interior);
}

DimFactors slice_dims(const Params& params, const Types& in, const Type& out) {
  Ints cut;
  for (std::size_t d = 0; d < in[0].rank(); ++d) {
    const bool all = params.ints(param::start_indices)[d] == 0 && in[0].shape[d] == out.shape[d];
    if (!all) cut.push_back(static_cast<std::int64_t>(d));
  }
  return dims_along(cut, in, out, FactorUse::windowed);
}

// Dimensions of another size are whole ones, of which a part is asked for.
Params slice_resize(const Params& params, const Shape& out) {
  const Ints &start = params.ints(param::start_indices), &step = params.ints(param::strides);
  Ints limit = params.ints(param::limit_indices);
  for (std::size_t d = 0; d < out.size(); ++d) {
    if ((limit[d] - start[d] + step[d] - 1) / step[d] != out[d]) limit[d] = out[d];
  }
  return params.with("limit_indices", limit);
}

const Op slice_op{
    layout({.name = "slice",
            .operands = 1,
            .doc = "A strided range of each dimension, without a copy.",
            .type = slice_type,
            .jvp = [](const JvpArgs& a) -> Values {
              return {slice(a.t[0], a.params.ints(param::start_indices),
                            a.params.ints(param::limit_indices), a.params.ints(param::strides))};
            },
            .transpose = [](const TransposeArgs& a) -> Values {
              return {slice_transpose(a.ct[0], a.in_types[0], a.params)};
            },
            .batch = [](const BatchArgs& a) -> Batched {
              return batched1(slice(a.in[0], with_front(0, a.params.ints(param::start_indices)),
                                    with_front(a.axis.size, a.params.ints(param::limit_indices)),
                                    with_front(1, a.params.ints(param::strides))));
            },
            .view = slice_view,
            .dims = slice_dims,
            .resize = slice_resize,
            .split = split_grown,
            .check_split = [](const Op&, const Params&, const Types& in,
                              const Types& out) { check_comes_out_even("slicing", in[0], out[0]); },
            .show = [](const Params& p) -> std::vector<std::string> {
              const Ints& steps = p.ints(param::strides);
              const bool unit =
                  std::all_of(steps.begin(), steps.end(), [](std::int64_t s) { return s == 1; });
              return {"limit_indices=" + list(p.ints(param::limit_indices)),
                      "start_indices=" + list(p.ints(param::start_indices)),
                      "strides=" + (unit ? "None" : list(steps))};
            },
            .keys = KeyUse::slices})};

const Op rev_op{
    layout({.name = "rev",
            .operands = 1,
            .doc = "Reverses the order of elements along dimensions, without a copy.",
            .type = [](const Op& op, const Types& in, const Params& params) -> Types {
              check_dims(op, "dimensions", params.ints(param::dimensions), in[0].rank());
              return {in[0]};
            },
            .jvp = [](const JvpArgs& a) -> Values {
              return {rev(a.t[0], a.params.ints(param::dimensions))};
            },
            .transpose = [](const TransposeArgs& a) -> Values {
              return {rev(a.ct[0], a.params.ints(param::dimensions))};
            },
            .batch = [](const BatchArgs& a) -> Batched {
              return batched1(rev(a.in[0], shifted(a.params.ints(param::dimensions))));
            },
            .view =
                [](const Params& params, const Type& in, const Shape& strides, const Type&,
                   ViewLayout& result) {
                  result.strides = strides;
                  for (std::int64_t dim : params.ints(param::dimensions)) {
                    const auto d = index(dim);
                    result.strides[d] = -strides[d];
                    result.offset += std::max<std::int64_t>(in.shape[d] - 1, 0) * strides[d];
                  }
                  return true;
                },
            .dims =
                [](const Params& params, const Types& in, const Type& out) {
                  return dims_along(params.ints(param::dimensions), in, out, FactorUse::whole);
                }})};

}  // namespace

Value slice(const Value& a, const Ints& start, const Ints& limit, const Ints& strides) {
  return bind1(slice_op, {{"start_indices", start}, {"limit_indices", limit}, {"strides", strides}},
               {a});
}

Value slice_in_dim(const Value& a, std::int64_t start, std::int64_t limit, std::int64_t dim) {
  Ints starts(a->shape().size(), 0), steps(a->shape().size(), 1);
  Ints limits = a->shape();
  starts[index(dim)] = start;
  limits[index(dim)] = limit;
  return slice(a, starts, limits, steps);
}

Value index_in_dim(const Value& a, std::int64_t index, std::int64_t dim) {
  return squeeze(slice_in_dim(a, index, index + 1, dim), {dim});
}

Value rev(const Value& a, const Ints& dims) {
  return dims.empty() ? a : bind1(rev_op, {{"dimensions", dims}}, {a});
}

}  // namespace shardax::ops
