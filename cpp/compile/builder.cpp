// compile/builder.cpp - value numbering.
#include "compile/builder.h"

namespace shardax {

Builder::Builder(const Program& source) : program_(new Program) { program_->name = source.name; }

Var Builder::input(Type type) {
  const Var v = program_->add(std::move(type));
  definitions_.push_back(-1);
  program_->inputs.push_back(v);
  return v;
}

Var Builder::constant(ArrayPtr value) {
  if (value->type().rank() == 0) {
    for (const Constant& c : program_->constants) {
      const Array& other = *c.value;
      if (other.type() == value->type() &&
          std::memcmp(other.data(), value->data(),
                      static_cast<std::size_t>(itemsize(other.dtype()))) == 0) {
        return c.var;
      }
    }
  }
  const Var v = program_->add(value->type());
  definitions_.push_back(-1);
  constants_[v] = value.get();
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
    eqn.outputs.push_back(program_->add(std::move(out)));
    definitions_.push_back(static_cast<int>(program_->equations.size()));
  }
  known_.emplace(key, program_->equations.size());
  program_->equations.push_back(eqn);
  return eqn.outputs;
}

Var Builder::emit1(const Op& op, const Params& params, const Vars& inputs,
                   const LocationPtr& location) {
  return emit(op, params, inputs, location)[0];
}

const Equation* Builder::definition(Var v) const {
  const int e = definitions_[static_cast<std::size_t>(v)];
  return e < 0 ? nullptr : &program_->equations[static_cast<std::size_t>(e)];
}

const Equation* Builder::defined_by(Var v, const Op& op) const {
  const Equation* eqn = definition(v);
  return eqn && eqn->op == &op ? eqn : nullptr;
}

const Array* Builder::constant_value(Var v) const {
  const auto it = constants_.find(v);
  return it == constants_.end() ? nullptr : it->second;
}

int Builder::uses(Var v) const {
  const auto it = uses_.find(v);
  return it == uses_.end() ? 0 : it->second;
}

MutableProgram Builder::finish(const std::vector<Var>& outputs) {
  program_->outputs = outputs;
  return program_;
}

}  // namespace shardax
