// callables/transforms/shard_map.h - shard_map: a function of blocks of arrays, run on all devices
// of a mesh.
#pragma once

#include "callables/function.h"

namespace shardax::callables {

// A function that stages `fun` once per signature as one device's program and runs that over the
// axes of a mesh. `plan` (shardax/_transform/shard_map/plan.py) knows mesh and specs.
Ref make_shard_map(PyObject* fun, PyObject* plan);

}  // namespace shardax::callables
