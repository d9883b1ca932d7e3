// compile/simplify/patterns.cpp - the table of local rewrites, one pattern a row.
//
// A rule looks at one equation, whose operands are already simplified, and gives variables that
// replace its results, or nothing. `rows`, at the end, lists the rules by op; the rules of an op
// are tried in order until one applies. A new rule is a function and a row.
#include <cmath>
#include <unordered_map>

#include "base/index.h"
#include "base/lists.h"
#include "compile/simplify/constants.h"
#include "compile/simplify/fold_constants.h"
#include "compile/simplify/fold_masked_select.h"
#include "compile/simplify/fold_one_hot.h"
#include "compile/simplify/fold_reductions.h"
#include "compile/simplify/fold_static_indices.h"
#include "compile/simplify/fold_transposes.h"
#include "compile/simplify/pattern_driver.h"
#include "compile/simplify/pattern_table.h"
#include "compile/simplify/push_select_into_update.h"
#include "compile/simplify/simplify_concat.h"
#include "ir/core_ops.h"
#include "ops/ops.h"
#include "ops/permutations.h"

namespace shardax {
namespace {

using Result = std::optional<Vars>;

Result operand_if(bool condition, const PatternContext& m) {
  return condition ? one(m.in[0]) : Result{};
}

Result drop_reshape(const PatternContext& m) {
  return operand_if(m.params.ints(param::new_sizes) == m.b.type(m.in[0]).shape, m);
}

Result drop_broadcast(const PatternContext& m) {
  const Type& in = m.b.type(m.in[0]);
  return operand_if(m.params.ints(param::shape) == in.shape &&
                        m.params.ints(param::broadcast_dimensions) == ops::iota_ints(in.rank()),
                    m);
}

Result join_reshapes(const PatternContext& m) {
  const Equation* inner = m.b.defined_by(m.in[0], core_ops().reshape);
  if (!inner) return {};
  const Var source = inner->inputs[0];
  if (m.b.type(source).shape == m.params.ints(param::new_sizes)) return one(source);
  return one(m.emit(core_ops().reshape, m.params, {source}));
}

Result squeeze_of_reshape(const PatternContext& m) {
  const Equation* inner = m.b.defined_by(m.in[0], core_ops().reshape);
  if (!inner) return {};
  const Var source = inner->inputs[0];
  const Shape left = without_dims(m.b.type(m.in[0]).shape, m.params.ints(param::dimensions));
  if (m.b.type(source).shape == left) return one(source);
  return one(m.emit(core_ops().reshape, ops::reshape_params(left), {source}));
}

Result join_broadcasts(const PatternContext& m) {
  const Equation* inner = m.b.defined_by(m.in[0], core_ops().broadcast_in_dim);
  if (!inner) return {};
  Ints dims;
  for (std::int64_t d : inner->params.ints(param::broadcast_dimensions)) {
    dims.push_back(m.params.ints(param::broadcast_dimensions)[index(d)]);
  }
  return one(m.emit(core_ops().broadcast_in_dim, m.params.with("broadcast_dimensions", dims),
                    {inner->inputs[0]}));
}

// Only the weak type may differ, which programs do not need.
Result drop_convert(const PatternContext& m) {
  return operand_if(m.params.dtype(param::new_dtype) == m.b.type(m.in[0]).dtype, m);
}

// Programs that are compiled have been differentiated, and labels are given to their results.
Result drop_identity(const PatternContext& m) { return one(m.in[0]); }

Result drop_select(const PatternContext& m) {
  const bool same = std::all_of(m.in.begin() + 2, m.in.end(), [&](Var v) { return v == m.in[1]; });
  return same ? one(m.in[1]) : Result{};
}

Result drop_double_neg(const PatternContext& m) {
  const Equation* inner = m.b.defined_by(m.in[0], core_ops().neg);
  return inner ? one(inner->inputs[0]) : Result{};
}

// As XLA has it, also where exp(x) overflows; logarithms of complex numbers are periodic.
Result log_of_exp(const PatternContext& m) {
  const Op& exp = core_ops().exp;
  const Equation* inner = m.b.defined_by(m.in[0], exp);
  return inner && is_floating(m.b.type(m.in[0]).dtype) ? one(inner->inputs[0]) : Result{};
}

// The other factor, if operand i is 1.
Result drop_unit(const PatternContext& m, std::initializer_list<std::size_t> operands) {
  for (const std::size_t i : operands) {
    const Var other = m.in[1 - i];
    if (repeated_number(m.b, m.in[i]) != 1) continue;
    const std::size_t rank = std::max(m.b.type(m.in[0]).rank(), m.b.type(m.in[1]).rank());
    if (m.b.type(other).rank() == rank) return one(other);
  }
  return {};
}
Result drop_unit_factor(const PatternContext& m) { return drop_unit(m, {1, 0}); }
Result drop_unit_divisor(const PatternContext& m) { return drop_unit(m, {1}); }

// Both are rounded once, denormal results too: the inverse is exact.
Result multiply_by_inverse(const PatternContext& m) {
  const Type& type = m.b.type(m.in[0]);
  if (!is_floating(type.dtype) || itemsize(type.dtype) < 4 ||
      type.rank() < m.b.type(m.in[1]).rank())
    return {};
  const auto divisor = repeated_number(m.b, m.in[1]);
  int exponent = 0;
  // A power of two whose inverse is a normal number of either size.
  if (!divisor || std::abs(std::frexp(*divisor, &exponent)) != 0.5 || std::abs(exponent) > 120)
    return {};
  const Var inverse = m.b.constant(scalar_array(type.dtype, 1 / *divisor));
  return one(m.emit(core_ops().mul, {}, {m.in[0], inverse}));
}

// Elementwise work on values that repeat along a dimension is done once and repeated after.
Result shrink_elementwise(const PatternContext& m) {
  if (!m.op.effect.empty()) return {};
  Shape shape;
  for (Var v : m.in) {
    if (m.b.type(v).rank() > shape.size()) shape = m.b.type(v).shape;
  }
  std::vector<bool> repeated(shape.size(), true);
  bool any_broadcast = false;
  for (Var v : m.in) {
    if (m.b.type(v).rank() == 0) continue;
    const Equation* source = m.b.defined_by(v, core_ops().broadcast_in_dim);
    if (!source) return {};
    any_broadcast = true;
    const Ints& dims = source->params.ints(param::broadcast_dimensions);
    const Shape& own = m.b.type(source->inputs[0]).shape;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const auto d = index(dims[i]);
      if (own[i] == shape[d]) repeated[d] = false;
    }
  }
  Shape small;
  Ints kept;
  std::vector<std::int64_t> place(shape.size(), -1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (repeated[d] && shape[d] != 1) continue;
    place[d] = static_cast<std::int64_t>(kept.size());
    kept.push_back(static_cast<std::int64_t>(d));
    small.push_back(shape[d]);
  }
  if (!any_broadcast || kept.size() == shape.size()) return {};
  Vars operands;
  for (Var v : m.in) {
    if (m.b.type(v).rank() == 0) {
      operands.push_back(v);
      continue;
    }
    const Equation source = *m.b.defined_by(v, core_ops().broadcast_in_dim);
    Var operand = source.inputs[0];
    const Shape own = m.b.type(operand).shape;
    Ints dims, dropped;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::int64_t d = place[index(source.params.ints(param::broadcast_dimensions)[i])];
      if (d < 0) {
        dropped.push_back(static_cast<std::int64_t>(i));
      } else {
        dims.push_back(d);
      }
    }
    if (!dropped.empty())
      operand = m.emit(core_ops().squeeze, {{"dimensions", dropped}}, {operand});
    if (!(m.b.type(operand).shape == small && dims == ops::iota_ints(small.size()))) {
      operand = m.emit(core_ops().broadcast_in_dim,
                       {{"shape", small}, {"broadcast_dimensions", dims}}, {operand});
    }
    operands.push_back(operand);
  }
  // If every operand has shrunk to rank 0, the result has too; else one operand keeps the small
  // shape.
  const Var result = m.b.emit(m.op, m.params, operands, m.location)[0];
  Ints dims = kept;
  if (m.b.type(result).rank() == 0) {
    dims.clear();
  } else if (m.b.type(result).shape != small) {
    return {};
  }
  return one(m.emit(core_ops().broadcast_in_dim, {{"shape", shape}, {"broadcast_dimensions", dims}},
                    {result}));
}

