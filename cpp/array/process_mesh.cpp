// array/process_mesh.cpp - cutting mesh axes into processes and their devices.
#include "array/process_mesh.h"

#include <algorithm>

#include "array/process_axis.h"
#include "base/errors.h"
#include "base/index.h"
#include "runtime/processes.h"

namespace shardax {
namespace {

int process_of(int device) { return device / runtime::most_devices; }

Shape unravel(std::size_t position, const std::vector<std::int64_t>& shape) {
  Shape out(shape.size(), 0);
  auto rest = static_cast<std::int64_t>(position);
  for (std::size_t k = shape.size(); k-- > 0;) {
    out[k] = rest % shape[k];
    rest /= shape[k];
  }
  return out;
}
std::size_t ravel(const Shape& at, const std::vector<std::int64_t>& shape) {
  std::int64_t out = 0;
  for (std::size_t k = 0; k < shape.size(); ++k) out = out * shape[k] + at[k];
  return index(out);
}

// Do the devices along axis k come in runs of `length` that one process has?
bool runs_of(const Sharding& mesh, std::size_t k, std::int64_t length) {
  for (std::size_t i = 0; i < mesh.devices.size(); ++i) {
    Shape first = unravel(i, mesh.mesh_shape);
    first[k] -= first[k] % length;
    if (process_of(mesh.devices[i]) != process_of(mesh.devices[ravel(first, mesh.mesh_shape)]))
      return false;
  }
  return true;
}

std::int64_t local_count(const Sharding& mesh, std::size_t k) {
  std::int64_t length = mesh.mesh_shape[k];
  while (mesh.mesh_shape[k] % length != 0 || !runs_of(mesh, k, length)) --length;
  return length;
}

[[noreturn]] void no_grid(const Sharding& mesh, std::string_view why) {
  fail(ErrorKind::not_implemented_error, mesh_text(mesh), ": ", why,
       ". Order the devices so that each mesh axis lists the devices of one process after those of "
       "another, as jax.make_mesh does.");
}

// The processes of the mesh, row-major over counts of the axes.
std::vector<int> grid_of(const Sharding& mesh, const std::vector<std::int64_t>& counts,
                         const std::vector<std::int64_t>& local) {
  std::size_t size = 1;
  for (const std::int64_t count : counts) size *= index(count);
  std::vector<int> grid(size, -1);
  for (std::size_t i = 0; i < mesh.devices.size(); ++i) {
    Shape at = unravel(i, mesh.mesh_shape);
    for (std::size_t k = 0; k < at.size(); ++k) at[k] /= local[k];
    grid[ravel(at, counts)] = process_of(mesh.devices[i]);
  }
  std::vector<int> sorted = grid;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    no_grid(mesh, "a process has devices at several places of the mesh");
  return grid;
}

// Processes that differ along axis k alone, in groups.
ProcessGroups groups_along(const std::vector<int>& grid, const std::vector<std::int64_t>& counts,
                           std::size_t k) {
  ProcessGroups groups;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    Shape at = unravel(i, counts);
    if (at[k] != 0) continue;
    groups.emplace_back();
    for (; at[k] < counts[k]; ++at[k]) groups.back().push_back(grid[ravel(at, counts)]);
  }
  return groups;
}

}  // namespace

bool spans_processes(const Sharding& sharding) {
  return runtime::process_count() > 1 &&
         !std::ranges::all_of(sharding.devices, runtime::is_local_device);
}

ProcessMesh process_mesh(const Sharding& mesh) {
  std::vector<std::int64_t> counts, local;
  for (std::size_t k = 0; k < mesh.mesh_shape.size(); ++k) {
    local.push_back(local_count(mesh, k));
    counts.push_back(mesh.mesh_shape[k] / local[k]);
  }
  const std::vector<int> grid = grid_of(mesh, counts, local);
  const auto own = std::ranges::find(grid, runtime::process_index());
  if (own == grid.end()) no_grid(mesh, "this process has none of its devices");
  const Shape position = unravel(index(own - grid.begin()), counts);
  ProcessMesh out;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    out.axes.push_back({process_axis_text(mesh.mesh_axes[k], groups_along(grid, counts, k)),
                        counts[k], local[k], position[k]});
  }
  return out;
}

namespace {

const ProcessMesh::Axis& axis_of(const ProcessMesh& mesh, const Sharding& sharding,
                                 const std::string& name) {
  const auto at = std::ranges::find(sharding.mesh_axes, name) - sharding.mesh_axes.begin();
  return mesh.axes[index(at)];
}

// A process axis behind devices of one process would interleave the processes' parts.
void check_slices(const Sharding& sharding, const ProcessMesh& mesh) {
  for (const std::vector<std::string>& split : sharding.spec) {
    bool devices = false;
    for (const std::string& name : split) {
      const ProcessMesh::Axis& axis = axis_of(mesh, sharding, name);
      if (devices && axis.process_count > 1) {
        fail(ErrorKind::not_implemented_error, "P", entry_text(split), ": the axis '", name,
             "' lies across processes, and one before it within them: their parts of a dimension "
             "would be interleaved. Name '",
             name, "' first.");
      }
      devices = devices || axis.local_count > 1;
    }
  }
}

std::vector<std::string> process_axes_of(const std::vector<std::string>& names,
                                         const Sharding& sharding, const ProcessMesh& mesh) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    const ProcessMesh::Axis& axis = axis_of(mesh, sharding, name);
    if (axis.process_count > 1) out.push_back(axis.processes);
  }
  return out;
}

}  // namespace

ShardingPtr over_processes(const Sharding& sharding) {
  const ProcessMesh mesh = process_mesh(sharding);
  check_slices(sharding, mesh);
  Shared<Sharding> out(new Sharding);
  for (const ProcessMesh::Axis& axis : mesh.axes) {
    if (axis.process_count == 1) continue;
    out->mesh_axes.push_back(axis.processes);
    out->mesh_shape.push_back(axis.process_count);
  }
  for (const int device : sharding.devices) {
    const int first = process_of(device) * runtime::most_devices;
    if (std::ranges::find(out->devices, first) == out->devices.end()) out->devices.push_back(first);
  }
  for (const std::vector<std::string>& split : sharding.spec)
    out->spec.push_back(process_axes_of(split, sharding, mesh));
  out->unreduced = process_axes_of(sharding.unreduced, sharding, mesh);
  out->reduced = process_axes_of(sharding.reduced, sharding, mesh);
  return ShardingPtr(out.get());
}

Slab slab_of(const Shape& whole, const Sharding& sharding) {
  const ProcessMesh mesh = process_mesh(sharding);
  check_slices(sharding, mesh);
  Slab slab{Shape(whole.size(), 0), whole};
  for (std::size_t d = 0; d < sharding.spec.size() && d < whole.size(); ++d) {
    std::int64_t position = 0, count = 1;
    for (const std::string& name : sharding.spec[d]) {
      const ProcessMesh::Axis& axis = axis_of(mesh, sharding, name);
      position = position * axis.process_count + axis.position;
      count *= axis.process_count;
    }
    if (whole[d] % count != 0) {
      value_error("an array of shape ", to_string(whole), " cannot be split over ", count,
                  " processes along dimension ", d, ": they have equal parts.");
    }
    slab.size[d] = whole[d] / count;
    slab.start[d] = position * slab.size[d];
  }
  return slab;
}

}  // namespace shardax
