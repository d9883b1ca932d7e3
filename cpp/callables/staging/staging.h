// callables/staging/staging.h - staging for make_jaxpr, eval_shape and the control flow of
// shardax.lax.
#pragma once

#include "callables/staging/traced.h"

namespace pybind11 {
class module_;
class tuple;
class dict;
}  // namespace pybind11

namespace shardax::callables {

// Types of the leaves of (args, kwargs), which may be ShapedArray, ShapeDtypeStruct or arrays.
Types abstract_types(PyObject* fun, const CallForm& form, std::span<const Ref> leaves);

// fun(*args, **kwargs) as a program, where leaves may be as above; `api` is named in errors.
Staged stage_abstract(const std::string& api, PyObject* fun, const pybind11::tuple& args,
                      const pybind11::dict& kwargs, const StaticSpec& statics,
                      bool arrays_captured = false, bool references = false);

// Adds Staged, stage, bind and their helpers to the module.
void init_staging(pybind11::module_& module);
// Adds the functions that make regions of control flow of them.
void init_staged_regions(pybind11::module_& module);

}  // namespace shardax::callables
