// objects/arrays.h - functions of the module that make and inspect arrays.
#pragma once

#include "objects/array_type.h"

namespace shardax::objects {

// Adds array, asarray, broadcast_arrays, broadcast_shapes, sharding metadata and the like.
void init_arrays(PyObject* module);

// A new reference to what Python's shardings are made from: (mesh_axes, mesh_shape, device_ids,
// spec, named), or to None for null.
PyObject* describe_sharding(const ShardingPtr& sharding);
// The reverse.
ShardingPtr sharding_from(PyObject* description);

}  // namespace shardax::objects
