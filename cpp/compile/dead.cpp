// compile/dead.cpp - removal of unused equations.
#include "compile/passes.h"
#include "ir/op.h"

namespace shardax {

ProgramPtr eliminate_dead(const ProgramPtr& program) {
  std::vector<bool> used(program->types.size(), false);
  const auto mark = [&](Var v) { used[static_cast<std::size_t>(v)] = true; };
  for (Var v : program->outputs) mark(v);
  std::vector<bool> kept(program->equations.size(), false);
  for (std::size_t e = program->equations.size(); e-- > 0;) {
    const Equation& eqn = program->equations[e];
    bool needed = has_effects(eqn);
    for (Var v : eqn.outputs) needed = needed || used[static_cast<std::size_t>(v)];
    if (!needed) continue;
    kept[e] = true;
    for (Var v : eqn.inputs) mark(v);
  }
  const bool all_constants =
      std::all_of(program->constants.begin(), program->constants.end(),
                  [&](const Constant& c) { return used[static_cast<std::size_t>(c.var)]; });
  if (all_constants && std::find(kept.begin(), kept.end(), false) == kept.end()) return program;
  MutableProgram out = copy_of(*program);
  out->equations.clear();
  for (std::size_t e = 0; e < kept.size(); ++e) {
    if (kept[e]) out->equations.push_back(program->equations[e]);
  }
  std::erase_if(out->constants,
                [&](const Constant& c) { return !used[static_cast<std::size_t>(c.var)]; });
  return out;
}

}  // namespace shardax
