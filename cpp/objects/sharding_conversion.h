// objects/sharding_conversion.h - shardings of arrays as Python describes them.
#pragma once

#include "objects/array/array_type.h"

namespace shardax::objects {

// Adds with_sharding, get_sharding and the like.
void init_labels(PyObject* module);

// A new reference to the description of one of Python's shardings: (mesh_axes, mesh_shape,
// device_ids, spec, named), or to None for null.
PyObject* describe_sharding(const ShardingPtr& sharding);
// A new reference to its order of dimensions, a tuple, or to None where that is theirs.
PyObject* describe_layout(const ShardingPtr& sharding);
// The reverse.
ShardingPtr sharding_from(PyObject* description);

}  // namespace shardax::objects