Shape without_units(const Shape& shape) {
  Shape out;
  for (const std::int64_t d : shape) {
    if (d != 1) out.push_back(d);
  }
  return out;
}

// The reshape that gives an operand new dimensions of one element; null if there is none.
const Equation* with_units(const PatternContext& m, Var v) {
  const Equation* reshape = m.b.defined_by(v, core_ops().reshape);
  if (!reshape) return nullptr;
  const Shape &from = m.b.type(reshape->inputs[0]).shape, &to = m.b.type(v).shape;
  const bool only = from.size() < to.size() && without_units(from) == without_units(to);
  return only && !from.empty() ? reshape : nullptr;
}

// Elementwise work comes before dimensions of one element are added, so that it is one loop with
// the work before it.
Result add_units_after(const PatternContext& m) {
  if (!m.op.effect.empty()) return {};
  const Equation* first = nullptr;
  for (const Var v : m.in) {
    if (!first) first = with_units(m, v);
  }
  if (!first) return {};
  const Shape shape = m.b.type(first->inputs[0]).shape, added = m.b.type(first->outputs[0]).shape;
  const auto number = [&](Var v) {  // a number that is repeated
    const Equation* source = m.b.defined_by(v, core_ops().broadcast_in_dim);
    return source && m.b.type(source->inputs[0]).rank() == 0 ? source : nullptr;
  };
  for (const Var v : m.in) {
    const Equation* source = with_units(m, v);
    const bool same = source && m.b.type(source->inputs[0]).shape == shape;
    if (m.b.type(v).rank() > 0 && !same && !number(v)) return {};
  }
  Vars operands;
  for (const Var v : m.in) {
    if (m.b.type(v).rank() == 0) {
      operands.push_back(v);
    } else if (const Equation* source = with_units(m, v)) {
      operands.push_back(source->inputs[0]);
    } else {
      operands.push_back(m.emit(core_ops().broadcast_in_dim,
                                {{"shape", shape}, {"broadcast_dimensions", Ints()}},
                                {number(v)->inputs[0]}));
    }
  }
  const Var result = m.b.emit(m.op, m.params, operands, m.location)[0];
  if (m.b.type(result).shape != shape) return {};
  return one(m.emit(core_ops().reshape, ops::reshape_params(added), {result}));
}

