// compile/builder.h - makes a program equation by equation, merging those that are the same.
#pragma once

#include <unordered_map>

#include "compile/known.h"

namespace shardax {

class Builder {
 public:
  explicit Builder(const Program& source);

  Var input(Type type);
  Var constant(ArrayPtr value);
  // Adds an equation, or finds the equal one that is there (ops without effects).
  Vars emit(const Op& op, const Params& params, const Vars& inputs, const LocationPtr& location);
  // Of one output.
  Var emit1(const Op& op, const Params& params, const Vars& inputs,
            const LocationPtr& location);

  const Type& type(Var v) const { return program_->type(v); }
  // The equation that defines `v`, or null for inputs and constants. Valid until the next emit.
  const Equation* definition(Var v) const;
  // As `definition`, if it is of that op.
  const Equation* defined_by(Var v, const Op& op) const;
  const Array* constant_value(Var v) const;
  MutableProgram finish(const std::vector<Var>& outputs);

  // How often the source program uses what became `v`; 0 for what rewriting made.
  int uses(Var v) const;
  void count_uses(Var v, int uses) { uses_[v] = std::max(uses_[v], uses); }

 private:
  MutableProgram program_;
  std::vector<int> definitions_;  // per variable: index of its equation, or -1
  std::unordered_multimap<std::size_t, std::size_t> known_;  // hash -> equation
  std::unordered_map<Var, const Array*> constants_;
  std::unordered_map<Var, int> uses_;
};

}  // namespace shardax
