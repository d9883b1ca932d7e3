// objects/functions/functions.h - jnp's elementwise functions and lax's, as callables without a
// Python frame.
//
// A table row per function gives its name, its parameters, its op and its promotion. The same rows
// are the submodules `functions` (jnp: promotion, broadcasting) and `lax` (neither).
#pragma once

#include "numpy/promote.h"
#include "objects/array/array_type.h"

namespace shardax::objects {

struct FunctionRow {
  const char* name;
  const char* parameters;  // "x1, x2"
  const char* record;      // the op, or null where `compose` does the work
  numpy::Promote promote = numpy::Promote::any;
  Value (*compose)(const Values&) = nullptr;
  const char* doc = nullptr;     // null: the record's
  bool by_name = false;          // may arguments be given by name?
  const char* option = nullptr;  // a keyword besides: "accuracy", "out_dtype"
};

// A callable of type shardax.Function for a row, which must outlive the interpreter. With
// `strict`, operands are not promoted: as lax, which asks for equal dtypes.
PyObject* make_function(const FunctionRow& row, const char* module, bool strict);

// Adds the submodules and the generic `bind`.
void init_functions(PyObject* module);

}  // namespace shardax::objects
