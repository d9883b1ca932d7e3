// compile/simplify/fold_index_wrap.cpp - folding of negative indices into their uses.
#include <algorithm>
#include <optional>

#include "base/index.h"
#include "compile/passes.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

struct WrapOps {
  const Op &add, &lt, &select_n, &reshape, &broadcast, &concatenate;
};
const WrapOps& wrap_ops() {
  static const WrapOps ops{core_ops().add,
                           core_ops().lt,
                           core_ops().select_n,
                           core_ops().reshape,
                           core_ops().broadcast_in_dim,
                           core_ops().concatenate};
  return ops;
}

// The param of gather or scatter that says along which dimensions their places count; none of
// other ops.
const Ints* counted_dims(const Equation& eqn) {
  if (!eqn.op->starts || eqn.op->first_index != 1) return nullptr;
  for (const ParamName name : ParamNames{"start_index_map", "scatter_dims_to_operand_dims"}) {
    if (const ParamValue* dims = eqn.params.find(name)) return std::get_if<Ints>(dims);
  }
  return nullptr;
}

class Wrapper {
 public:
  explicit Wrapper(const Program& source)
      : program_(copy_of(source)),
        made_by_(makers(source)),
        constants_(source.types.size(), nullptr),
        source_(source) {
    for (const Constant& c : source.constants) constants_[index(c.var)] = c.value.get();
  }

  // Null where nothing changed.
  MutableProgram run() {
    bool changed = false;
    program_->equations.clear();
    for (const Equation& eqn : source_.equations) {
      const Ints* dims = counted_dims(eqn);
      const auto found = dims ? without_wraps(eqn, *dims) : std::nullopt;
      program_->equations.push_back(eqn);
      if (!found) continue;
      changed = true;
      Equation& last = program_->equations.back();
      last.inputs[1] = found->places;
      last.params.set("wraps", found->wraps);
    }
    return changed ? program_ : nullptr;
  }

 private:
  struct Found {
    Var places;
    Ints wraps;  // of each component of a place
  };

  const Equation* made_by(Var v) const {
    const int e = made_by_[index(v)];
    return e < 0 ? nullptr : &source_.equations[index(e)];
  }
  const Equation* made_by(Var v, const Op& op) const {
    const Equation* eqn = made_by(v);
    return eqn && eqn->op == &op ? eqn : nullptr;
  }
  const Type& type(Var v) const { return source_.type(v); }

  // The integer that all elements of `v` are.
  std::optional<std::int64_t> number(Var v) const {
    while (const Equation* repeat = made_by(v, wrap_ops().broadcast)) v = repeat->inputs[0];
    const Array* value = constants_[index(v)];
    if (!value || value->type().rank() != 0) return {};
    switch (value->dtype()) {
      case DType::int32: return *reinterpret_cast<const std::int32_t*>(value->data());
      case DType::int64: return *reinterpret_cast<const std::int64_t*>(value->data());
      default: return {};
    }
  }

  // select_n(places < 0, places, places + size): the places.
  std::optional<Var> wrapped(const Equation& choice, std::int64_t size) const {
    const Vars& in = choice.inputs;
    if (choice.op != &wrap_ops().select_n || in.size() != 3) return {};
    const Equation *negative = made_by(in[0], wrap_ops().lt), *sum = made_by(in[2], wrap_ops().add);
    if (!negative || negative->inputs[0] != in[1] || number(negative->inputs[1]) != 0 || !sum)
      return {};
    const std::size_t own = sum->inputs[0] == in[1] ? 0 : 1;
    if (sum->inputs[own] != in[1] || number(sum->inputs[1 - own]) != size) return {};
    if (type(in[1]).shape != type(choice.outputs[0]).shape) return {};
    return in[1];
  }

  // Repeats `eqn` on other inputs of the same shape.
  Var again(const Equation& eqn, const Vars& inputs) {
    const Var out = program_->add(type(eqn.outputs[0]));
    Equation made = eqn;
    made.inputs = inputs;
    made.outputs = {out};
    program_->equations.push_back(std::move(made));
    return out;
  }

  // The same arrangement of places as they were before they were wrapped.
  std::optional<Var> arranged(Var v, std::int64_t size) {
    const Equation* eqn = made_by(v);
    if (!eqn) return {};
    if (eqn->op != &wrap_ops().reshape && eqn->op != &wrap_ops().broadcast)
      return wrapped(*eqn, size);
    const auto source = arranged(eqn->inputs[0], size);
    return source ? std::optional(again(*eqn, {*source})) : std::nullopt;
  }

  std::optional<Found> without_wraps(const Equation& eqn, const Ints& dims) {
    const Shape& operand = source_.type(eqn.inputs[0]).shape;
    const auto size = [&](std::size_t k) { return operand[index(dims[k])]; };
    if (dims.size() == 1) {
      const auto places = arranged(eqn.inputs[1], size(0));
      return places ? std::optional(Found{*places, {size(0)}}) : std::nullopt;
    }
    // Components side by side.
    const Equation* parts = made_by(eqn.inputs[1], wrap_ops().concatenate);
    if (!parts || parts->inputs.size() != dims.size()) return {};
    const auto last = static_cast<std::int64_t>(type(eqn.inputs[1]).rank()) - 1;
    if (parts->params.integer(param::dimension) != last) return {};
    Found out{-1, Ints(dims.size(), 0)};
    Vars columns = parts->inputs;
    for (std::size_t k = 0; k < dims.size(); ++k) {
      const auto places = arranged(columns[k], size(k));
      if (!places) continue;
      columns[k] = *places;
      out.wraps[k] = size(k);
    }
    if (columns == parts->inputs) return {};
    out.places = again(*parts, columns);
    return out;
  }

  MutableProgram program_;
  const std::vector<int> made_by_;       // per variable of the source
  std::vector<const Array*> constants_;  // per variable of the source
  const Program& source_;
};

}  // namespace

ProgramPtr fold_index_wrap(const ProgramPtr& program) {
  const bool any = std::any_of(program->equations.begin(), program->equations.end(),
                               [](const Equation& eqn) { return counted_dims(eqn); });
  const MutableProgram changed = any ? Wrapper(*program).run() : nullptr;
  return changed ? eliminate_dead_code(changed) : program;
}

}  // namespace shardax
