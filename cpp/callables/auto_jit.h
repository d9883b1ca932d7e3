// callables/auto_jit.h - compositions that are jitted where they are called on arrays.
#pragma once

#include "callables/function.h"

namespace shardax::callables {

// A function that behaves as `fun` does. It is jitted if all its arguments are arrays, numbers or
// sequences of arrays, and the static ones compare by ==. With `at_once`, it is jitted from the
// second call with the same types on, and only while nothing is staged. Programs then show `fun`'s
// ops.
Ref make_auto_jit(PyObject* fun, StaticSpec statics, bool at_once);

}  // namespace shardax::callables
