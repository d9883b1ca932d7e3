// compile/simplify/fold_static_indices.cpp - values of constant indices.
#include "compile/simplify/fold_static_indices.h"

#include <algorithm>

#include "base/index.h"
#include "base/lists.h"
#include "compile/simplify/simplify_concat.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "ops/ops.h"
#include "ops/permutations.h"

namespace shardax {
namespace {}  // namespace

std::optional<Ints> static_integers(const PatternContext& m, Var v) {
  const Type& type = m.b.type(v);
  if ((type.dtype != DType::int32 && type.dtype != DType::int64) ||
      type.size() > tuning::fold_static_indices::most_indices)
    return {};
  if (const Array* value = m.b.constant_value(v)) {
    if (value->type().rank() != 0) return {};
    return Ints{type.dtype == DType::int32 ? *reinterpret_cast<const std::int32_t*>(value->data())
                                           : *reinterpret_cast<const std::int64_t*>(value->data())};
  }
  const Equation* made = m.b.definition(v);
  if (!made) return {};
  if (made->op == &core_ops().broadcast_in_dim) {
    const std::optional<Ints> one = static_integers(m, made->inputs[0]);
    if (!one || one->size() != 1) return {};
    return Ints(index(type.size()), one->front());
  }
  if (made->op == &core_ops().reshape) return static_integers(m, made->inputs[0]);
  if (made->op != &core_ops().concatenate || type.rank() != 1) return {};
  Ints all;
  for (const Var piece : made->inputs) {
    const std::optional<Ints> some = static_integers(m, piece);
    if (!some) return {};
    all.append(some->begin(), some->end());
  }
  return all;
}

Ints end_of(Ints start, const Ints& sizes) {
  for (std::size_t d = 0; d < start.size(); ++d) start[d] += sizes[d];
  return start;
}

namespace {

// The start of the only window in each dimension; none unless it is known to lie within.
std::optional<Ints> known_place(const PatternContext& m, const Shape& shape, const Ints& sizes,
                                const Ints& indexed) {
  const std::optional<Ints> at = static_integers(m, m.in[1]);
  if (!at || at->size() != indexed.size()) return {};
  Ints start(shape.size(), 0);
  for (std::size_t i = 0; i < indexed.size(); ++i) start[index(indexed[i])] = (*at)[i];
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (start[d] < 0 || start[d] + sizes[d] > shape[d]) return {};
  }
  return start;
}

Var reshaped(const PatternContext& m, Var v, const Shape& shape) {
  if (m.b.type(v).shape == shape) return v;
  return m.emit(core_ops().reshape, ops::reshape_params(shape), {v});
}

}  // namespace

std::optional<Ints> static_starts(const PatternContext& m, const Vars& inputs, const Ints& sizes,
                                  std::size_t first) {
  const Shape& shape = m.b.type(inputs[0]).shape;
  Ints starts;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::optional<Ints> one = static_integers(m, inputs[d + first]);
    if (!one) return {};
    starts.push_back(std::clamp<std::int64_t>(one->front(), 0, shape[d] - sizes[d]));
  }
  return starts;
}

std::optional<Vars> static_scatter(const PatternContext& m) {
  const Params& p = m.params;
  const Type type = m.b.type(m.in[0]), update = m.b.type(m.in[2]);
  const Ints &window = p.ints(param::update_window_dims),
             &inserted = p.ints(param::inserted_window_dims);
  if (!p.ints(param::operand_batching_dims).empty() || update.dtype != type.dtype) return {};
  Shape sizes;
  std::size_t next = 0;
  for (std::size_t d = 0; d < type.rank(); ++d)
    sizes.push_back(
        has(inserted, static_cast<std::int64_t>(d)) ? 1 : update.shape[index(window[next++])]);
  const std::optional<Ints> start =
      known_place(m, type.shape, sizes, p.ints(param::scatter_dims_to_operand_dims));
  if (!start) return {};
  const Var own = reshaped(m, m.in[2], sizes);
  if (sizes == type.shape) return one(own);
  Vars operands{m.in[0], own};
  for (const std::int64_t at : *start)
    operands.push_back(m.b.constant(scalar_array_int(DType::int32, at)));
  return one(m.emit(core_ops().dynamic_update_slice, {}, operands));
}

std::optional<Vars> static_gather(const PatternContext& m) {
  const Params& p = m.params;
  const Shape shape = m.b.type(m.in[0]).shape;
  const Ints& sizes = p.ints(param::slice_sizes);
  if (!p.ints(param::operand_batching_dims).empty()) return {};
  const std::optional<Ints> start = known_place(m, shape, sizes, p.ints(param::start_index_map));
  if (!start) return {};
  const Type result = infer_types(m.op, {m.b.type(m.in[0]), m.b.type(m.in[1])}, p)[0];
  const Var window = slice_of(m, m.in[0], *start, end_of(*start, sizes));
  return one(reshaped(m, window, result.shape));
}

std::optional<Vars> static_slice(const PatternContext& m) {
  const Ints& sizes = m.params.ints(param::slice_sizes);
  const std::optional<Ints> start = static_starts(m, m.in, sizes, 1);
  if (!start) return {};
  return one(slice_of(m, m.in[0], *start, end_of(*start, sizes)));
}

std::optional<Vars> update_all(const PatternContext& m) {
  const Type &all = m.b.type(m.in[0]), &update = m.b.type(m.in[1]);
  if (!same_shape_and_dtype(all, update)) return {};
  return one(m.in[1]);
}

std::optional<Vars> slice_of_update(const PatternContext& m) {
  const Equation* found = m.b.defined_by(m.in[0], core_ops().dynamic_update_slice);
  if (!found) return {};
  const Equation update = *found;
  const Shape sizes = m.b.type(update.inputs[1]).shape;
  const std::optional<Ints> starts = static_starts(m, update.inputs, sizes, 2);
  if (!starts) return {};
  const Ints &begin = m.params.ints(param::start_indices),
             &end = m.params.ints(param::limit_indices);
  bool apart = false, within = m.params.ints(param::strides) == Ints(sizes.size(), 1);
  Ints from, to;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const std::int64_t first = (*starts)[d], last = first + sizes[d];
    apart = apart || end[d] <= first || begin[d] >= last;
    within = within && begin[d] >= first && end[d] <= last;
    from.push_back(begin[d] - first);
    to.push_back(end[d] - first);
  }
  if (apart) return one(m.emit(core_ops().slice, m.params, {update.inputs[0]}));
  if (!within) return {};
  if (to == sizes && from == Ints(sizes.size(), 0)) return one(update.inputs[1]);
  return one(slice_of(m, update.inputs[1], from, to));
}

}  // namespace shardax
