// callables/program/primitive.h - primitives that users make: ops whose rules call Python.
//
// A program holds one like any other op. The rules of its record convert operands and call
// functions of shardax/_transform/primitives.py, which look up the user's registrations. Its only
// param holds the user's parameters, any Python objects. Records are kept for the life of the
// process.
#pragma once

#include <pybind11/cast.h>

#include "callables/host_function.h"
#include "ir/op.h"

namespace pybind11 {
class module_;
}

namespace shardax::callables {

// An op, as equations, policies and registries name it. One Python object stands for each op.
struct PrimitiveObject {
  const Op* op;
};
// A new reference to the object that stands for the op.
Ref wrap_primitive(const Op& op);

// The user's parameters among those of an equation, or null: a dict.
PyObject* user_params(const Params& params);

// The parameters of an equation of that op: for a user's, the dict itself.
Params op_params(const Op& op, const pybind11::dict& params);

void init_primitives(pybind11::module_& module);

}  // namespace shardax::callables
