// array/process_mesh.h - meshes of devices that several processes have.
//
// Each mesh axis is cut into processes and the devices of each (array/process_axis.h). The slab, a
// process's part of an array, is a slice. Along a split dimension, the processes' parts come one
// after the other.
#pragma once

#include "array/sharding.h"
#include "array/type.h"

namespace shardax {

// Is a device of the mesh another process's?
bool spans_processes(const Sharding& sharding);
inline bool spans_processes(const ShardingPtr& sharding) {
  return sharding && spans_processes(*sharding);
}

struct ProcessMesh {
  struct Axis {
    std::string processes;       // the name of its process axis
    std::int64_t process_count;  // 1: each process has all of it
    std::int64_t local_count;    // devices of a process along it
    std::int64_t position;       // of this process
  };
  std::vector<Axis> axes;  // of each mesh axis
};
// Throws NotImplementedError where the mesh is no grid of processes with a grid of devices each, or
// this process has none of its devices.
ProcessMesh process_mesh(const Sharding& sharding);

// The sharding over processes alone: over a mesh of the process axes, each process one device.
ShardingPtr over_processes(const Sharding& sharding);

// The slice of an array that this process has.
struct Slab {
  Shape start, size;
};
Slab slab_of(const Shape& whole, const Sharding& sharding);

}  // namespace shardax
