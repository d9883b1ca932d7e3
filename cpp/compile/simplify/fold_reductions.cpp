// compile/simplify/fold_reductions.cpp - sums and conversions of products, convolutions, scatters.
#include "compile/simplify/fold_reductions.h"

#include "base/index.h"
#include "base/lists.h"
#include "compile/simplify/constants.h"
#include "compile/simplify/simplify_concat.h"
#include "ir/core_ops.h"
#include "ops/convolution.h"
#include "ops/ops.h"

namespace shardax {
namespace {

// `dims` without dimension `d`, those behind it one less.
Ints without_dim(const Ints& dims, std::int64_t d) {
  Ints out;
  for (const std::int64_t other : dims) {
    if (other != d) out.push_back(other > d ? other - 1 : other);
  }
  return out;
}

}  // namespace

std::optional<Vars> reduce_before_transpose(const PatternContext& m) {
  const Equation* inner = m.b.defined_by(m.in[0], core_ops().transpose);
  if (!inner) return {};
  const Ints permutation = inner->params.ints(param::permutation);
  const Var source = inner->inputs[0];
  Ints axes, kept;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(permutation.size()); ++d) {
    (has(m.params.ints(param::axes), d) ? axes : kept).push_back(permutation[index(d)]);
  }
  std::sort(axes.begin(), axes.end());
  Ints sorted = kept;
  std::sort(sorted.begin(), sorted.end());
  Ints order;
  for (std::int64_t d : kept)
    order.push_back(std::find(sorted.begin(), sorted.end(), d) - sorted.begin());
  const Var sum = m.emit(core_ops().reduce_sum, {{"axes", axes}}, {source});
  if (order == ops::iota_ints(order.size())) return Vars{sum};
  return Vars{m.emit(core_ops().transpose, {{"permutation", order}}, {sum})};
}

std::optional<Vars> reduce_into_dot(const PatternContext& m) {
  if (!m.uses_known || m.b.uses(m.in[0]) > 1) return {};
  const Equation* dot = m.b.defined_by(m.in[0], core_ops().dot_general);
  if (!dot) return {};
  const Params p = dot->params;
  const Vars operands = dot->inputs;
  const Ints& axes = m.params.ints(param::axes);
  Ints lhs_batch, rhs_batch;
  Ints lhs_contract = p.ints(param::lhs_contract), rhs_contract = p.ints(param::rhs_contract);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < p.ints(param::lhs_batch).size(); ++i) {
    if (has(axes, static_cast<std::int64_t>(i))) {
      lhs_contract.insert(moved, p.ints(param::lhs_batch)[i]);
      rhs_contract.insert(moved, p.ints(param::rhs_batch)[i]);
      ++moved;
    } else {
      lhs_batch.push_back(p.ints(param::lhs_batch)[i]);
      rhs_batch.push_back(p.ints(param::rhs_batch)[i]);
    }
  }
  if (moved == 0) return {};
  const auto batch = static_cast<std::int64_t>(p.ints(param::lhs_batch).size());
  Ints rest;
  for (std::int64_t d : axes) {
    if (d >= batch) rest.push_back(d - static_cast<std::int64_t>(moved));
  }
  const Var product = m.emit(core_ops().dot_general,
                             {{"lhs_contract", lhs_contract},
                              {"rhs_contract", rhs_contract},
                              {"lhs_batch", lhs_batch},
                              {"rhs_batch", rhs_batch},
                              {"preferred_element_type", m.b.type(m.in[0]).dtype}},
                             operands);
  return Vars{rest.empty() ? product : m.emit(core_ops().reduce_sum, {{"axes", rest}}, {product})};
}

