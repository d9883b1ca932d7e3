// compile/scalar/scalar_suits.cpp - sizes of arrays, and estimates of time.
#include "compile/scalar/scalar_suits.h"

#include <algorithm>

#include "base/index.h"
#include "codegen/scalar/code.h"
#include "compile/fusion/fuse.h"
#include "compile/pipeline.h"
#include "compile/scalar/scalar_values.h"
#include "compile/tuning.h"

namespace shardax {
namespace {

// Calls f(equation, its program) for all equations but those of control, which have equations.
template <class F>
void each_equation(const Regions& regions, const F& f) {
  for (const ProgramPtr& source : regions.programs) {
    const ProgramPtr program = rewritten_body(source);
    for (const Equation& eqn : program->equations) {
      if (eqn.op->kind == Kind::control) {
        each_equation(eqn.op->regions(eqn.params), f);
      } else {
        f(eqn, *program);
      }
    }
  }
}

bool has_long_lists(const Regions& regions, int width) {
  bool found = false;
  each_equation(regions, [&](const Equation& eqn, const Program& program) {
    for (const Var v : eqn.outputs)
      found = found || registers_of(program.type(v), width) > tuning::scalar_values::few_registers;
  });
  return found;
}

// The number of loops and kernels that the programs are otherwise.
std::size_t steps_of(const Regions& regions) {
  std::size_t out = 0;
  for (const ProgramPtr& source : regions.programs) {
    const ProgramPtr program = rewritten_body(source);
    for (const FusionGroup& group : fuse(*program)) {
      const bool copies_nothing = std::ranges::all_of(
          group.equations, [&](int e) { return program->equations[index(e)].op->view != nullptr; });
      out += copies_nothing ? 0 : 1;
    }
    for (const Equation& eqn : program->equations) {
      if (eqn.op->kind == Kind::control) out += steps_of(eqn.op->regions(eqn.params));
    }
  }
  return out;
}

}  // namespace

bool calls_host(const Equation& eqn) {
  return !eqn.op->effect.empty() ||
         std::any_of(eqn.params.begin(), eqn.params.end(), [](const Params::Entry& entry) {
           return std::holds_alternative<FunctionPtr>(entry.second);
         });
}

bool suits(const Regions& regions, int width) {
  const auto fits = [&](const Equation& eqn, const Type& type) {
    return type.size() <= tuning::scalar_values::most_elements || registers_of(type, width) > 0 ||
           (width == 0 && (eqn.op->view || eqn.op->in_place));
  };
  return std::all_of(
      regions.programs.begin(), regions.programs.end(), [&](const ProgramPtr& source) {
        const ProgramPtr program = rewritten_body(source);
        return std::all_of(program->equations.begin(), program->equations.end(),
                           [&](const Equation& eqn) {
                             if (calls_host(eqn)) return false;
                             if (eqn.op->kind == Kind::control)
                               return eqn.op->regions && suits(eqn.op->regions(eqn.params), width);
                             return std::all_of(eqn.outputs.begin(), eqn.outputs.end(),
                                                [&](Var v) { return fits(eqn, program->type(v)); });
                           });
      });
}

// Loops over arrays with wider vectors are faster than many instructions on lists of registers.
bool is_worth_it(const Regions& regions, int width, const ScalarLoop& loop) {
  if (width == 0 || !has_long_lists(regions, width)) return true;
  return codegen::scalar_cost(loop.program) * tuning::scalar_values::instruction_ns <=
         static_cast<double>(steps_of(regions)) * tuning::scalar_values::step_ns;
}

}  // namespace shardax
