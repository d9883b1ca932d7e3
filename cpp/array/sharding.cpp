// array/sharding.cpp - shardings compared and shown.
#include "array/sharding.h"

#include "base/errors.h"

namespace shardax {

std::string to_string(const Sharding& sharding) {
  if (!sharding.named)
    return concat("SingleDeviceSharding(device=CpuDevice(id=", sharding.devices[0],
                  "), memory_kind=device)");
  std::string mesh, kinds, spec;
  for (std::size_t i = 0; i < sharding.mesh_axes.size(); ++i) {
    const char* separator = i > 0 ? ", " : "";
    mesh += concat(separator, "'", sharding.mesh_axes[i], "': ", sharding.mesh_shape[i]);
    const char kind = sharding.axis_types.empty() ? 'a' : sharding.axis_types[i];
    kinds += concat(separator, kind == 'a' || kind == 'p' ? "Auto" : kind == 'm' ? "Manual" : "Explicit");
  }
  for (const std::vector<std::string>& names : sharding.spec) {
    std::string entry;
    for (const std::string& name : names)
      entry += concat(entry.empty() ? "" : ", ", "'", name, "'");
    if (names.size() > 1) entry = concat("(", entry, ")");
    spec += concat(spec.empty() ? "" : ", ", names.empty() ? "None" : entry);
  }
  return concat("NamedSharding(mesh=Mesh(", mesh, ", axis_types=(", kinds,
                sharding.mesh_axes.size() == 1 ? "," : "", ")), spec=P(", spec,
                sharding.spec.size() == 1 ? "," : "", "), memory_kind=device)");
}

bool same_mesh(const Sharding& a, const Sharding& b) {
  return a.named == b.named && a.mesh_axes == b.mesh_axes && a.mesh_shape == b.mesh_shape &&
         a.devices == b.devices;
}

bool same_sharding(const ShardingPtr& a, const ShardingPtr& b) {
  if (a.get() == b.get()) return true;
  return a && b && same_mesh(*a, *b) && a->spec == b->spec && a->axis_types == b->axis_types;
}

ShardingPtr with_spec(const Sharding& like, std::vector<std::vector<std::string>> spec) {
  Shared<Sharding> sharding(new Sharding);
  sharding->mesh_axes = like.mesh_axes;
  sharding->mesh_shape = like.mesh_shape;
  sharding->devices = like.devices;
  sharding->spec = std::move(spec);
  sharding->named = like.named;
  sharding->axis_types = like.axis_types;
  return ShardingPtr(sharding.get());
}

}  // namespace shardax
