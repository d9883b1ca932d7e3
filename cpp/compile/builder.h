// compile/builder.h - makes a program equation by equation, merging those that are the same.
#pragma once

#include <unordered_map>

#include "base/function_ref.h"
#include "base/index.h"
#include "ir/core_ops.h"

namespace shardax {

class Builder {
 public:
  explicit Builder(const Program& source);

  Var input(Type type);
  Var constant(ArrayPtr value);
  // Adds an equation, or finds the equal one that is there (ops without effects).
  Vars emit(const Op& op, const Params& params, const Vars& inputs, const LocationPtr& location);
  // The same for an op of one output.
  Var emit1(const Op& op, const Params& params, const Vars& inputs, const LocationPtr& location);

  const Type& type(Var v) const { return program_->type(v); }
  // The equation that defines `v`, or null for inputs and constants. Valid until the next emit.
  const Equation* definition(Var v) const;
  // As `definition`, if it is of that op.
  const Equation* defined_by(Var v, const Op& op) const;
  const Array* constant_value(Var v) const;
  MutableProgram finish(const std::vector<Var>& outputs);

  // The number of uses in the source program of the value that became `v`; 0 for values that
  // rewriting made.
  int uses(Var v) const { return uses_[index(v)]; }
  void count_uses(Var v, int uses) {
    int& known = uses_[index(v)];
    known = std::max(known, uses);
  }

 private:
  // A new variable, made by that equation (-1: by none).
  Var add(Type type, int equation, const Array* value = nullptr);

  MutableProgram program_;
  std::vector<int> definitions_;  // per variable: index of its equation, or -1
  std::unordered_multimap<std::size_t, std::size_t> known_;  // hash -> equation
  std::vector<const Array*> constants_;                      // per variable: its value, or null
  std::unordered_multimap<std::size_t, Var> scalars_;        // hash -> constant of rank 0
  std::vector<int> uses_;                                    // per variable
};

// The program again, equation by equation: `step` gives the results of each, made by `builder` of
// the operands that it is given.
MutableProgram emit_again(const Program& source, Builder& builder,
                          FunctionRef<Vars(const Equation&, const Vars&)> step);

}  // namespace shardax
