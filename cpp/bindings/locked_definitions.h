// bindings/locked_definitions.h - the core's lock for what is defined with pybind11.
#pragma once

#include <Python.h>

namespace shardax {

// Makes the functions and classes of a module, and of those within it, hold the core's lock. It
// replaces pybind11's entry points. Without free threads, nothing needs that.
void lock_definitions(PyObject* module);

}  // namespace shardax
