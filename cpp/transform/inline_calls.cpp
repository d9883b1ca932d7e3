// transform/inline_calls.cpp - calls as the programs that they call.
#include "transform/inline_calls.h"

#include <algorithm>

#include "ir/regions.h"
#include "trace/eval_program.h"
#include "trace/stage.h"

namespace shardax {
namespace {

bool holds_function(const Params& params) {
  return std::any_of(params.begin(), params.end(), [](const Params::Entry& entry) {
    return std::holds_alternative<FunctionPtr>(entry.second);
  });
}

Values evaluate_portable(const Program& program, const Values& inputs) {
  return eval_program(program, inputs, [](const Equation& eqn, const Values& in) {
    if (eqn.op->expand && find_op(eqn.op->name) != eqn.op) {  // a user's, lowered to a program
      return evaluate_portable(*eqn.op->expand(eqn.params, types_of(in)), in);
    }
    if (!eqn.op->regions) return shardax::bind(*eqn.op, eqn.params, in);
    Regions regions = regions_of(*eqn.op, eqn.params);
    if (holds_function(eqn.params) && regions.runs == ExecutionKind::once)
      return evaluate_portable(*regions.programs[0], in);
    for (ProgramPtr& body : regions.programs) body = inline_calls(body);
    return shardax::bind(*eqn.op, eqn.op->with_regions(eqn.params, regions), in);
  });
}

Values evaluate_inlined(const Program& program, const Values& inputs, const Op* kept) {
  return eval_program(program, inputs, [&](const Equation& eqn, const Values& in) {
    if (!eqn.op->regions || eqn.op == kept) return shardax::bind(*eqn.op, eqn.params, in);
    const Regions regions = regions_of(*eqn.op, eqn.params);
    if (regions.runs != ExecutionKind::once || regions.fixed)
      return shardax::bind(*eqn.op, eqn.params, in);
    return evaluate_inlined(*regions.programs[0], in, kept);
  });
}

}  // namespace

ProgramPtr inlined(const ProgramPtr& program, const Op* kept) {
  return stage_closed(
      program->input_types(),
      [&](const Values& in) { return evaluate_inlined(*program, in, kept); }, program->name);
}

ProgramPtr inline_calls(const ProgramPtr& program) {
  return stage_closed(
      program->input_types(), [&](const Values& in) { return evaluate_portable(*program, in); },
      program->name);
}

}  // namespace shardax
