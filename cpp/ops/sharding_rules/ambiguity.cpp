// ops/sharding_rules/ambiguity.cpp - the errors of explicit axes.
#include "ops/sharding_rules/ambiguity.h"

#include <algorithm>

#include "base/errors.h"
#include "base/index.h"
#include "base/lists.h"
#include "ir/dim_factors.h"
#include "ops/sharding_rules/sharding_rules.h"

namespace shardax::ops {
namespace {

using Axes = std::vector<std::string>;

Axes split_at(const Type& type, std::int64_t d) {
  return type.sharding ? type.sharding->explicit_split(index(d)) : Axes();
}

// "('x', None)"
std::string spec_text(const Type& type, const Ints& dims) {
  std::string text;
  for (const std::int64_t d : dims)
    text += concat(text.empty() ? "" : ", ", entry_text(split_at(type, d)));
  return concat("(", text, dims.size() == 1 ? ",)" : ")");
}

Ints all_dimensions(const Type& type) {
  Ints out;
  for (std::size_t d = 0; d < type.rank(); ++d) out.push_back(static_cast<std::int64_t>(d));
  return out;
}

template <class... Args>
[[noreturn]] void refuse(const Args&... args) {
  fail(ErrorKind::sharding_type_error, args...);
}

}  // namespace

namespace {

// `complaint` stands before the splits of the operands.
void check_alike(const std::string& complaint, const Types& in, const Type& out) {
  for (std::size_t d = 0; d < out.rank(); ++d) {
    Axes seen;
    for (const Type& type : in) {
      if (type.rank() != out.rank()) continue;
      const Axes own = split_at(type, static_cast<std::int64_t>(d));
      if (own.empty() || own == seen) continue;
      if (seen.empty()) {
        seen = own;
        continue;
      }
      std::string specs;
      for (const Type& operand : in)
        specs += concat(specs.empty() ? "" : ", ", spec_text(operand, all_dimensions(operand)));
      refuse(complaint, specs, ". Bring one to the other's with shardax.reshard.");
    }
  }
}

}  // namespace

namespace {

// Splits of a result's dimensions, in which a mesh axis may stand once.
void check_distinct(std::string_view op, const Types& in, const std::vector<Axes>& splits,
                    std::string_view remedy) {
  Axes seen;
  bool twice = false;
  for (const Axes& axes : splits) {
    for (const std::string& axis : axes) {
      twice = twice || has(seen, axis);
      seen.push_back(axis);
    }
  }
  if (!twice) return;
  std::string inputs;
  for (const Type& type : in) inputs += (inputs.empty() ? "" : ", ") + to_string(type);
  refuse(op, " operation with inputs: ", inputs,
         " produces an illegally sharded result, in which a mesh axis splits two dimensions. ",
         "Bring one to another split with shardax.reshard", remedy);
}

}  // namespace

void check_split_elementwise(const Op& op, const Params&, const Types& in, const Types& out) {
  check_alike(concat(op.name, " got incompatible shardings for broadcasting: "), in, out[0]);
  std::vector<Axes> splits(out[0].rank());
  for (const Type& type : in) {
    for (std::size_t d = 0; d < splits.size() && type.rank() == splits.size(); ++d) {
      if (splits[d].empty()) splits[d] = split_at(type, static_cast<std::int64_t>(d));
    }
  }
  check_distinct(op.name, in, splits, ".");
}

void check_split_selected(const Op&, const Params&, const Types& in, const Types& out) {
  check_alike("select cases must have the same shardings, got ", in, out[0]);
}

namespace {

// A mesh axis that splits a free dimension of both operands would split two of the result.
void check_free_dimensions(const DimFactors& dims, const Types& in) {
  std::vector<Axes> splits;
  for (const FactorList& factors : dims.result) {
    const std::int32_t left = dim_of(dims.operands[0], factors[0]);
    splits.push_back(left != no_dim ? split_at(in[0], left)
                                    : split_at(in[1], dim_of(dims.operands[1], factors[0])));
  }
  check_distinct("dot_general", in, splits, ", or say out_sharding=.");
}

}  // namespace

void check_split_product(const Op& op, const Params& params, const Types& in, const Types& out) {
  const std::optional<DimFactors> dims = dim_factors(op, params, in, out[0]);
  Ints batch[2], contracted[2];
  bool batch_differs = false, contracted_differs = false, contracted_split = false;
  for (std::size_t f = 0; f < dims->factors.size(); ++f) {
    const auto factor = static_cast<std::int32_t>(f);
    const std::int32_t at[] = {dim_of(dims->operands[0], factor),
                               dim_of(dims->operands[1], factor)};
    if (at[0] == no_dim || at[1] == no_dim) continue;
    const bool is_reduced = dims->factors[f].use == FactorUse::reduced;
    for (const std::size_t side : {0, 1})
      (is_reduced ? contracted : batch)[side].push_back(at[side]);
    const Axes left = split_at(in[0], at[0]), right = split_at(in[1], at[1]);
    if (left.empty() || right.empty()) continue;
    (is_reduced ? contracted_differs : batch_differs) |= left != right;
    contracted_split |= is_reduced;
  }
  if (batch_differs)
    refuse(
        "dot_general requires lhs batch dimensions and rhs batch dimensions to have the "
        "consistent sharding, got ",
        spec_text(in[0], batch[0]), " and ", spec_text(in[1], batch[1]), ".");
  const std::string left = spec_text(in[0], contracted[0]), right = spec_text(in[1], contracted[1]);
  if (contracted_differs)
    refuse("dot_general requires contracting dimensions to have consistent sharding, got ", left,
           " and ", right, ".");
  if (contracted_split)
    refuse(
        "Contracting dimensions are sharded and it is ambiguous how the output should be sharded. "
        "Please specify the output sharding via the `out_sharding` parameter. Got "
        "lhs_contracting_spec=",
        left, " and rhs_contracting_spec=", right);
  check_free_dimensions(*dims, in);
}

namespace {

// The axes that split dimensions of an operand, in the order of their names.
Axes sorted_axes(const Type& type, const Ints& dims) {
  Axes out;
  for (const std::int64_t d : dims) {
    const Axes own = split_at(type, d);
    out.insert(out.end(), own.begin(), own.end());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

void check_sums_of_product(const Params& params, const Types& in, const Axes& axes) {
  const Ints &left = params.ints(param::lhs_contract), &right = params.ints(param::rhs_contract);
  const std::string lhs = spec_text(in[0], left), rhs = spec_text(in[1], right);
  if (lhs != rhs)
    refuse(
        "lhs and rhs contracting dims should be sharded identically when out_sharding provided to "
        "dot_general mentions unreduced_axes. Got lhs_contracting_spec=",
        lhs, ", rhs_contracting_spec=", rhs);
  if (sorted_axes(in[0], left) != axes)
    refuse(
        "out_sharding's unreduced axes should be equal to the contracting specs. Got unreduced "
        "axes=frozenset({",
        quoted(axes), "}) and contracting spec=", lhs);
}

void check_sums_of_reduction(const Params& params, const Types& in, const Axes& axes) {
  Axes split = sorted_axes(in[0], params.ints(param::axes));
  const Axes& before = in[0].sharding ? in[0].sharding->unreduced : Axes();  // stay so
  split.insert(split.end(), before.begin(), before.end());
  std::sort(split.begin(), split.end());
  if (std::includes(split.begin(), split.end(), axes.begin(), axes.end())) return;
  refuse(
      "out_sharding's unreduced axes should be in operand's specs that were summed over. Got "
      "operand=ShapedArray(",
      to_string(in[0]), "), axes=", to_string(params.ints(param::axes)),
      ", unreduced_spec=frozenset({", quoted(axes), "})");
}

namespace {

// Runs of dimensions of the same size in both shapes: a reshape makes the one into the other.
struct ReshapedRun {
  std::size_t in, in_end, out, out_end;
};

std::vector<ReshapedRun> reshaped_runs(const Shape& in, const Shape& out) {
  std::vector<ReshapedRun> runs;
  std::size_t i = 0, o = 0;
  while (i < in.size() && o < out.size()) {
    ReshapedRun run{i, i + 1, o, o + 1};
    std::int64_t left = in[i++], right = out[o++];
    while (left != right) {
      if (left < right && i < in.size()) {
        left *= in[i++];
      } else if (o < out.size()) {
        right *= out[o++];
      } else {
        return runs;
      }
    }
    run.in_end = i;
    run.out_end = o;
    runs.push_back(run);
  }
  return runs;
}

Shape without_ones(const Shape& shape, std::size_t from, std::size_t end) {
  Shape out;
  for (std::size_t d = from; d < end; ++d) {
    if (shape[d] != 1) out.push_back(shape[d]);
  }
  return out;
}

// Does it make one dimension of several or several of one, once, where nothing that is not split
// stands before what is? Or change nothing but dimensions of one element?
bool follows_reshape(const Type& in, const Type& out) {
  std::size_t changed = 0;
  for (const ReshapedRun& run : reshaped_runs(in.shape, out.shape)) {
    const Shape before = without_ones(in.shape, run.in, run.in_end);
    const Shape after = without_ones(out.shape, run.out, run.out_end);
    if (before == after) continue;
    if (++changed > 1 || (before.size() > 1 && after.size() > 1)) return false;
    bool whole = false;
    for (std::size_t d = run.in; d < run.in_end; ++d) {
      const bool split = !split_at(in, static_cast<std::int64_t>(d)).empty();
      if (split && whole) return false;
      whole = whole || !split;
    }
  }
  return true;
}

bool is_split(const Type& type) {
  for (std::size_t d = 0; d < type.rank(); ++d) {
    if (!split_at(type, static_cast<std::int64_t>(d)).empty()) return true;
  }
  return false;
}

bool keeps_all_axes(const Type& in, const Type& out) {
  for (std::size_t d = 0; d < in.rank(); ++d) {
    for (const std::string& axis : in.sharding->explicit_split(d)) {
      const auto& spec = out.sharding->spec;
      if (std::none_of(spec.begin(), spec.end(), [&](const Axes& names) {
            return std::find(names.begin(), names.end(), axis) != names.end();
          }))
        return false;
    }
  }
  return true;
}

}  // namespace

void check_split_reshaped(const Op&, const Params&, const Types& ins, const Types& outs) {
  const Type &in = ins[0], &out = outs[0];
  if (!in.sharding || !is_split(in) || (follows_reshape(in, out) && keeps_all_axes(in, out)))
    return;
  refuse(
      "This reshape is not supported. Please specify the sharding of the output via the "
      "`out_sharding` argument of jax.lax.reshape. Got operand type: ",
      to_string(in), ", new sizes: ", to_string(out.shape));
}

void check_split_joined(const Op&, const Params&, const Types& in, const Types&) {
  const Type* first = nullptr;
  for (const Type& type : in) {
    if (!type.sharding) continue;
    if (!first) first = &type;
    if (spec_text(type, all_dimensions(type)) == spec_text(*first, all_dimensions(*first)))
      continue;
    std::string all;
    for (const Type& each : in)
      all += concat(all.empty() ? "" : ", ", each.sharding ? to_string(*each.sharding) : "None");
    refuse("All operands should have the same sharding. Got shardings ", all);
  }
}

void check_comes_out_even(std::string_view doing, const Type& in, const Type& out) {
  for (std::size_t d = 0; d < out.rank() && in.sharding; ++d) {
    const Axes axes = split_at(in, static_cast<std::int64_t>(d));
    if (in.shape[d] == out.shape[d] || axes.empty()) continue;
    const std::int64_t parts = parts_of(axes, *in.sharding);
    if (out.shape[d] % parts == 0) continue;
    std::string names;
    for (const std::string& name : axes) names += (names.empty() ? "" : ",") + name;
    refuse(doing, " on sharded dims where out dim (", out.shape[d],
           ") is not divisible by mesh axes (", parts, ") with spec (", names,
           ") is not implemented. Got input type=", short_string(in),
           " and output shape=", to_string(out.shape));
  }
}

void check_split_indexed(const Type& in, const Ints& start, const Ints& limit, const Ints& step) {
  for (std::size_t d = 0; d < in.rank(); ++d) {
    if (start[d] == 0 && limit[d] == in.shape[d] && step[d] == 1) continue;
    if (split_at(in, static_cast<std::int64_t>(d)).empty()) continue;
    refuse(
        "Use `.at[...].get(out_sharding=)` to provide output PartitionSpec for the gather indexing "
        "as out sharding could not be resolved unambiguously (or would require collectives on "
        "inputs). Got operand=",
        to_string(in), ", of which the index takes ", to_string(start), " to ", to_string(limit),
        " along dimensions that are split; jit of the same keeps it split where that comes out "
        "even.");
  }
}

void check_split_scattered(const Op& op, const Params& params, const Types& in, const Types& out) {
  const DimFactors dims = *dim_factors(op, params, in, out[0]);
  std::vector<Axes> found(dims.factors.size());
  bool open = false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (std::size_t d = 0; d < in[i].rank(); ++d) {
      const std::int32_t factor = dims.operands[i][d][0];
      const Axes axes = split_at(in[i], static_cast<std::int64_t>(d));
      if (axes.empty()) continue;
      Axes& own = found[index(factor)];
      const bool agree = own.empty() || own == axes;
      open = open || !agree || dims.at(factor).use != FactorUse::parallel;
      own = axes;
    }
  }
  if (open)
    refuse(
        "Use `.at[...].set/add/mul/...(out_sharding=)` to provide output PartitionSpec for the "
        "scatter update as out sharding could not be resolved unambiguously (or would require "
        "collectives on inputs). Got operand=",
        to_string(in[0]), ", indices=", to_string(in[1]), ", updates=", to_string(in[2]));
}

void check_split_replaced(const Op& op, const Params&, const Types& in, const Types&) {
  for (const std::int64_t d : all_dimensions(in[0])) {
    if (split_at(in[0], d) == split_at(in[1], d)) continue;
    refuse(op.name, " operand sharding must be equal to update sharding, got operand sharding ",
           spec_text(in[0], all_dimensions(in[0])), " and update sharding ",
           spec_text(in[1], all_dimensions(in[1])),
           ". Bring one to the other's with "
           "shardax.reshard.");
  }
}

void check_split_sorted(const Op&, const Params& params, const Types& ins, const Types&) {
  const Type& in = ins[0];
  const std::int64_t dimension = params.integer(param::dimension);
  if (split_at(in, dimension).empty()) return;
  refuse("Arguments to sort must be unsharded over the sorting dimension. Got arg sharding=",
         to_string(*in.sharding), " and sorting dimension=", dimension);
}

void check_split_largest(const Type& in, std::int64_t axis) {
  if (split_at(in, axis).empty()) return;
  refuse(
      "The input should be unsharded over the axis along which to compute the top_k values. Got "
      "input type=",
      to_string(in), " and axis=", axis, ". Bring it there with shardax.reshard.");
}

void check_split_cumulative(const Op&, const Params& params, const Types& ins, const Types&) {
  const Type& in = ins[0];
  const std::int64_t axis = params.integer(param::axis);
  if (split_at(in, axis).empty()) return;
  refuse("Input should be unsharded over the axis being reduced. Got input type=", to_string(in),
         " and axis=", axis);
}

}  // namespace shardax::ops
