// callables/staging/automatic_mesh.h - the mesh shown by types without being part of them.
//
// Types do not say how automatic axes split arrays, and no program depends on it. The sharding of a
// type shows the mesh nevertheless: that of the array, and during tracing that of the function's
// arguments.
#pragma once

#include "trace/trace.h"

namespace shardax::callables {

// While it lives, types show the mesh of the first of these arrays that lies on one.
class AutomaticMesh {
 public:
  explicit AutomaticMesh(const Values& arguments);
  ~AutomaticMesh();
  AutomaticMesh(const AutomaticMesh&) = delete;
  AutomaticMesh& operator=(const AutomaticMesh&) = delete;

 private:
  ShardingPtr outer_;
};
// Null: there is none.
const ShardingPtr& automatic_mesh();
// Over the mesh of an array whose axes are all automatic; else null.
ShardingPtr automatic_mesh_of(const Value& value);

}  // namespace shardax::callables
