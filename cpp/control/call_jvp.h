// control/call_jvp.h - the derivative of a call is a call of the derivative of its program.
#pragma once

#include "control/control.h"

namespace shardax {

// `call` binds the op with another program, and operands for it: those of the call, then their
// tangents where there are any.
template <class Call>
JvpResult call_jvp(const ProgramPtr& body, const Values& in, const Values& t, Call&& call) {
  const std::vector<bool> nonzero = nonnull(t);
  const JvpProgram derivative = jvp_program(body, nonzero);
  const Values both = call(derivative.program, joined(in, select(t, nonzero)));
  const std::size_t outputs = body->outputs.size();
  return {part(both, 0, outputs),
          spread(part(both, outputs, both.size() - outputs), derivative.nonzero)};
}

}  // namespace shardax