Result add_into_scatter(const PatternContext& m) {
  const Op& scatter_add = core_ops().scatter_add;
  for (const std::size_t i : {1, 0}) {
    const Equation* scatter = m.b.defined_by(m.in[i], scatter_add);
    const Var other = m.in[1 - i];
    if (!scatter || !m.uses_known || m.b.uses(m.in[i]) > 1 ||
        !same_shape_and_dtype(m.b.type(other), m.b.type(m.in[i])) ||
        !is_scalar_constant(m.b, scatter->inputs[0], 0))
      continue;
    const Params params = scatter->params;
    return one(m.emit(scatter_add, params, {other, scatter->inputs[1], scatter->inputs[2]}));
  }
  return {};
}

// Two gathers at the same indices have one gradient.
Result join_scatters(const PatternContext& m) {
  const Equation* inner = m.b.defined_by(m.in[0], m.op);
  if (!inner || !m.uses_known || m.b.uses(m.in[0]) > 1 || inner->inputs[1] != m.in[1] ||
      inner->params != m.params ||
      !same_shape_and_dtype(m.b.type(inner->inputs[2]), m.b.type(m.in[2])))
    return {};
  const Var operand = inner->inputs[0];
  const Var sum = m.emit(core_ops().add, {}, {inner->inputs[2], m.in[2]});
  return one(m.emit(m.op, m.params, {operand, m.in[1], sum}));
}

// Along dimensions of one element there is nothing to reduce.
Result drop_unit_axes(const PatternContext& m) {
  const Shape& shape = m.b.type(m.in[0]).shape;
  const Ints& axes = m.params.ints(param::axes);
  Ints rest;
  for (std::int64_t d : axes) {
    if (shape[index(d)] != 1) rest.push_back(d);
  }
  if (rest.size() == axes.size()) return {};
  const Shape left = without_dims(shape, axes);
  const Var reduced = rest.empty() ? m.in[0] : m.emit(m.op, m.params.with("axes", rest), {m.in[0]});
  return one(m.emit(core_ops().reshape, ops::reshape_params(left), {reduced}));
}

