// compile/simplify/fold_one_hot.cpp - updates of one number for each row.
#include "compile/simplify/fold_one_hot.h"

#include <algorithm>

#include "base/index.h"
#include "base/lists.h"
#include "compile/simplify/constants.h"
#include "compile/simplify/simplify_concat.h"
#include "ir/core_ops.h"
#include "ops/ops.h"
#include "ops/permutations.h"

namespace shardax {
namespace {

struct OneHotOps {
  const Op &iota, &eq, &ge, &lt, &bit_and;
};
const OneHotOps& one_hot_ops() {
  static const OneHotOps ops{core_ops().iota, core_ops().eq, core_ops().ge, core_ops().lt,
                             core_ops().and_};
  return ops;
}

Var broadcast(const PatternContext& m, Var v, const Shape& shape, const Ints& dims) {
  return m.emit(core_ops().broadcast_in_dim, {{"shape", shape}, {"broadcast_dimensions", dims}},
                {v});
}

Var zeros(const PatternContext& m, DType dtype, const Shape& shape) {
  return broadcast(m, m.b.constant(scalar_array(dtype, 0)), shape, {});
}

bool is_ascending(const Ints& dims) {
  return std::adjacent_find(dims.begin(), dims.end(), std::greater_equal<>()) == dims.end();
}

// All dimensions but `dim`.
Ints others(std::size_t rank, std::int64_t dim) {
  Ints out;
  for (std::size_t d = 0; d < rank; ++d) {
    if (static_cast<std::int64_t>(d) != dim) out.push_back(static_cast<std::int64_t>(d));
  }
  return out;
}

// The operand of a broadcast along `dims` to the shape of `v`; -1 where it is none.
Var operand_along(const PatternContext& m, Var v, const Ints& dims) {
  const Equation* repeat = m.b.defined_by(v, core_ops().broadcast_in_dim);
  if (!repeat || !(repeat->params.ints(param::broadcast_dimensions) == dims)) return -1;
  const Shape &shape = m.b.type(v).shape, &own = m.b.type(repeat->inputs[0]).shape;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (own[i] != shape[index(dims[i])]) return -1;
  }
  return repeat->inputs[0];
}

}  // namespace

std::optional<Vars> narrow_iota(const PatternContext& m) {
  const Ints& shape = m.params.ints(param::shape);
  if (shape.size() < 2) return {};
  const std::int64_t dim = m.params.integer(param::dimension);
  const Var line = m.emit(
      one_hot_ops().iota,
      m.params.with("shape", Ints{shape[index(dim)]}).with("dimension", std::int64_t{0}), {});
  return Vars{broadcast(m, line, shape, {dim})};
}

std::optional<Vars> scatter_into_select(const PatternContext& m) {
  const Params& p = m.params;
  const Ints &at = p.ints(param::scatter_dims_to_operand_dims),
             &batch = p.ints(param::operand_batching_dims),
             &of_indices = p.ints(param::scatter_indices_batching_dims);
  const Type type = m.b.type(m.in[0]), updates = m.b.type(m.in[2]), places = m.b.type(m.in[1]);
  if (at.size() != 1 || !(p.ints(param::inserted_window_dims) == at) ||
      !p.ints(param::update_window_dims).empty() || batch.size() + 1 != type.rank() ||
      !is_ascending(batch) || !is_ascending(of_indices) || p.text(param::mode) == "clip" ||
      updates.dtype != type.dtype || !is_floating(type.dtype) || !is_integer(places.dtype) ||
      itemsize(places.dtype) < 4 || !is_scalar_constant(m.b, m.in[0], 0))
    return {};
  Shape rows;
  std::int64_t count = 1;
  for (const std::int64_t d : batch) {
    rows.push_back(type.shape[index(d)]);
    count *= rows.back();
  }
  if (updates.size() != count || places.size() != count || count == 0) return {};
  const auto by_rows = [&](Var v) {
    const Var of_rows = m.emit(core_ops().reshape, ops::reshape_params(rows), {v});
    return broadcast(m, of_rows, type.shape, batch);
  };
  const Var line = m.emit(one_hot_ops().iota,
                          {{"dtype", places.dtype},
                           {"shape", Shape{type.shape[index(at[0])]}},
                           {"dimension", std::int64_t{0}}},
                          {});
  const Var here =
      m.emit(one_hot_ops().eq, {}, {broadcast(m, line, type.shape, at), by_rows(m.in[1])});
  // As the addition to 0 gives it: without the sign of a zero.
  const Var added = m.emit(core_ops().add, {}, {m.in[2], zeros(m, type.dtype, updates.shape)});
  return Vars{
      m.emit(core_ops().select_n, {}, {here, zeros(m, type.dtype, type.shape), by_rows(added)})};
}

std::optional<Vars> sum_of_one_hot(const PatternContext& m) {
  const Ints& axes = m.params.ints(param::axes);
  const Equation* choice = m.b.defined_by(m.in[0], core_ops().select_n);
  if (!choice || axes.size() != 1 || choice->inputs.size() != 3 ||
      !is_scalar_constant(m.b, choice->inputs[1], 0))
    return {};
  const Type type = m.b.type(m.in[0]);
  const Ints kept = others(type.rank(), axes[0]);
  const Var number = operand_along(m, choice->inputs[2], kept);
  const Equation* here = m.b.defined_by(choice->inputs[0], one_hot_ops().eq);
  if (number < 0 || !here) return {};
  const Var position = operand_along(m, here->inputs[0], axes);
  const Var chosen = operand_along(m, here->inputs[1], kept);
  const std::int64_t n = type.shape[index(axes[0])];
  if (position < 0 || chosen < 0 || !m.b.defined_by(position, one_hot_ops().iota)) return {};
  const Type of_index = m.b.type(chosen), of_number = m.b.type(number);
  const auto bound = [&](std::int64_t value) {
    return broadcast(m, m.b.constant(scalar_array_int(of_index.dtype, value)), of_index.shape, {});
  };
  const Var from_zero = m.emit(one_hot_ops().ge, {}, {chosen, bound(0)});
  const Var below = m.emit(one_hot_ops().lt, {}, {chosen, bound(n)});
  const Var inside = m.emit(one_hot_ops().bit_and, {}, {from_zero, below});
  const Var nothing = zeros(m, of_number.dtype, of_number.shape);
  return Vars{m.emit(core_ops().select_n, {}, {inside, nothing, number})};
}

}  // namespace shardax
