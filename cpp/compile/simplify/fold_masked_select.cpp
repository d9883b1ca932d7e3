// compile/simplify/fold_masked_select.cpp - the index that a mask sets, and the value there.
#include "compile/simplify/fold_masked_select.h"

#include <algorithm>

#include "base/index.h"
#include "base/lists.h"
#include "compile/simplify/constants.h"
#include "compile/simplify/fold_static_indices.h"
#include "compile/simplify/simplify_concat.h"
#include "ir/core_ops.h"
#include "ops/ops.h"
#include "ops/permutations.h"

namespace shardax {
namespace {

// A mask that is set at one index of a dimension, for all indices of the others.
struct Chosen {
  std::int64_t dim, at;
};

std::optional<std::int64_t> constant_index(const PatternContext& m, Var v) {
  while (const Equation* broadcast = m.b.defined_by(v, core_ops().broadcast_in_dim))
    v = broadcast->inputs[0];
  if (m.b.type(v).rank() != 0 || m.b.type(v).dtype != DType::int32) return {};
  const std::optional<Ints> value = static_integers(m, v);
  return value ? std::optional(value->front()) : std::nullopt;
}

// The dimension along which `v`, an iota that may be repeated along others, counts; -1: none.
std::int64_t counted_dim(const PatternContext& m, Var v) {
  const Op& iota = core_ops().iota;
  std::int64_t dim = 0;
  if (const Equation* broadcast = m.b.defined_by(v, core_ops().broadcast_in_dim)) {
    const Ints& dims = broadcast->params.ints(param::broadcast_dimensions);
    if (dims.size() != 1) return -1;
    dim = dims[0];
    v = broadcast->inputs[0];
  }
  const Equation* line = m.b.defined_by(v, iota);
  return line && m.b.type(v).rank() == 1 ? dim : -1;
}

// iota == constant, or that repeated along other dimensions.
std::optional<Chosen> chosen(const PatternContext& m, Var mask) {
  const Op& eq = core_ops().eq;
  Ints dims = ops::iota_ints(m.b.type(mask).rank());
  if (const Equation* broadcast = m.b.defined_by(mask, core_ops().broadcast_in_dim)) {
    dims = broadcast->params.ints(param::broadcast_dimensions);
    mask = broadcast->inputs[0];
  }
  const Equation* equal = m.b.defined_by(mask, eq);
  if (!equal) return {};
  for (const std::size_t i : {0, 1}) {
    const std::int64_t dim = counted_dim(m, equal->inputs[i]);
    const std::optional<std::int64_t> at = constant_index(m, equal->inputs[1 - i]);
    if (dim < 0 || !at) continue;
    const std::int64_t size = m.b.type(mask).shape[index(dim)];
    if (*at < 0 || *at >= size || size == 1) return {};
    return Chosen{dims[index(dim)], *at};
  }
  return {};
}

// A choice between two values by such a mask: of `inputs` of select_n the second is that of the
// index.
std::optional<Chosen> choice_of(const PatternContext& m, const Vars& in) {
  if (in.size() != 3 || m.b.type(in[0]).dtype != DType::boolean || m.b.type(in[1]).rank() == 0)
    return {};
  return chosen(m, in[0]);
}

// v[at:at + 1], computed from that part of the operands of v, through elementwise work and sums
// over other dimensions. Values with other uses are computed again only if that takes one step.
class Row {
 public:
  Row(const PatternContext& m, std::int64_t at) : m_(m), at_(at) {}

  Var of(Var v, std::int64_t dim) {
    const Equation* made = m_.b.definition(v);
    if (!made || made->inputs.empty() || (m_.b.uses(v) > 1 && !is_one_step(*made)))
      return part_along(m_, v, dim, at_, at_ + 1);
    const Equation e = *made;
    if (e.op->kind == Kind::elementwise && e.op->effect.empty() && e.outputs.size() == 1) {
      Vars inputs;
      for (const Var in : e.inputs) inputs.push_back(m_.b.type(in).rank() == 0 ? in : of(in, dim));
      return m_.emit(*e.op, e.params, inputs);
    }
    if (e.op->kind == Kind::reduction && e.outputs.size() == 1) {
      Ints axes = e.params.ints(param::axes);
      std::sort(axes.begin(), axes.end());
      for (const std::int64_t axis : axes) dim += axis <= dim ? 1 : 0;
      return m_.emit(*e.op, e.params, {of(e.inputs[0], dim)});
    }
    return part_along(m_, v, dim, at_, at_ + 1);
  }

 private:
  bool is_one_step(const Equation& e) const {
    return e.op->kind == Kind::elementwise &&
           std::none_of(e.inputs.begin(), e.inputs.end(), [&](Var in) {
             const Equation* before = m_.b.definition(in);
             return before &&
                    (before->op->kind == Kind::elementwise || before->op->kind == Kind::reduction);
           });
  }

