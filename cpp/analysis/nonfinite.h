// analysis/nonfinite.h - jax_debug_nans and jax_debug_infs: errors at the first NaN or infinity.
//
// While a flag is set, the results of compiled programs and of single ops are inspected. A program
// whose result has a NaN runs again op by op. The error can then name the op, its line, the device
// and the element. While none is set, nothing is inspected.
#pragma once

#include "trace/trace.h"

namespace shardax {

// Sets the kinds of numbers to search for.
void watch_nonfinite(bool nans, bool infs);
bool watching_nonfinite();

// Throw FloatingPointError if `out` has such a number.
void inspect_results(const Program& program, const Values& in, const Values& out);
void inspect_results(const Op& op, const Values& in, const Values& out);

}  // namespace shardax
