// ir/remat.cpp - equations that may run again, and their copies.
#include "ir/remat.h"

namespace shardax {

const Equation* Rematerializer::maker_within(Var v, RematEffort effort) const {
  const int e = maker(v);
  if (e < 0) return nullptr;
  const Equation& eqn = program_.equations[index(e)];
  if (eqn.outputs.size() != 1) return nullptr;
  const bool view = effort >= RematEffort::cheap_or_view && viewed(v) >= 0;
  // Parts of complex numbers are lanes of their own: their functions take longer.
  const bool quick =
      effort == RematEffort::quick_too && eqn.op->quick && !is_complex(program_.type(v).dtype);
  return eqn.op->cheap || view || quick ? &eqn : nullptr;
}

Var Rematerializer::viewed(Var v) const {
  const int e = maker(v);
  if (e < 0) return -1;
  const Equation& eqn = program_.equations[index(e)];
  return eqn.op->view && eqn.inputs.size() == 1 ? eqn.inputs[0] : -1;
}

void rename_inputs(Equation& eqn, const Renamed& renamed) {
  for (Var& v : eqn.inputs) {
    if (const auto found = renamed.find(v); found != renamed.end()) v = found->second;
  }
}

Var append_copy(Program& program, Equation eqn, Renamed& renamed) {
  const Var original = eqn.outputs[0], copy = program.add(program.type(original));
  rename_inputs(eqn, renamed);
  eqn.outputs[0] = copy;
  renamed.emplace(original, copy);
  program.equations.push_back(std::move(eqn));
  return copy;
}

}  // namespace shardax
