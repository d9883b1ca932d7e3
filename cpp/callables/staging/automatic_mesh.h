// callables/staging/automatic_mesh.h - the mesh shown by types without being part of them.
//
// How automatic axes split arrays is not said in types, and no program depends on it. Whoever asks
// for the sharding of a type sees the mesh nevertheless: that of the array, and while a function is
// traced that of its arguments.
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
