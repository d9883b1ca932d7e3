// objects/array/arrays.h - functions of the module that make and inspect arrays.
#pragma once

#include "objects/array/array_type.h"

namespace shardax::objects {

// Adds array, asarray, broadcast_arrays, broadcast_shapes, sharding metadata and the like.
void init_arrays(PyObject* module);

}  // namespace shardax::objects
