// transform/inline_calls.h - programs with calls replaced by what they call.
#pragma once

#include "ir/program.h"

namespace shardax {

// The same program with the regions of functions that have rules of their own (custom_jvp,
// custom_vjp, custom_vmap) in place of the calls, and checkpoints without policies: it computes the
// same, and holds nothing of Python but callbacks.
ProgramPtr inline_calls(const ProgramPtr& program);

// The same program with the equations of what it calls, but for calls with rules of the user's own
// and calls by the op `kept`: what of a called function depends on some inputs only stands by
// itself.
ProgramPtr inlined(const ProgramPtr& program, const Op* kept = nullptr);

}  // namespace shardax
