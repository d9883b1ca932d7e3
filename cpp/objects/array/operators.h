// objects/array/operators.h - the number protocol and comparisons of Array.
#pragma once

#include <vector>

#include "objects/array/convert.h"

namespace shardax::objects {

// The number slots for the type's specification.
const std::vector<PyType_Slot>& number_slots();
// a ** b for parsed operands: an exponent that is a known integer scalar is static.
Value power_of(const Operand& left, PyObject* b, const Operand& right);
PyObject* array_compare(PyObject* a, PyObject* b, int comparison);

}  // namespace shardax::objects
