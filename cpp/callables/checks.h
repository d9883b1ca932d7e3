// callables/checks.h - checks and checkify for Python.
#pragma once

namespace pybind11 {
class module_;
}

namespace shardax::callables {

// Adds check, check_error, checkify and CheckTable to the module.
void init_checks(pybind11::module_& module);

}  // namespace shardax::callables
