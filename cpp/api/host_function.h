// api/host_function.h - Python callables as Functions that programs carry.
#pragma once

#include <string>

#include "api/python.h"
#include "ir/op.h"

namespace pybind11 {
class module_;
}

namespace shardax::api {

// `callable` takes a list of arrays (None: a zero that has no array) and returns a sequence of
// groups, each a sequence of arrays or None. `name` is what programs print.
FunctionPtr host_function(PyObject* callable, std::string name);

// Adds the ops that carry Functions to the module: custom rules, checkpoint, callbacks.
void init_host_functions(pybind11::module_& module);

}  // namespace shardax::api