std::optional<Vars> reduce_into_conv(const PatternContext& m) {
  if (!m.uses_known || m.b.uses(m.in[0]) > 1) return {};
  const Equation* conv = m.b.defined_by(m.in[0], core_ops().conv_general_dilated);
  if (!conv || !conv->params.has("leading")) return {};
  const Params p = conv->params;
  const Vars operands = conv->inputs;
  Ints leading = p.ints(param::leading), rest = m.params.ints(param::axes);
  constexpr auto both = static_cast<std::int64_t>(ops::Leading::both),
                 summed = static_cast<std::int64_t>(ops::Leading::summed);
  std::int64_t position = 0, removed = 0;
  for (std::int64_t& kind : leading) {
    if (kind == summed) continue;
    const auto axis = std::find(rest.begin(), rest.end(), position - removed);
    ++position;
    if (kind != both || axis == rest.end()) continue;
    kind = summed;
    ++removed;
    Ints left;
    for (auto it = rest.begin(); it != rest.end(); ++it) {
      if (it != axis) left.push_back(it > axis ? *it - 1 : *it);
    }
    rest = left;
  }
  if (removed == 0) return {};
  const Var sum = m.emit(core_ops().conv_general_dilated, p.with("leading", leading), operands);
  return Vars{rest.empty() ? sum : m.emit(core_ops().reduce_sum, {{"axes", rest}}, {sum})};
}

std::optional<Vars> reduce_into_scatter(const PatternContext& m) {
  const Op& scatter_add = core_ops().scatter_add;
  if (!m.uses_known || m.b.uses(m.in[0]) > 1) return {};
  const Equation* scatter = m.b.defined_by(m.in[0], scatter_add);
  const Type type = m.b.type(m.in[0]);
  // Each sum of 16-bit numbers would be rounded once more or once less.
  if (!scatter || itemsize(type.dtype) < 4) return {};
  Params p = scatter->params;
  const Vars operands = scatter->inputs;
  Shape shape = type.shape;
  Ints rest = m.params.ints(param::axes), moved;
  for (std::size_t i = rest.size(); i-- > 0;) {
    const std::int64_t axis = rest[i];
    const Ints batch = p.ints(param::operand_batching_dims);
    const auto found = std::find(batch.begin(), batch.end(), axis);
    if (found == batch.end()) continue;
    Ints of_indices = p.ints(param::scatter_indices_batching_dims);
    of_indices.erase(index(found - batch.begin()));
    p.set("scatter_indices_batching_dims", of_indices);
    for (const ParamName dims : ParamNames{"operand_batching_dims", "inserted_window_dims",
                                           "scatter_dims_to_operand_dims"})
      p.set(dims, without_dim(p.get<Ints>(dims), axis));
    shape.erase(index(axis));
    rest = without_dim(rest, axis);
    moved.insert(0, axis);
  }
  if (moved.empty()) return {};
  p.set("indices_are_sorted", false);
  p.set("unique_indices", false);
  const Var before = is_scalar_constant(m.b, operands[0], 0)
                         ? m.emit(core_ops().broadcast_in_dim,
                                  {{"shape", shape}, {"broadcast_dimensions", Ints{}}},
                                  {m.b.constant(scalar_array(type.dtype, 0))})
                         : m.emit(core_ops().reduce_sum, {{"axes", moved}}, {operands[0]});
  const Var sum = m.emit(scatter_add, p, {before, operands[1], operands[2]});
  return Vars{rest.empty() ? sum : m.emit(core_ops().reduce_sum, {{"axes", rest}}, {sum})};
}

std::optional<Vars> convert_into_product(const PatternContext& m) {
  const DType narrow = m.b.type(m.in[0]).dtype;
  if (!is_half(narrow) || m.params.dtype(param::new_dtype) != DType::float32 || !m.uses_known ||
      m.b.uses(m.in[0]) > 1)
    return {};
  for (const Op* op : {&core_ops().dot_general, &core_ops().conv_general_dilated}) {
    const Equation* product = m.b.defined_by(m.in[0], *op);
    if (!product) continue;
    const Vars operands = product->inputs;
    for (const Var v : operands) {
      if (m.b.type(v).dtype != narrow) return {};
    }
    return Vars{
        m.emit(*op, product->params.with("preferred_element_type", DType::float32), operands)};
  }
  return {};
}

}  // namespace shardax
