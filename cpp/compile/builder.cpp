// compile/builder.cpp - value numbering.
#include "compile/builder.h"

#include <string_view>

#include "base/index.h"

namespace shardax {

namespace {

// The bytes of a scalar.
std::string_view bytes_of(const Array& scalar) {
  return {reinterpret_cast<const char*>(scalar.data()), index(itemsize(scalar.dtype()))};
}

}  // namespace

Builder::Builder(const Program& source) : program_(new Program) {
  program_->name = source.name;
  known_.reserve(source.equations.size());
}

Var Builder::add(Type type, int equation, const Array* value) {
  definitions_.push_back(equation);
  constants_.push_back(value);
  uses_.push_back(0);
  return program_->add(std::move(type));
}

Var Builder::input(Type type) {
  const Var v = add(std::move(type), -1);
  program_->inputs.push_back(v);
  return v;
}

Var Builder::constant(ArrayPtr value) {
  const bool is_scalar = value->type().rank() == 0;
  std::size_t key = 0;
  if (is_scalar) {
    const std::string_view bytes = bytes_of(*value);
    key = std::hash<std::string_view>{}(bytes);
    const auto [first, last] = scalars_.equal_range(key);
    for (auto it = first; it != last; ++it) {
      const Array& other = *constant_value(it->second);
      if (bytes_of(other) == bytes && other.type() == value->type()) return it->second;
    }
  }
  const Var v = add(value->type(), -1, value.get());
  if (is_scalar) scalars_.emplace(key, v);
  program_->constants.push_back({v, std::move(value)});
  return v;
}

Vars Builder::emit(const Op& op, const Params& params, const Vars& inputs,
                   const LocationPtr& location) {
  std::size_t key = mix(std::hash<const void*>{}(&op), hash(params));
  key = mix_all(key, inputs);
  const bool effects =
      !op.effect.empty() || (op.kind == Kind::control && has_effects({&op, params, {}, {}, {}}));
  if (!effects) {
    const auto [first, last] = known_.equal_range(key);
    for (auto it = first; it != last; ++it) {
      const Equation& other = program_->equations[it->second];
      if (other.op == &op && other.inputs == inputs && other.params == params) return other.outputs;
    }
  }
  Types in;
  for (Var v : inputs) in.push_back(type(v));
  Equation eqn{&op, params, inputs, {}, location};
  for (Type& out : infer_types(op, in, params)) {
    eqn.outputs.push_back(add(std::move(out), static_cast<int>(program_->equations.size())));
  }
  known_.emplace(key, program_->equations.size());
  program_->equations.push_back(std::move(eqn));
  return program_->equations.back().outputs;
}

Var Builder::emit1(const Op& op, const Params& params, const Vars& inputs,
                   const LocationPtr& location) {
  return emit(op, params, inputs, location)[0];
}

const Equation* Builder::definition(Var v) const {
  const int e = definitions_[index(v)];
  return e < 0 ? nullptr : &program_->equations[index(e)];
}

const Equation* Builder::defined_by(Var v, const Op& op) const {
  const Equation* eqn = definition(v);
  return eqn && eqn->op == &op ? eqn : nullptr;
}

const Array* Builder::constant_value(Var v) const { return constants_[index(v)]; }

MutableProgram Builder::finish(const std::vector<Var>& outputs) {
  program_->outputs = outputs;
  return program_;
}

MutableProgram emit_again(const Program& source, Builder& builder,
                          FunctionRef<Vars(const Equation&, const Vars&)> step) {
  std::vector<Var> vars(source.types.size());
  const auto at = [&](Var v) -> Var& { return vars[index(v)]; };
  for (Var v : source.inputs) at(v) = builder.input(source.type(v));
  for (const Constant& c : source.constants) at(c.var) = builder.constant(c.value);
  for (const Equation& eqn : source.equations) {
    Vars in;
    for (Var v : eqn.inputs) in.push_back(at(v));
    const Vars out = step(eqn, in);
    for (std::size_t i = 0; i < out.size(); ++i) at(eqn.outputs[i]) = out[i];
  }
  std::vector<Var> outputs;
  for (Var v : source.outputs) outputs.push_back(at(v));
  return builder.finish(outputs);
}

}  // namespace shardax
