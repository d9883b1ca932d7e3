// trace/eval_program.h - a program on Values, equation by equation.
#pragma once

#include "base/index.h"
#include "base/stack.h"
#include "ir/sharding_given.h"
#include "runtime/interrupt.h"
#include "trace/trace.h"

namespace shardax {

// A constant as ops take it. While they are recorded, a scalar is an array of its own. A scalar
// that nobody else holds stays a number of the program that is recorded.
inline Value constant_operand(const Value& value) {
  if (value->type().rank() > 0 || !staging_in_progress()) return value;
  const Array& array = as_array(value);
  return view_of(array, array.type(), array.strides(), 0);
}

// The outputs, where step(eqn, in) gives the results of an equation.
template <class Step>
Values eval_program(const Program& program, const Values& inputs, Step&& step) {
  check_stack("a program within programs");
  const ShardingGiven asked_already;
  Values env(program.types.size());
  const auto at = [&](Var v) -> Value& { return env[index(v)]; };
  for (std::size_t i = 0; i < inputs.size(); ++i) at(program.inputs[i]) = inputs[i];
  for (const Constant& c : program.constants) at(c.var) = constant_operand(c.value);
  Values in;
  for (const Equation& eqn : program.equations) {
    runtime::poll_caller();
    const LocationScope location(eqn.location);
    const NamesScope names(nested(current_names(), eqn.names));
    in.clear();
    for (Var v : eqn.inputs) in.push_back(at(v));
    Values out = step(eqn, std::as_const(in));
    for (std::size_t i = 0; i < out.size(); ++i) at(eqn.outputs[i]) = std::move(out[i]);
  }
  Values outputs;
  for (Var v : program.outputs) outputs.push_back(at(v));
  return outputs;
}

}  // namespace shardax
