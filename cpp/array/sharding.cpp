// array/sharding.cpp - shardings compared and shown.
#include "array/sharding.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "array/sharding_text.h"
#include "base/errors.h"
#include "base/index.h"

namespace shardax {

std::string entry_text(const std::vector<std::string>& axes) {
  if (axes.empty()) return "None";
  return axes.size() == 1 ? quoted(axes) : concat("(", quoted(axes), ")");
}

namespace {

// 'p' is automatic, and explicit where nobody asked for it is explicit all the same.
std::string_view name_of_type(char kind) {
  return kind == 'a' || kind == 'p' ? "Auto" : kind == 'm' ? "Manual" : "Explicit";
}
char type_at(const Sharding& sharding, std::size_t axis) {
  return sharding.axis_types.empty() ? 'a' : sharding.axis_types[axis];
}

// "'x': 2, axis_types=(Auto,)"
std::string axes_text(const Sharding& sharding) {
  std::string axes, types;
  for (std::size_t i = 0; i < sharding.mesh_axes.size(); ++i) {
    const char* separator = i > 0 ? ", " : "";
    axes += concat(separator, "'", sharding.mesh_axes[i], "': ", sharding.mesh_shape[i]);
    types += concat(separator, name_of_type(type_at(sharding, i)));
  }
  return concat(axes, ", axis_types=(", types, sharding.mesh_axes.size() == 1 ? "," : "", ")");
}

std::string_view memory_text(const Sharding& sharding) {
  return sharding.memory.empty() ? "device" : std::string_view(sharding.memory);
}

}  // namespace

std::string mesh_text(const Sharding& sharding) {
  return concat(sharding.devices.empty() ? "AbstractMesh(" : "Mesh(", axes_text(sharding), ")");
}

std::string abstract_mesh_text(const Sharding& sharding) {
  return concat("AbstractMesh(", axes_text(sharding),
                ", device_kind=cpu, num_cores=None, platform=cpu)");
}

std::string to_string(const Sharding& sharding) { return open_text(sharding, {}); }
std::string open_text(const Sharding& sharding, std::span<const std::int64_t> open) {
  if (!sharding.named)
    return concat("SingleDeviceSharding(device=CpuDevice(id=", sharding.devices[0],
                  "), memory_kind=", memory_text(sharding), ")");
  std::string spec;
  for (std::size_t d = 0; d < sharding.spec.size(); ++d) {
    const bool is_open = std::find(open.begin(), open.end(), d) != open.end();
    spec +=
        concat(spec.empty() ? "" : ", ", is_open ? "UNCONSTRAINED" : entry_text(sharding.spec[d]));
  }
  const char* comma = sharding.spec.size() == 1 ? "," : "";
  for (const auto& [name, axes] :
       {std::pair{"unreduced", &sharding.unreduced}, {"reduced", &sharding.reduced}}) {
    if (axes->empty()) continue;
    spec += concat(spec.empty() ? "" : ", ", name, "={", quoted(*axes), "}");
    comma = "";
  }
  return concat("NamedSharding(mesh=", mesh_text(sharding), ", spec=P(", spec, comma,
                "), memory_kind=", memory_text(sharding), ")");
}

bool Sharding::is_explicit(const std::string& axis) const {
  const auto at = std::find(mesh_axes.begin(), mesh_axes.end(), axis) - mesh_axes.begin();
  const auto k = index(at);
  return k < axis_types.size() && (axis_types[k] == 'e' || axis_types[k] == 'i');
}

std::vector<std::string> Sharding::explicit_split(std::size_t dimension) const {
  std::vector<std::string> out;
  if (dimension >= spec.size()) return out;
  for (const std::string& axis : spec[dimension]) {
    if (is_explicit(axis)) out.push_back(axis);
  }
  return out;
}

namespace {

void check_mesh(const Sharding& s) {
  if (s.mesh_axes.size() != s.mesh_shape.size())
    value_error("a mesh has ", s.mesh_axes.size(), " axes and ", s.mesh_shape.size(), " sizes.");
  std::int64_t count = 1;
  for (const std::int64_t size : s.mesh_shape) {
    if (size < 1 || __builtin_mul_overflow(count, size, &count) || count > INT32_MAX)
      value_error("a mesh has an axis of size ", size, ", or too many devices.");
  }
  if (!s.axis_types.empty() && (s.axis_types.size() != s.mesh_axes.size() ||
                                s.axis_types.find_first_not_of("aeimp") != std::string::npos))
    value_error("the axes of a mesh have the types '", s.axis_types, "'.");
  const auto devices = static_cast<std::int64_t>(s.devices.size());
  if (s.named ? devices != 0 && devices != count : devices == 0)
    value_error("a sharding over ", count, " devices lists ", devices, ".");
  if (std::any_of(s.devices.begin(), s.devices.end(), [](int id) { return id < 0; }))
    value_error("a device of a sharding has a negative id.");
}

}  // namespace

void check_sharding(const Sharding& s) {
  check_mesh(s);
  std::vector<std::string> seen;
  for (const std::vector<std::string>& entry : s.spec)
    seen.insert(seen.end(), entry.begin(), entry.end());
  for (const auto* sums : {&s.unreduced, &s.reduced})
    seen.insert(seen.end(), sums->begin(), sums->end());
  for (const std::vector<std::string>* names :
       {&std::as_const(s.mesh_axes), &std::as_const(seen)}) {
    std::vector<std::string> sorted = *names;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) value_error("a sharding names the axis '", *twice, "' twice.");
  }
  for (const std::string& name : seen) {
    if (std::find(s.mesh_axes.begin(), s.mesh_axes.end(), name) == s.mesh_axes.end())
      value_error("a sharding names the axis '", name, "', which its mesh does not have.");
  }
}

