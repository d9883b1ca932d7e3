// compile/simplify/push_select_into_update.cpp - a match of the array's dimensions with the
// update's.
#include "compile/simplify/push_select_into_update.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/index.h"
#include "base/lists.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

struct UpdateOps {
  const Op &scatter, &scatter_add, &update_slice, &gather, &slice;
};
const UpdateOps& update_ops() {
  static const UpdateOps ops{core_ops().scatter, core_ops().scatter_add,
                             core_ops().dynamic_update_slice, core_ops().gather,
                             core_ops().dynamic_slice};
  return ops;
}

// For each dimension of a scatter's operand, the one of its updates that goes with it, element by
// element; -1: an index says where.
Ints places_of(const Params& p, std::size_t rank, std::size_t update_rank) {
  const Ints &window = p.ints(param::update_window_dims),
             &inserted = p.ints(param::inserted_window_dims);
  const Ints &batch = p.ints(param::operand_batching_dims),
             &of_indices = p.ints(param::scatter_indices_batching_dims);
  Ints others;  // dimensions of the updates that are of the indices
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(update_rank); ++d) {
    if (!has(window, d)) others.push_back(d);
  }
  Ints places(rank, -1);
  std::size_t next = 0;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d) {
    const auto at = std::find(batch.begin(), batch.end(), d);
    std::int64_t& place = places[index(d)];
    if (at != batch.end()) {
      const auto i = index(of_indices[index(at - batch.begin())]);
      place = others[i];
    } else if (!has(inserted, d)) {
      place = window[next++];
    }
  }
  return places;
}

class Pushing {
 public:
  Pushing(const PatternContext& m, Var mask, const Ints& mask_dims, Var kept)
      : m_(m), mask_(mask), mask_dims_(mask_dims), kept_(kept) {}

  // `updated`, a chain of updates of `kept`, where the mask is set, else `kept`.
  std::optional<Var> push(Var updated) {
    if (updated == kept_) return kept_;
    if (m_.b.uses(updated) > 1) return {};
    for (const Op* op : {&update_ops().scatter, &update_ops().scatter_add}) {
      if (const Equation* eqn = m_.b.defined_by(updated, *op)) return scatter(*op, *eqn);
    }
    if (const Equation* eqn = m_.b.defined_by(updated, update_ops().update_slice))
      return slice(*eqn);
    return {};
  }

 private:
  std::optional<Var> scatter(const Op& op, Equation eqn) {
    const Shape shape = m_.b.type(eqn.inputs[0]).shape;
    const Shape updates = m_.b.type(eqn.inputs[2]).shape;
    const Ints places = places_of(eqn.params, shape.size(), updates.size());
    const DType dtype = m_.b.type(eqn.inputs[0]).dtype;
    if (m_.b.type(eqn.inputs[2]).dtype != dtype || is_complex(dtype)) return {};
    const std::optional<Var> mask = mask_over(updates, places, shape);
    if (!mask) return {};
    const std::optional<Var> before = push(eqn.inputs[0]);
    if (!before) return {};
    Var old;
    if (&op == &update_ops().scatter) {
      Ints sizes;
      for (const std::int64_t place : places)
        sizes.push_back(place < 0 ? 1 : updates[index(place)]);
      for (const std::int64_t d : eqn.params.ints(param::operand_batching_dims))
        sizes[index(d)] = 1;
      const Params& p = eqn.params;
      old = m_.emit(update_ops().gather,
                    {{"offset_dims", p.ints(param::update_window_dims)},
                     {"collapsed_slice_dims", p.ints(param::inserted_window_dims)},
                     {"start_index_map", p.ints(param::scatter_dims_to_operand_dims)},
                     {"operand_batching_dims", p.ints(param::operand_batching_dims)},
                     {"start_indices_batching_dims", p.ints(param::scatter_indices_batching_dims)},
                     {"slice_sizes", sizes},
                     {"mode", std::string("clip")},  // updates out of bounds are dropped
                     {"fill_value", std::monostate()},
                     {"indices_are_sorted", p.flag(param::indices_are_sorted)},
                     {"unique_indices", p.flag(param::unique_indices)}},
                    {*before, eqn.inputs[1]});
    } else {
      const Var zero = m_.b.constant(scalar_array(dtype, -0.0));  // keeps the signs of zeros
      old = m_.emit(core_ops().broadcast_in_dim,
                    {{"shape", updates}, {"broadcast_dimensions", Ints()}}, {zero});
    }
    const Var chosen = m_.emit(core_ops().select_n, {}, {*mask, old, eqn.inputs[2]});
    return m_.emit(op, eqn.params, {*before, eqn.inputs[1], chosen});
  }

  std::optional<Var> slice(Equation eqn) {
    const Shape shape = m_.b.type(eqn.inputs[0]).shape, window = m_.b.type(eqn.inputs[1]).shape;
    Ints places;
    for (std::size_t d = 0; d < shape.size(); ++d) places.push_back(static_cast<std::int64_t>(d));
    const std::optional<Var> mask = mask_over(window, places, shape);
    if (!mask) return {};
    const std::optional<Var> before = push(eqn.inputs[0]);
    if (!before) return {};
    Vars starts{*before}, operands{*before};
    for (std::size_t i = 2; i < eqn.inputs.size(); ++i) starts.push_back(eqn.inputs[i]);
    const Var old = m_.emit(update_ops().slice, {{"slice_sizes", window}}, starts);
    operands.push_back(m_.emit(core_ops().select_n, {}, {*mask, old, eqn.inputs[1]}));
    for (std::size_t i = 2; i < eqn.inputs.size(); ++i) operands.push_back(eqn.inputs[i]);
    return m_.emit(update_ops().update_slice, eqn.params, operands);
  }

  // The mask over the elements of an update; nothing where an index says which goes with which, or
  // where little is saved.
  std::optional<Var> mask_over(const Shape& updates, const Ints& places, const Shape& shape) {
    const auto count = [](const Shape& s) {
      return std::accumulate(s.begin(), s.end(), std::int64_t{1}, std::multiplies<>());
    };
    if (2 * count(updates) > count(shape)) return {};
    Ints dims;
    for (const std::int64_t d : mask_dims_) {
      const std::int64_t place = places[index(d)];
      if (place < 0) return {};
      if (updates[index(place)] != shape[index(d)]) return {};
      dims.push_back(place);
    }
    if (!std::is_sorted(dims.begin(), dims.end())) return {};
    return m_.emit(core_ops().broadcast_in_dim,
                   {{"shape", updates}, {"broadcast_dimensions", dims}}, {mask_});
  }

  const PatternContext& m_;
  Var mask_;
  Ints mask_dims_;
  Var kept_;
};

}  // namespace

std::optional<Vars> push_select_into_update(const PatternContext& m) {
  if (!m.uses_known || m.in.size() != 3 || m.b.type(m.in[0]).dtype != DType::boolean) return {};
  const Equation* mask = m.b.defined_by(m.in[0], core_ops().broadcast_in_dim);
  if (!mask || m.in[1] == m.in[2]) return {};
  const Var narrow = mask->inputs[0];
  if (!(m.b.type(mask->outputs[0]).shape == m.b.type(m.in[1]).shape)) return {};
  Pushing pushing(m, narrow, mask->params.ints(param::broadcast_dimensions), m.in[1]);
  const std::optional<Var> out = pushing.push(m.in[2]);
  return out ? std::optional<Vars>(Vars{*out}) : std::nullopt;
}

}  // namespace shardax
