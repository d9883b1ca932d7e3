// array/sharding.h - where the shards of an array lie. Metadata only: all devices share one memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ref_counted.h"

namespace shardax {

// A mesh of devices and, per dimension, the mesh axes over which an array is split.
struct Sharding final : public RefCounted {
  std::vector<std::string> mesh_axes;
  std::vector<std::int64_t> mesh_shape;
  std::vector<int> devices;                    // ids, row major over mesh_shape
  std::vector<std::vector<std::string>> spec;  // per dimension, the mesh axes that split it
  bool named = true;                           // false: a single device
  // Per mesh axis 'a'uto, 'e'xplicit, 'i'mplied (explicit, though nobody has asked for it) or
  // 'm'anual; empty: all are automatic.
  std::string axis_types = {};

  // Is there an axis whose splits are part of types?
  bool is_explicit() const { return axis_types.find_first_of("ei") != std::string::npos; }
};
using ShardingPtr = Shared<const Sharding>;
// As Python shows it: "NamedSharding(mesh=Mesh('x': 2, axis_types=(Auto,)), spec=P('x',), ...)".
std::string to_string(const Sharding& sharding);
bool same_mesh(const Sharding& a, const Sharding& b);
bool same_sharding(const ShardingPtr& a, const ShardingPtr& b);
// Over the same devices, split in another way.
ShardingPtr with_spec(const Sharding& like, std::vector<std::vector<std::string>> spec);

}  // namespace shardax
