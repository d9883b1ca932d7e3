// objects/array/dlpack.h - arrays exchanged with other libraries by the DLPack protocol, in one
// memory.
#pragma once

#include "objects/array/array_type.h"

namespace shardax::objects {

// The method __dlpack__ of arrays: a capsule with a tensor on the array's memory. An exported
// tensor keeps the memory alive, even after x.delete(). Arrays that repeat elements are exported as
// a copy.
PyObject* export_dlpack(PyObject* self, PyObject* args, PyObject* kwargs);

// from_dlpack(capsule, copy): an array on the tensor's memory, which is released with its last use.
// It is copied where `copy` is True, where dtypes of 64 bits are off, and never where it is False.
void init_dlpack(PyObject* module);

}  // namespace shardax::objects
