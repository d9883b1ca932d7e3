// bindings/api.h - jit, pmap, vmap, grad and their relatives in the module _core.api.
#pragma once

namespace pybind11 {
class module_;
}

namespace shardax::objects {

// Adds the submodule `api`, and installs the functions that the core asks of Python. They give the
// user's current line, and the description of a tracer in errors.
void init_api(pybind11::module_& module);

}  // namespace shardax::objects
