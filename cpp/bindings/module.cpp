// bindings/module.cpp - the extension module shardax._core: a list of what it is made of.
#include <pybind11/pybind11.h>

#include "bindings/api.h"
#include "bindings/array_type.h"
#include "bindings/arrays.h"
#include "bindings/config.h"
#include "bindings/dtypes.h"
#include "bindings/errors.h"
#include "bindings/functions.h"
#include "bindings/index.h"

namespace shardax {
void init_pytree(pybind11::module_& m);
}

PYBIND11_MODULE(_core, m) {
  using namespace shardax::bindings;
  try {
    shardax::init_pytree(m);
    init_errors(m.ptr());
    init_config(m.ptr());
    init_dtypes(m.ptr());
    init_array(m.ptr());
    init_arrays(m.ptr());
    init_functions(m.ptr());
    init_index(m.ptr());
    init_api(m);
  } catch (const PythonError&) {
    throw pybind11::error_already_set();
  }
}
