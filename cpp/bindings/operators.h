// bindings/operators.h - the number protocol and comparisons of Array.
#pragma once

#include <vector>

#include "bindings/array_type.h"

namespace shardax::bindings {

// The number slots for the type's specification.
const std::vector<PyType_Slot>& number_slots();
PyObject* array_compare(PyObject* a, PyObject* b, int comparison);

}  // namespace shardax::bindings
