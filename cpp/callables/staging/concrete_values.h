// callables/staging/concrete_values.h - a test for arguments whose elements are known.
#pragma once

#include <span>

#include "callables/python.h"

namespace shardax::callables {

// An array that exists, a NumPy array or scalar of numbers, or a Python number.
bool is_concrete_number(PyObject* object);

// Appends the leaves as Values. False if one is a tracer, a deleted array, an integer that no dtype
// of the current mode holds, or no array or number. `out` is then unspecified.
bool concrete_values(std::span<const Ref> leaves, Values& out);

}  // namespace shardax::callables
