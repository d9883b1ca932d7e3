// objects/indexing/index.h - x[...] and x.at[...] as ops.
#pragma once

#include "objects/array/array_type.h"

namespace shardax::objects {

// The mapping and sequence slots of Array.
PyObject* array_getitem(PyObject* self, PyObject* index);
int array_setitem(PyObject* self, PyObject* index, PyObject* value);
PyObject* array_iter(PyObject* self);
PyObject* array_sequence_item(PyObject* self, Py_ssize_t i);
Py_ssize_t array_length(PyObject* self);

// x[index] for `index` as Python gives it.
Value get_item(const Value& x, PyObject* index);

// Adds the functions of shardax/numpy/_indexing/at.py to the module.
void init_index(PyObject* module);

}  // namespace shardax::objects
