// ops/indexing/scatter.cpp - scatter: windows of updates put into an array, or combined.
#include "base/index.h"
#include "base/lists.h"
#include "ops/batch_axis.h"
#include "ops/family.h"
#include "ops/indexing/index.h"
#include "ops/indexing/scatter_kernel.h"
#include "ops/indexing/slice_starts.h"
#include "ops/sharding_rules/ambiguity.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/spmd_partition_rules.h"
#include "ops/sharding_rules/unreduced_rules.h"

namespace shardax::ops {
namespace {

Types scatter_type(const Op& op, const Types& in, const Params& params) {
  const WindowDims dims = scatter_dims(params);
  const Type &a = in[0], &indices = in[1], &updates = in[2];
  window_mode(params, true);
  if (a.dtype != updates.dtype) {
    type_error("lax.", op.name, " requires arguments to have the same dtypes, got ", name(a.dtype),
               ", ", name(updates.dtype), ".");
  }
  check_scatter(dims, a, indices, updates);
  return {a};
}
// The type of scatters that combine elements with updates.
Types combining_type(const Op& op, const Types& in, const Params& params) {
  check_dtype(op, in[0].dtype);
  return scatter_type(op, in, params);
}

// ---- rules ---------------------------------------------------------------------------------

// The op over other arrays with the same geometry, and the windows that it touches read back.
struct Geometry {
  WindowDims dims;
  IndexOptions options;
  Value indices;
  Ints sizes;

