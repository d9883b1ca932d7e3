// callables/transforms/vmap.h - vmap: a function over one element, applied along an axis of its
// arguments.
#pragma once

#include "callables/function.h"

namespace shardax::callables {

struct VmapOptions {
  Ref in_axes;
  Ref out_axes;
  std::string axis_name;                // "": unnamed
  std::int64_t axis_size = -1;          // -1: found from the arguments
  std::vector<std::string> split = {};  // the mesh axes that split what is mapped
};

// A function that runs `fun` under a batching trace at each call.
Ref make_vmap(PyObject* fun, VmapOptions options, PyObject* doc);

}  // namespace shardax::callables
