// callables/auto_jit.h - compositions that are jitted where they are called on arrays.
#pragma once

#include "callables/function.h"

namespace shardax::callables {

// A function that behaves as `fun` does. Where all its arguments are arrays, numbers or sequences
// of arrays, and the static ones can be told apart by ==, it is jitted; with `at_once` only where
// nothing is being staged, so that programs show `fun`'s ops and no call, and from the second call
// with the same types on.
Ref make_auto_jit(PyObject* fun, StaticSpec statics, bool at_once);

}  // namespace shardax::callables
