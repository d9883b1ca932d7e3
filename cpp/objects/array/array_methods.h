// objects/array/array_methods.h - the slots, methods and properties of the Python type Array.
#pragma once

#include "objects/array/array_type.h"

namespace shardax::objects {

// Tables for the type's specification; they live for the life of the process.
PyMethodDef* array_methods();
PyGetSetDef* array_properties();

// module.name(args...) of the package's Python modules, found at first use and cached by the
// address of `name` (a literal).
PyObject* call_package_function(const char* module, const char* name, PyObject* const* args,
                                Py_ssize_t count, PyObject* names);

}  // namespace shardax::objects
