// transform/inline_calls.h - programs with calls replaced by what they call.
#pragma once

#include "ir/program.h"

namespace shardax {

// Replaces calls of functions with rules of their own (custom_jvp, custom_vjp, custom_vmap), and
// checkpoints without policies, by their regions. The program computes the same, and holds nothing
// of Python but callbacks.
ProgramPtr inline_calls(const ProgramPtr& program);

// Replaces calls by their equations, except calls with rules of the user's own and calls by the op
// `kept`. Parts of a called function that depend on some inputs only then stand by themselves.
ProgramPtr inlined(const ProgramPtr& program, const Op* kept = nullptr);

}  // namespace shardax