// A pattern, under its own name.
#define ROW(op, pattern) {op, #pattern, pattern}
// In the order in which they are tried. For the example, `sum` is reduce_sum.
constexpr Pattern rows[] = {
    // before                                   after
    ROW("", fold_constants),                    // sign(7)                     1
    ROW("transpose", drop_transpose),           // transpose(x), in order      x
    ROW("transpose", join_transposes),          // transpose(transpose(x))     transpose(x)
    ROW("transpose", transpose_into_dot),       // transpose(dot(a, b))        dot(b, a)
    ROW("transpose", transpose_operands),       // transpose(transpose(x)+y)   x + transpose(y)
    ROW("reshape", drop_reshape),               // reshape(x) to its own shape x
    ROW("reshape", join_reshapes),              // reshape(reshape(x))         reshape(x)
    ROW("squeeze", squeeze_of_reshape),         // squeeze(reshape(x))         reshape(x)
    ROW("broadcast_in_dim", drop_broadcast),    // broadcast(x) to its shape   x
    ROW("broadcast_in_dim", join_broadcasts),   // broadcast(broadcast(x))     broadcast(x)
    ROW("convert_element_type", drop_convert),  // convert(x) to its own dtype x
    ROW("convert_element_type",
        convert_into_product),                  // f32(dot(a, b)), of bf16     dot(a, b), of f32
    ROW("stop_gradient", drop_identity),        // stop_gradient(x)            x
    ROW("sharding_constraint", drop_identity),  // sharding_constraint(x)      x
    ROW("reshard", drop_identity),              // reshard(x)                  x
    ROW("device_put", drop_identity),           // device_put(x)               x
    ROW("select_n", drop_select),               // select_n(which, x, x)       x
    ROW("select_n", push_select_into_update),   // select(p, update(x), x)     update of x
    ROW("select_n", fold_masked_concat),        // iota == 0 ? y : [x, z]      [y[0], z]
    ROW("scatter", static_scatter),             // x.at[2].set(y)              update of x, at 2
    ROW("gather", static_gather),               // of one window at 2          x[2:3]
    ROW("dynamic_slice", static_slice),         // dynamic_slice(x, 2)         x[2:5]
    ROW("dynamic_update_slice", update_all),    // update all of x by y        y
    ROW("dynamic_update_slice",
        update_by_masked_select),             // update by iota == 7 ? y : x  of y[7] alone
    ROW("slice", slice_of_update),            // (x updated at 0 by y)[1:]   x[1:]
    ROW("slice", slice_of_masked_select),     // (iota == 0 ? y : x)[1:]     x[1:]
    ROW("neg", drop_double_neg),              // neg(neg(x))                 x
    ROW("log", log_of_exp),                   // log(exp(x))                 x
    ROW("mul", drop_unit_factor),             // x * 1, 1 * x                x
    ROW("div", drop_unit_divisor),            // x / 1                       x
    ROW("div", multiply_by_inverse),          // x / 8                       x * 0.125
    ROW("", push_into_concat),                // [x, y] + z                  [x + z[:n], y + z[n:]]
    ROW("", shrink_elementwise),              // broadcast(x) * broadcast(y) broadcast(x * y)
    ROW("", add_units_after),                 // -x[:, None]                 (-x)[:, None]
    ROW("add_any", add_into_scatter),         // x + scatter_add(0, u)       scatter_add(x, u)
    ROW("iota", narrow_iota),                 // iota over one of more dims  broadcast(iota)
    ROW("scatter-add", scatter_into_select),  // one number for each row     iota == i ? x : 0
    ROW("scatter-add", join_scatters),        // two at the same places      of the updates' sum
    ROW("concatenate", join_concatenations),  // [[x, y], z]                 [x, y, z]
    ROW("add_any", join_pads),                // pad(x) + pad(y), adjacent   pad([x, y])
    ROW("reduce_sum", drop_unit_axes),        // over dimensions of size 1   reshape(x)
    ROW("reduce_prod", drop_unit_axes),       //
    ROW("reduce_max", drop_unit_axes),        //
    ROW("reduce_min", drop_unit_axes),        //
    ROW("reduce_sum", sum_of_one_hot),        // sum(iota == i ? x : 0)      x, if i is inside
    ROW("reduce_sum", sum_of_masked_row),     // sum(iota == 7 ? x : 0)      x[7]
    ROW("reduce_sum", reduce_before_transpose),  // sum(transpose(x))           transpose(sum(x))
    ROW("reduce_sum", reduce_into_dot),      // sum(dot(a, b)), batches     dot(a, b), over them too
    ROW("reduce_sum", reduce_into_conv),     // the same of convolutions
    ROW("reduce_sum", reduce_into_scatter),  // sum(scatter_add(x, u))      scatter_add(sum(x), u)
};

// The patterns of each op.
using Patterns = std::unordered_map<const Op*, std::vector<decltype(Pattern::apply)>>;
Patterns patterns_by_op() {
  Patterns out;
  for (const Op* op : all_ops()) {
    for (const Pattern& pattern : rows) {
      if (meant_for(pattern, *op)) out[op].push_back(pattern.apply);
    }
  }
  return out;
}

}  // namespace

std::span<const Pattern> simplify_patterns() { return rows; }

std::optional<Vars> apply_rules(const PatternContext& match) {
  static const Patterns patterns = patterns_by_op();
  const auto own = patterns.find(&match.op);
  if (own == patterns.end()) return {};
  for (const auto pattern : own->second) {
    if (Result replaced = pattern(match)) return replaced;
  }
  return {};
}

}  // namespace shardax
