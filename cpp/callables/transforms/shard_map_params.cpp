// callables/transforms/shard_map_params.cpp - from the blocks of mesh axes to PartitionSpecs.
#include "callables/transforms/shard_map_params.h"

#include <algorithm>

#include "array/checked_axis.h"
#include "array/process_axis.h"
#include "callables/python.h"
#include "callables/transforms/axes.h"
#include "control/shard_map.h"
#include "objects/sharding_conversion.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

constexpr std::string_view shown_names[] = {"check_vma", "in_specs", "mesh", "newly_manual_axes",
                                            "out_specs"};

// For each value, for each of its dimensions, the names of the axes that split it.
py::list names_of(const MeshAxes& mesh_axes, const std::vector<MeshAxes::Blocks>& all) {
  py::list out;
  for (const MeshAxes::Blocks& blocks : all) {
    py::list entries;
    for (const Ints& split : blocks) {
      py::list names;
      for (const std::int64_t axis : split) {
        if (!mesh_axes.across_processes(axis)) names.append(py::str(mesh_axes.text_of(axis)));
      }
      entries.append(py::tuple(names));
    }
    out.append(entries);
  }
  return out;
}

}  // namespace

void add_specs(const Params& params, py::dict& out) {
  if (!params.has("in_blocks")) return;
  const MeshAxes mesh_axes = mesh_axes_of(params);
  py::list names;
  for (const MeshAxes::Axis& axis : mesh_axes.axes) {
    if (!is_process_axis(axis.name)) names.append(py::str(written_axis(axis.name)));
  }
  const Ref mesh = checked(objects::describe_sharding(mesh_axes.mesh));
  const bool check = !mesh_axes.axes.empty() && is_checked(mesh_axes.axes[0].name);
  const Ref specs =
      call_python("_transform.shard_map.plan", "shown_params", names.ptr(),
                  names_of(mesh_axes, mesh_axes.in).ptr(), names_of(mesh_axes, mesh_axes.out).ptr(),
                  mesh, check, mesh_axes.current);
  pytree::check(PyDict_Update(out.ptr(), specs.get()));
}

bool is_shown_only(std::string_view name) {
  return std::ranges::find(shown_names, name) != std::end(shown_names);
}

}  // namespace shardax::callables
