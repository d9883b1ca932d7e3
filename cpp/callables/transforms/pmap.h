// callables/transforms/pmap.h - pmap: a function of one device's values, run on all devices of a
// mapped axis.
#pragma once

#include "callables/function.h"

namespace shardax::callables {

struct PmapOptions {
  std::string axis_name;  // "": unnamed
  Ref in_axes;
  Ref out_axes;
  StaticSpec statics;
  std::vector<int> donated;
  std::int64_t axis_size = -1;  // -1: found from the arguments, or the number of devices
  std::vector<int> devices;     // ids; empty: the first ones
  bool debug = false;           // op by op, with concrete values of all devices
};

// A function that stages `fun` once per signature as one device's program and runs that over the
// device axis as one op.
Ref make_pmap(PyObject* fun, PmapOptions options);

}  // namespace shardax::callables
