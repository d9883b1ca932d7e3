// callables/control_flow_cache.h - compiled control flow of eager calls, by functions and types.
//
// The first call of such a function with these functions and types runs as it is written, in
// Python. From the second on it is a program, as a jitted function's is: flattened, looked up and
// run without Python. The first of the functions, by identity, owns the kept programs; the others
// are weakly referenced. Calls that are given tracers, or that are made while something is staged,
// are none of ours.
#pragma once

#include "callables/function.h"

namespace shardax::callables {

// The arguments that are functions (or sequences of them), and others that are no arrays. Values of
// the latter must be None, bool, int or str.
struct ControlFlowOptions {
  StaticSpec functions;
  StaticSpec statics;
};

// A function that behaves as `fun` does. `name` is the name of the traced function in errors.
Ref make_control_flow_cache(PyObject* fun, const char* name, ControlFlowOptions options);

}  // namespace shardax::callables
