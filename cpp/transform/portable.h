// transform/portable.h - programs without functions of the host language.
#pragma once

#include "ir/program.h"

namespace shardax {

// The same program with the bodies of functions that have rules of their own (custom_jvp,
// custom_vjp, custom_vmap) in place of the calls, and checkpoints without policies: it computes the
// same, and holds nothing of Python but callbacks.
ProgramPtr portable(const ProgramPtr& program);

}  // namespace shardax
