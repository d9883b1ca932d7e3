// api/staging.h - staging for Python: what make_jaxpr, eval_shape and the control-flow functions of
// shardax.lax are made of.
#pragma once

#include "api/traced.h"

namespace pybind11 {
class module_;
}

namespace shardax::api {

// Types of the leaves of (args, kwargs), which may be ShapedArray, ShapeDtypeStruct or arrays.
Types abstract_types(PyObject* fun, const CallForm& form, std::span<const Ref> leaves);

// Adds Staged, stage, stage_function, bind and their helpers to the module.
void init_staging(pybind11::module_& module);

}  // namespace shardax::api
