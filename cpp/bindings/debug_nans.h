// bindings/debug_nans.h - jax_debug_nans and jax_debug_infs: an error where one first appears.
//
// While a flag is set, results of ops on arrays are inspected; a program whose result has a NaN
// runs again op by op, so that the error names the op. While none is set, nothing is inspected.
#pragma once

#include "bindings/errors.h"

namespace shardax::bindings {

// Sets what is looked for.
void watch_nans(bool nans, bool infs);
bool watching_nans();

// Throws FloatingPointError `invalid value (nan) encountered in log` where `out`, which `program`
// gave for `in`, has what is looked for. For callers that run programs themselves.
void check_program_results(const Program& program, const Values& in, const Values& out);

}  // namespace shardax::bindings
