// array/sharding.h - shardings of arrays: metadata only, as all devices share one memory.
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
  // Mesh axes over which an array is still to be summed: each device has a term, and the array
  // stands for the sum. Then the axes over which its cotangents will be.
  std::vector<std::string> unreduced = {};
  std::vector<std::string> reduced = {};
  // The kind of memory that the user asked for, where it is not "device". Nothing moves: there is
  // one memory.
  std::string memory = {};
  // The order of dimensions, from major to minor, that the user asked for, where it is another than
  // theirs. It is the label of one array; results of the array have the default order.
  std::vector<std::int64_t> layout = {};

  // Is it part of types how that axis splits arrays?
  bool is_explicit(const std::string& axis) const;
  // The axes, of those that split a dimension, that types name.
  std::vector<std::string> explicit_split(std::size_t dimension) const;
  // Do types show that it is in the host's memory?
  bool on_host() const { return memory == "pinned_host"; }
  // Is there an axis whose splits are part of types?
  bool is_explicit() const { return axis_types.find_first_of("ei") != std::string::npos; }
};
using ShardingPtr = Shared<const Sharding>;
// Throws ValueError where it does not hold together: sizes and axes that do not go with the mesh,
// an axis that splits two dimensions.
void check_sharding(const Sharding& sharding);
// As Python shows it: "NamedSharding(mesh=Mesh('x': 2, axis_types=(Auto,)), spec=P('x',), ...)".
std::string to_string(const Sharding& sharding);
// "Mesh('x': 2, axis_types=(Auto,))", or AbstractMesh where it has no devices.
std::string mesh_text(const Sharding& sharding);
// "AbstractMesh('x': 2, axis_types=(Auto,), device_kind=cpu, num_cores=None, platform=cpu)": the
// mesh of devices without them.
std::string abstract_mesh_text(const Sharding& sharding);
// An entry of a spec: "None", "'x'" or "('x', 'y')".
std::string entry_text(const std::vector<std::string>& axes);
bool same_mesh(const Sharding& a, const Sharding& b);
// The same axes, of the same types, whatever the devices.
bool same_abstract_mesh(const Sharding& a, const Sharding& b);
// The same sharding, apart from layouts, which types do not show.
bool same_sharding(const ShardingPtr& a, const ShardingPtr& b);
// Over the same devices, split in another way, with the same sums left to do.
ShardingPtr with_spec(const Sharding& like, std::vector<std::vector<std::string>> spec);
// The same with another kind of memory: "" is the device's.
ShardingPtr with_memory(const Sharding& like, std::string memory);
// The same with other sums left to do.
ShardingPtr with_sums(const Sharding& like, std::vector<std::string> unreduced,
                      std::vector<std::string> reduced);
// The same with that layout; nothing else keeps one.
ShardingPtr with_layout(const ShardingPtr& like, std::vector<std::int64_t> layout);
// The sharding of an array's cotangents: reduced axes of the array are unreduced here, and
// conversely.
ShardingPtr of_cotangent(const ShardingPtr& primal);

}  // namespace shardax
