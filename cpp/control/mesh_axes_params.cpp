// control/mesh_axes_params.cpp - mesh axes as the params of shard_map, and as programs show them.
#include "array/checked_axis.h"
#include "base/errors.h"
#include "control/shard_map.h"

namespace shardax {
namespace {

using Blocks = MeshAxes::Blocks;
using BlockList = std::vector<Blocks>;

// Lists of blocks as integers: the axes of a dimension, -1; after the last dimension, -2.
Ints encoded(const BlockList& list) {
  Ints out;
  for (const Blocks& blocks : list) {
    for (const Ints& split : blocks) {
      out.append(split.begin(), split.end());
      out.push_back(-1);
    }
    out.push_back(-2);
  }
  return out;
}

BlockList decoded(const Ints& code) {
  BlockList out;
  Blocks blocks;
  Ints split;
  for (const std::int64_t item : code) {
    if (item >= 0) {
      split.push_back(item);
    } else if (item == -1) {
      blocks.push_back(std::exchange(split, {}));
    } else {
      out.push_back(std::exchange(blocks, {}));
    }
  }
  return out;
}

}  // namespace

bool MeshAxes::follows_types() const { return !axes.empty() && is_checked(axes[0].name); }

std::string MeshAxes::specs_text(const std::vector<Blocks>& list) const {
  std::string text;
  for (const Blocks& blocks : list) {
    std::size_t used = blocks.size();
    while (used > 0 && blocks[used - 1].empty()) --used;
    std::string spec;
    for (std::size_t d = 0; d < used; ++d) {
      std::vector<std::string> names;
      for (const std::int64_t axis : blocks[d]) names.push_back(text_of(axis));
      spec += concat(d ? ", " : "", entry_text(names));
    }
    text += concat(text.empty() ? "" : ", ", "P(", spec, used == 1 ? ",)" : ")");
  }
  return concat("(", text, list.size() == 1 ? ",)" : ")");
}

Params shard_map_params(const MeshAxes& mesh_axes, const ProgramPtr& body) {
  Ints sizes;
  for (const MeshAxes::Axis& axis : mesh_axes.axes) sizes.push_back(axis.size);
  return {{"axis_names", AxisNames{mesh_axes.names()}},
          {"axis_sizes", sizes},
          {"current", mesh_axes.current},
          {"given", mesh_axes.given},
          {"in_blocks", encoded(mesh_axes.in)},
          {"jaxpr", body},
          {"label", mesh_axes.mesh ? ParamValue(mesh_axes.mesh) : ParamValue(std::monostate{})},
          {"name", body->name},
          {"out_blocks", encoded(mesh_axes.out)}};
}

MeshAxes mesh_axes_of(const Params& params) {
  MeshAxes mesh_axes;
  const AxisSet& names = params.axes(param::axis_names);
  const Ints& sizes = params.ints(param::axis_sizes);
  if (names.size() != sizes.size())
    value_error("shard_map: ", names.size(), " axis_names and ", sizes.size(), " axis_sizes.");
  for (std::size_t k = 0; k < names.size(); ++k) mesh_axes.axes.push_back({names[k], sizes[k]});
  mesh_axes.current = params.flag(param::current);
  mesh_axes.given = params.flag(param::given);
  mesh_axes.in = decoded(params.ints(param::in_blocks));
  mesh_axes.out = decoded(params.ints(param::out_blocks));
  if (const auto* mesh = std::get_if<ShardingPtr>(params.find("label"))) mesh_axes.mesh = *mesh;
  if (encoded(mesh_axes.in) != params.ints(param::in_blocks) ||
      encoded(mesh_axes.out) != params.ints(param::out_blocks))
    value_error("shard_map: in_blocks or out_blocks end within a list.");
  return mesh_axes;
}

Params shown_shard_map(const Params& params) {
  const MeshAxes mesh_axes = mesh_axes_of(params);
  std::string mesh = "None";
  if (mesh_axes.mesh)
    mesh = mesh_axes.current ? abstract_mesh_text(*mesh_axes.mesh) : mesh_text(*mesh_axes.mesh);
  std::vector<std::string> sorted;
  for (const MeshAxes::Axis& axis : mesh_axes.axes) sorted.push_back(axis_text(axis.name));
  std::sort(sorted.begin(), sorted.end());
  return {{"check_vma", mesh_axes.follows_types()},
          {"in_specs", mesh_axes.specs_text(mesh_axes.in)},
          {"jaxpr", params.program(param::jaxpr)},
          {"mesh", mesh},
          {"newly_manual_axes", concat("frozenset({", quoted(sorted), "})")},
          {"out_specs", mesh_axes.specs_text(mesh_axes.out)}};
}

}  // namespace shardax
