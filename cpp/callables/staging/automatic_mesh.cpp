// callables/staging/automatic_mesh.cpp - the mesh of the thread that traces.
#include "callables/staging/automatic_mesh.h"

#include <utility>

#include "base/per_thread.h"

namespace shardax::callables {
namespace {
ShardingPtr& current() { return per_thread<ShardingPtr, AutomaticMesh>(); }
}  // namespace

const ShardingPtr& automatic_mesh() { return current(); }

// The devices of a pmap's results were chosen by nobody.
ShardingPtr automatic_mesh_of(const Value& value) {
  if (!value || value->is_tracer()) return nullptr;
  const ShardingPtr& own = as_array(value).sharding();
  const bool chosen = own && own->named && !own->axis_types.starts_with('p');
  return chosen && !own->is_explicit() ? own : nullptr;
}

AutomaticMesh::AutomaticMesh(const Values& arguments) : outer_(current()) {
  for (const Value& value : arguments) {
    ShardingPtr own = automatic_mesh_of(value);
    if (!own) continue;
    current() = std::move(own);
    return;
  }
}
AutomaticMesh::~AutomaticMesh() { current() = std::move(outer_); }

}  // namespace shardax::callables
