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

// The time of the loops and kernels that the programs are otherwise.
double nanoseconds_of_steps(const Regions& regions) {
  double out = 0;
  for (const ProgramPtr& source : regions.programs) {
    const ProgramPtr program = rewritten_body(source);
    for (const FusionGroup& group : fuse(*program)) {
      bool copies_nothing = true;
      std::int64_t elements = 0;
      for (const int e : group.equations) {
        const Equation& eqn = program->equations[index(e)];
        copies_nothing = copies_nothing && eqn.op->view != nullptr;
        for (const Var v : eqn.outputs) elements = std::max(elements, program->type(v).size());
      }
      if (copies_nothing) continue;
      out += tuning::scalar_values::step_ns +
             tuning::scalar_values::element_ns * static_cast<double>(elements);
    }
    for (const Equation& eqn : program->equations) {
      if (eqn.op->kind == Kind::control) out += nanoseconds_of_steps(eqn.op->regions(eqn.params));
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
         nanoseconds_of_steps(regions);
}

}  // namespace shardax
