// callables/staging/miss_log.h - explanations of cache misses, for `jax_explain_cache_misses`.
#pragma once

#include <vector>

#include "callables/cache.h"

namespace shardax::callables {

// Logs the difference of a call's signature from those `before` it, of calls that `fun` has a
// program for.
void explain_miss(PyObject* fun, const CallForm& form, const Types& types,
                  const std::vector<Signature>& before);

}  // namespace shardax::callables
