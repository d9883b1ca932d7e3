// objects/array/buffer.h - the buffer protocol: memory of arrays lent to Python, read-only, and
// read from objects that lend theirs.
#pragma once

#include <vector>

#include "objects/array/array_type.h"

namespace shardax::objects {

// The buffer slots of ArrayImpl. A lent buffer keeps the memory alive, even after x.delete().
std::vector<PyType_Slot> buffer_slots();

// A copy of the buffer that `object` lends, in row-major order and of the canonical dtype. Null,
// with no Python error set, where it lends nothing or nothing of a known dtype.
ArrayPtr read_buffer(PyObject* object);

// The same elements in memory of their own, with the same sharding. Elements that are kept once
// stay so in `copied`; `dense_copy` is row-major.
ArrayPtr copied(const Array& array);
ArrayPtr dense_copy(const Array& array);
// An array over the same memory that is deleted, or donated, by itself; tracers stay as they are.
Value another(const Value& value);

// An object that lends the elements of an array; as unsigned integers of the same width where the
// dtype has no buffer format.
Ref lending_object(const ArrayPtr& array);

}  // namespace shardax::objects