  const PatternContext& m_;
  std::int64_t at_;
};

}  // namespace

std::optional<Vars> fold_masked_concat(const PatternContext& m) {
  const std::optional<Chosen> where = choice_of(m, m.in);
  if (!where) return {};
  const Equation* whole = m.b.defined_by(m.in[1], core_ops().concatenate);
  if (!whole || whole->params.integer(param::dimension) != where->dim) return {};
  Vars pieces = whole->inputs;
  const Params params = whole->params;
  std::int64_t begin = 0;
  for (Var& piece : pieces) {
    const std::int64_t size = m.b.type(piece).shape[index(where->dim)];
    if (begin == where->at && size == 1) {
      piece = part_along(m, m.in[2], where->dim, begin, begin + 1);
      return one(m.emit(core_ops().concatenate, params, pieces));
    }
    begin += size;
  }
  return {};
}

std::optional<Vars> slice_of_masked_select(const PatternContext& m) {
  const Equation* choice = m.b.defined_by(m.in[0], core_ops().select_n);
  if (!choice) return {};
  const Vars in = choice->inputs;
  const std::optional<Chosen> where = choice_of(m, in);
  if (!where) return {};
  const auto d = index(where->dim);
  const std::int64_t begin = m.params.ints(param::start_indices)[d],
                     end = m.params.ints(param::limit_indices)[d];
  const bool inside = begin <= where->at && where->at < end;
  if (inside && end - begin > 1) return {};
  return one(m.emit(core_ops().slice, m.params, {in[inside ? 2 : 1]}));
}

std::optional<Vars> sum_of_masked_row(const PatternContext& m) {
  const Ints& axes = m.params.ints(param::axes);
  const Equation* choice = m.b.defined_by(m.in[0], core_ops().select_n);
  if (!choice || axes.size() != 1) return {};
  const Vars in = choice->inputs;
  const std::optional<Chosen> where = choice_of(m, in);
  if (!where || where->dim != axes[0] || !is_scalar_constant(m.b, in[1], 0)) return {};
  const Var row =
      m.emit(core_ops().squeeze, {{"dimensions", axes}}, {Row(m, where->at).of(in[2], where->dim)});
  // As the sum has it: without the sign of a zero.
  const Var zero = m.b.constant(scalar_array(m.b.type(row).dtype, 0));
  return one(m.emit(core_ops().add, {}, {row, zero}));
}

namespace {

// The value before reshapes that add or drop dimensions of one element.
Var without_units(const PatternContext& m, Var v) {
  for (const Equation* e = m.b.definition(v);
       e && (e->op == &core_ops().reshape || e->op == &core_ops().squeeze); e = m.b.definition(v)) {
    const auto long_dims = [&](Var x) {
      Shape out;
      for (const std::int64_t n : m.b.type(x).shape) {
        if (n != 1) out.push_back(n);
      }
      return out;
    };
    if (long_dims(v) != long_dims(e->inputs[0])) break;
    v = e->inputs[0];
  }
  return v;
}

// The dimension of `to` that is dimension `d` of `from`, where they differ in dimensions of one
// element.
std::int64_t same_dim(const Shape& from, std::int64_t d, const Shape& to) {
  const auto before =
      std::count_if(from.begin(), from.begin() + d, [](std::int64_t n) { return n != 1; });
  std::int64_t left = before;
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (to[k] != 1 && left-- == 0) return static_cast<std::int64_t>(k);
  }
  return -1;
}

// Is that window of `v` the one of `source`? Updates may lie between them, elsewhere.
bool has_from(const PatternContext& m, Var v, Var source, const Ints& start, const Ints& limit) {
  while (v != source) {
    const Equation* update = m.b.defined_by(v, core_ops().dynamic_update_slice);
    if (!update) return false;
    const Shape& sizes = m.b.type(update->inputs[1]).shape;
    const std::optional<Ints> at = static_starts(m, update->inputs, sizes, 2);
    if (!at) return false;
    bool apart = false;
    for (std::size_t d = 0; d < sizes.size(); ++d)
      apart = apart || (*at)[d] >= limit[d] || (*at)[d] + sizes[d] <= start[d];
    if (!apart) return false;
    v = update->inputs[0];
  }
  return true;
}

}  // namespace

std::optional<Vars> update_by_masked_select(const PatternContext& m) {
  const Equation* choice = m.b.defined_by(without_units(m, m.in[1]), core_ops().select_n);
  if (!choice) return {};
  const Vars in = choice->inputs;
  const std::optional<Chosen> where = choice_of(m, in);
  if (!where) return {};
  const Shape sizes = m.b.type(m.in[1]).shape;
  const std::optional<Ints> starts = static_starts(m, m.in, sizes, 2);
  const Equation* kept = m.b.defined_by(without_units(m, in[1]), core_ops().slice);
  if (!starts || !kept) return {};
  const Ints limits = end_of(*starts, sizes);
  if (!has_from(m, m.in[0], kept->inputs[0], *starts, limits) ||
      kept->params.ints(param::start_indices) != *starts ||
      kept->params.ints(param::limit_indices) != limits ||
      kept->params.ints(param::strides) != Ints(sizes.size(), 1))
    return {};
  const std::int64_t dim = same_dim(m.b.type(in[0]).shape, where->dim, sizes);
  if (dim < 0) return {};
  Shape row = sizes;
  row[index(dim)] = 1;
  const Var chosen = part_along(m, in[2], where->dim, where->at, where->at + 1);
  Vars operands{m.in[0], m.emit(core_ops().reshape, ops::reshape_params(row), {chosen})};
  for (std::size_t d = 0; d < starts->size(); ++d) {
    const std::int64_t start = (*starts)[d] + (static_cast<std::int64_t>(d) == dim ? where->at : 0);
    operands.push_back(m.b.constant(scalar_array_int(DType::int32, start)));
  }
  return one(m.emit(core_ops().dynamic_update_slice, {}, operands));
}

}  // namespace shardax