bool same_mesh(const Sharding& a, const Sharding& b) {
  return a.named == b.named && a.mesh_axes == b.mesh_axes && a.mesh_shape == b.mesh_shape &&
         a.devices == b.devices;
}

bool same_abstract_mesh(const Sharding& a, const Sharding& b) {
  if (a.mesh_axes != b.mesh_axes || a.mesh_shape != b.mesh_shape) return false;
  for (std::size_t i = 0; i < a.mesh_axes.size(); ++i) {
    if (name_of_type(type_at(a, i)) != name_of_type(type_at(b, i))) return false;
  }
  return true;
}

bool same_sharding(const ShardingPtr& a, const ShardingPtr& b) {
  if (a.get() == b.get()) return true;
  return a && b && same_mesh(*a, *b) && a->spec == b->spec && a->axis_types == b->axis_types &&
         a->unreduced == b->unreduced && a->reduced == b->reduced && a->memory == b->memory;
}

namespace {

Shared<Sharding> over_same_mesh(const Sharding& like, std::vector<std::vector<std::string>> spec) {
  Shared<Sharding> sharding(new Sharding);
  sharding->mesh_axes = like.mesh_axes;
  sharding->mesh_shape = like.mesh_shape;
  sharding->devices = like.devices;
  sharding->spec = std::move(spec);
  sharding->named = like.named;
  sharding->axis_types = like.axis_types;
  sharding->unreduced = like.unreduced;
  sharding->reduced = like.reduced;
  sharding->memory = like.memory;
  return sharding;
}

}  // namespace

ShardingPtr with_spec(const Sharding& like, std::vector<std::vector<std::string>> spec) {
  return ShardingPtr(over_same_mesh(like, std::move(spec)).get());
}

ShardingPtr with_memory(const Sharding& like, std::string memory) {
  Shared<Sharding> sharding = over_same_mesh(like, like.spec);
  sharding->unreduced = like.unreduced;
  sharding->reduced = like.reduced;
  sharding->memory = std::move(memory);
  return ShardingPtr(sharding.get());
}

ShardingPtr with_sums(const Sharding& like, std::vector<std::string> unreduced,
                      std::vector<std::string> reduced) {
  const Shared<Sharding> sharding = over_same_mesh(like, like.spec);
  sharding->unreduced = std::move(unreduced);
  sharding->reduced = std::move(reduced);
  return ShardingPtr(sharding.get());
}

ShardingPtr with_layout(const ShardingPtr& like, std::vector<std::int64_t> layout) {
  if (!like || like->layout == layout) return like;
  const Shared<Sharding> sharding = over_same_mesh(*like, like->spec);
  sharding->layout = std::move(layout);
  return ShardingPtr(sharding.get());
}

ShardingPtr of_cotangent(const ShardingPtr& primal) {
  if (!primal || (primal->unreduced.empty() && primal->reduced.empty())) return primal;
  return with_sums(*primal, primal->reduced, primal->unreduced);
}

}  // namespace shardax
