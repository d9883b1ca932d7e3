// compile/lower/liveness.cpp - uses of variables by units.
#include "compile/lower/liveness.h"

#include "base/index.h"
#include "ir/op.h"

namespace shardax {

std::vector<int> count_uses(const Program& program) {
  std::vector<int> uses(program.types.size(), 0);
  for (const Equation& eqn : program.equations) {
    for (const Var v : eqn.inputs) ++uses[index(v)];
  }
  for (const Var v : program.outputs) ++uses[index(v)];
  return uses;
}

std::vector<bool> stored_variables(const Program& program, const std::vector<FusionGroup>& units) {
  std::vector<int> unit_of(program.types.size(), -1);
  std::vector<bool> stored(program.types.size(), false);
  for (std::size_t u = 0; u < units.size(); ++u) {
    for (int e : units[u].equations) {
      const Equation& eqn = program.equations[index(e)];
      for (Var v : eqn.outputs) {
        unit_of[index(v)] = static_cast<int>(u);
        if (eqn.op->kind == Kind::reduction) stored[index(v)] = true;
      }
    }
  }
  for (std::size_t u = 0; u < units.size(); ++u) {
    for (int e : units[u].equations) {
      for (Var v : program.equations[index(e)].inputs) {
        if (unit_of[index(v)] != static_cast<int>(u)) stored[index(v)] = true;
      }
    }
  }
  for (Var v : program.outputs) stored[index(v)] = true;
  return stored;
}

std::vector<int> last_uses(const Program& program, const std::vector<FusionGroup>& units) {
  std::vector<int> last(program.types.size(), -1);
  for (std::size_t u = 0; u < units.size(); ++u) {
    for (int e : units[u].equations) {
      for (Var v : program.equations[index(e)].inputs) last[index(v)] = static_cast<int>(u);
    }
  }
  for (Var v : program.outputs) last[index(v)] = static_cast<int>(units.size());
  return last;
}

}  // namespace shardax
