// objects/array/constant_dedup.h - NumPy arrays that a traced function uses several times.
#pragma once

#include "array/array.h"
#include "pytree/ref.h"

namespace shardax::objects {

// A NumPy array as a Value. While a function is traced, one that is met again, unchanged, is the
// same Value, so that its program keeps it once.
Value deduplicated_constant(PyObject* object);
// Called where the outermost trace of a thread ends.
void forget_numpy_arrays();

}  // namespace shardax::objects