  Geometry(const Params& params, const Value& indices, const Shape& operand, const Shape& updates)
      : dims(scatter_dims(params)),
        options(index_options(params)),
        indices(indices),
        sizes(window_sizes(dims, operand.size(), updates)) {}
  Value put(std::string_view op, const Value& a, const Value& updates) const {
    return scatter(op, a, indices, updates, dims, options);
  }
  Value read(const Value& a) const {
    return gather(a, indices, dims, sizes, options, std::int64_t{0});
  }
  // No two updates meet: promised, or there is one row for each batch element.
  bool unique() const {
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 1 < indices->shape().size(); ++d) {
      const bool batch = std::find(dims.index_batch.begin(), dims.index_batch.end(),
                                   static_cast<std::int64_t>(d)) != dims.index_batch.end();
      if (!batch) rows *= indices->shape()[d];
    }
    return options.unique_indices || rows <= 1;
  }
};

Value tangent_of(const JvpArgs& a, std::size_t i) {
  return a.t[i] ? a.t[i] : full_like(a.in[i], 0);
}

// scatter, scatter-add and scatter-sub are linear in operand and updates together.
template <const char* const& op>
Values jvp_linear(const JvpArgs& a) {
  if (!a.t[0] && !a.t[2]) return {nullptr};
  return {bind1(*find_op(op), a.params, {tangent_of(a, 0), a.in[1], tangent_of(a, 2)})};
}

// The last of the updates that meet at an element is its value: only that one gets the cotangent.
Value winners_only(const Geometry& g, const Value& cotangent, const Type& operand) {
  if (g.unique()) return cotangent;
  const Type ids{DType::int32, false, cotangent->shape(), {}};
  std::int64_t count = 1;
  for (std::int64_t d : ids.shape) count *= d;
  const Value own =
      add(reshape(iota(DType::int32, {count}, 0), ids.shape), scalar(DType::int32, 1));
  const Value last = g.read(g.put("scatter", zeros(with_dtype(operand, DType::int32)), own));
  return where(eq(own, last), cotangent, full_like(cotangent, 0));
}

Values scatter_transpose(const TransposeArgs& a) {
  const Geometry g(a.params, a.in[1], a.in_types[0].shape, a.in_types[2].shape);
  Values out(3);
  if (a.linear(0)) {
    out[0] = g.put("scatter", a.ct[0], zeros(with_dtype(a.in_types[2], a.ct[0]->dtype())));
  }
  if (a.linear(2)) out[2] = winners_only(g, g.read(a.ct[0]), a.in_types[0]);
  return out;
}

template <bool negative>
Values sum_transpose(const TransposeArgs& a) {
  Values out(3);
  if (a.linear(0)) out[0] = a.ct[0];
  if (a.linear(2)) {
    const Value ct =
        Geometry(a.params, a.in[1], a.in_types[0].shape, a.in_types[2].shape).read(a.ct[0]);
    out[2] = negative ? neg(ct) : ct;
  }
  return out;
}

void need_unique(const Geometry& g) {
  if (g.unique()) return;
  fail(ErrorKind::not_implemented_error,
       "scatter_mul gradients are only implemented if `unique_indices=True`");
}

Values mul_jvp(const JvpArgs& a) {
  const Geometry g(a.params, a.in[1], a.in[0]->shape(), a.in[2]->shape());
  Value sum = a.t[0] ? g.put("scatter-mul", a.t[0], a.in[2]) : nullptr;
  if (a.t[2]) {
    need_unique(g);
    const Value right = mul(a.in[0], g.put("scatter-add", full_like(a.in[0], 0), a.t[2]));
    sum = sum ? add(sum, right) : right;
  }
  return {sum};
}

Values mul_transpose(const TransposeArgs& a) {
  const Geometry g(a.params, a.in[1], a.in_types[0].shape, a.in_types[2].shape);
  Values out(3);
  if (a.linear(0)) out[0] = g.put("scatter-mul", a.ct[0], a.in[2]);
  if (a.linear(2)) {
    need_unique(g);
    out[2] = g.read(mul(a.ct[0], a.in[0]));
  }
  return out;
}

// An element's tangent is the mean over those that attain the extremum: updates and, where it is
// attained there too, the operand.
Values extremum_jvp(const JvpArgs& a) {
  if (!a.t[0] && !a.t[2]) return {nullptr};
  const Geometry g(a.params, a.in[1], a.in[0]->shape(), a.in[2]->shape());
  const Value &operand = a.in[0], &updates = a.in[2];
  const Value none = full_like(operand, 0), zero = full_like(updates, 0),
              one = full_like(updates, 1);
  const Value target = g.read(a.out[0]);
  const Value hit = where(eq(updates, target), one, zero);
  const Value kept = where(eq(operand, a.out[0]), full_like(operand, 1), none);
  const Value share = div(full_like(operand, 1), add(g.put("scatter-add", none, hit), kept));
  Value sum;
  if (a.t[0]) sum = mul(a.t[0], mul(kept, share));
  if (a.t[2]) {
    const Value right = g.put("scatter-add", none, mul(a.t[2], mul(hit, g.read(share))));
    sum = sum ? add(sum, right) : right;
  }
  return {sum};
}

Batched scatter_batch(const BatchArgs& a) {
  const auto leading = [&](std::size_t i) {
    return a.batched[i] ? a.in[i] : repeated(a.in[i], a.axis, a.in);
  };
  const WindowDims dims = batched_dims(scatter_dims(a.params), true, a.batched[1]);
  return batched1(
      scatter(a.op.name, leading(0), a.in[1], leading(2), dims, index_options(a.params)));
}

// Updates of sums may be split along dimensions that list indices: each device adds its own.
template <FactorUse listed>
DimFactors scatter_factors(const Params& params, const Types& in, const Type&) {
  DimFactors made =
      window_factors(scatter_dims(params), in[0].shape, in[1].shape, in[2].shape, listed);
  made.result = made.operands[0];
  return made;
}

Parts scatter_parts(const SplitArgs& a) {
  return parts_by_dims(a, {.joins = "psum", .by_factor = true});
}

// The combining function as JAX shows it.
std::vector<std::string> show_scatter(const Params& p) {
  const auto ints = [&](ParamName name) { return concat(name, "=", to_string(p.get<Ints>(name))); };
  const auto flag = [&](ParamName name) {
    return concat(name, p.get<bool>(name) ? "=True" : "=False");
  };
  return {concat("dimension_numbers=ScatterDimensionNumbers(", ints("update_window_dims"), ", ",
                 ints("inserted_window_dims"), ", ", ints("scatter_dims_to_operand_dims"), ", ",
                 ints("operand_batching_dims"), ", ", ints("scatter_indices_batching_dims"), ")"),
          flag("indices_are_sorted"),
          "mode=" + mode_text(p),
          flag("unique_indices"),
          "update_consts=()",
          "update_jaxpr=None"};
}

OpSpec scattering(OpSpec spec) {
  spec.in_place = true;
  spec.first_index = 1;
  spec.starts = scatter_starts;
  spec.type = scatter_type;
  spec.batch = scatter_batch;
  spec.half_native = true;
  if (!spec.dims) spec.dims = scatter_factors<FactorUse::whole>;
  spec.check_split = check_split_scattered;
  spec.parts = scatter_parts;
  spec.show = show_scatter;
  return spec;
}

OpSpec combining(OpSpec spec) {
  spec.dtypes = any_dtype;
  OpSpec out = scattering(std::move(spec));
  out.type = combining_type;
  return out;
}

constexpr const char* put_name = "scatter";
constexpr const char* add_name = "scatter-add";
constexpr const char* sub_name = "scatter-sub";

const Op scatter_op{scattering(
    {.name = put_name,
     .operands = 3,
     .doc =
         "An array with windows replaced by updates; operands are the array, integer indices and "
         "updates. Where updates meet, the last one stays.",
     .checks = makes_nan,
     .jvp = jvp_linear<put_name>,
     .transpose = scatter_transpose,
     .kernel = scatter_kernel<ScatterKind::put>})};
const Op add_op{combining({.name = add_name,
                           .operands = 3,
                           .doc = "An array with updates added to windows of it.",
                           .checks = makes_nan,
                           .jvp = jvp_linear<add_name>,
                           .transpose = sum_transpose<false>,
                           .dims = scatter_factors<FactorUse::reduced>,
                           .sums = sums_scattered,
                           .kernel = scatter_kernel<ScatterKind::add>})};
const Op sub_op{combining({.name = sub_name,
                           .operands = 3,
                           .doc = "An array with updates subtracted from windows of it.",
                           .jvp = jvp_linear<sub_name>,
                           .transpose = sum_transpose<true>,
                           .dims = scatter_factors<FactorUse::reduced>,
                           .sums = sums_scattered,
                           .kernel = scatter_kernel<ScatterKind::sub>})};
const Op mul_op{combining({.name = "scatter-mul",
                           .operands = 3,
                           .doc = "An array with windows multiplied by updates.",
                           .checks = makes_nan,
                           .jvp = mul_jvp,
                           .transpose = mul_transpose,
                           .kernel = scatter_kernel<ScatterKind::mul>})};
const Op min_op{
    combining({.name = "scatter-min",
               .operands = 3,
               .doc = "An array with windows lowered to updates. Ties share the gradient.",
               .checks = makes_nan,
               .jvp = extremum_jvp,
               .kernel = scatter_kernel<ScatterKind::min>})};
const Op max_op{
    combining({.name = "scatter-max",
               .operands = 3,
               .doc = "An array with windows raised to updates. Ties share the gradient.",
               .checks = makes_nan,
               .jvp = extremum_jvp,
               .kernel = scatter_kernel<ScatterKind::max>})};

}  // namespace

Value scatter(std::string_view op, const Value& a, const Value& indices, const Value& updates,
              const WindowDims& dims, const IndexOptions& options) {
  return bind1(*find_op(op),
               {{"update_window_dims", dims.window_dims},
                {"inserted_window_dims", dims.collapsed},
                {"scatter_dims_to_operand_dims", dims.index_map},
                {"operand_batching_dims", dims.operand_batch},
                {"scatter_indices_batching_dims", dims.index_batch},
                {"mode", options.mode},
                {"indices_are_sorted", options.indices_are_sorted},
                {"unique_indices", options.unique_indices}},
               {a, indices, updates});
}

}  // namespace shardax::ops
