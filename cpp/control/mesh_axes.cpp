// control/mesh_axes.cpp - mapped axes of a mesh as nested pmaps over views of arrays.
#include "array/process_axis.h"
#include "base/index.h"
#include "base/lists.h"
#include "control/control.h"
#include "control/shard_map.h"
#include "ir/core_ops.h"
#include "ops/by_op.h"
#include "ops/ops.h"

namespace shardax {
namespace {

// The dimensions of an array within the first `level` axes: the number of the axis that lists
// blocks, or -1 for a dimension of blocks.
Ints dimensions_within(const MeshAxes& mesh_axes, const MeshAxes::Blocks& blocks,
                       std::size_t level) {
  Ints out;
  for (const Ints& split : blocks) {
    for (const std::int64_t axis : split) {
      if (mesh_axes.axis(axis) && axis >= static_cast<std::int64_t>(level)) out.push_back(axis);
    }
    out.push_back(-1);
  }
  return out;
}

// The dimension along which axis `level` maps an operand or result; -1: it does not.
std::int64_t mapped_dimension(const MeshAxes& mesh_axes, const MeshAxes::Blocks& blocks,
                              std::size_t level) {
  const Ints dims = dimensions_within(mesh_axes, blocks, level);
  const auto at = std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(level));
  return at == dims.end() ? -1 : at - dims.begin();
}

Ints mapped_dimensions(const MeshAxes& mesh_axes, const std::vector<MeshAxes::Blocks>& all,
                       std::size_t level) {
  Ints out;
  for (const MeshAxes::Blocks& blocks : all)
    out.push_back(mapped_dimension(mesh_axes, blocks, level));
  return out;
}

// The type of a value within the first `level` axes.
Type type_within(const MeshAxes& mesh_axes, const Type& block, const MeshAxes::Blocks& blocks,
                 std::size_t level) {
  Type out = block;
  out.shape.clear();
  std::size_t next = 0;
  for (const std::int64_t axis : dimensions_within(mesh_axes, blocks, level))
    out.shape.push_back(axis < 0 ? block.shape[next++] : mesh_axes.axes[index(axis)].size);
  for (std::size_t k = level; k < mesh_axes.axes.size(); ++k)
    out.varying = without(out.varying, mesh_axes.axes[k].name);
  return out;
}

Values bind_level(const MeshAxes& mesh_axes, const ProgramPtr& inner, std::size_t level,
                  const Values& in) {
  const Op& pmap = core_ops().pmap;
  return shardax::bind(pmap,
                       {{"axis_name", AxisNames{{mesh_axes.axes[level].name}}},
                        {"axis_size", mesh_axes.axes[level].size},
                        {"in_axes", mapped_dimensions(mesh_axes, mesh_axes.in, level)},
                        {"out_axes", mapped_dimensions(mesh_axes, mesh_axes.out, level)},
                        {"name", inner->name},
                        {"jaxpr", inner}},
                       in);
}

// The program within the first `level` axes.
ProgramPtr program_within(const MeshAxes& mesh_axes, const ProgramPtr& body, std::size_t level) {
  if (level == mesh_axes.axes.size()) return body;
  const ProgramPtr inner = program_within(mesh_axes, body, level + 1);
  const Types blocks = body->input_types();
  Types types;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    types.push_back(type_within(mesh_axes, blocks[i], mesh_axes.in[i], level));
  return stage_closed(
      types, [&](const Values& in) { return bind_level(mesh_axes, inner, level, in); }, body->name);
}

// Dimensions that other axes of the mesh may split stay as they are.
Value labelled(const MeshAxes& mesh_axes, const Value& value, const MeshAxes::Blocks& blocks,
               const Type& block) {
  if (!mesh_axes.mesh) return value;
  Ints open;
  const bool partial = mesh_axes.axes.size() < mesh_axes.mesh->mesh_axes.size();
  const ShardingPtr label = mesh_axes.label(blocks, block);
  for (std::size_t d = 0; d < blocks.size() && partial && !block.sharding; ++d) {
    if (blocks[d].empty()) open.push_back(static_cast<std::int64_t>(d));
  }
  return ops::sharding_constraint(value, label, open);
}

Value reshaped(const Value& value, const Shape& shape) {
  return value->shape() == shape ? value : ops::reshape(value, shape);
}

Value spread_in_grid(const MeshAxes& mesh_axes, const Value& whole, std::size_t i) {
  const Type block = mesh_axes.block(whole->type(), mesh_axes.in[i]);
  const Value x = labelled(mesh_axes, whole, mesh_axes.in[i], block);
  return reshaped(x, type_within(mesh_axes, block, mesh_axes.in[i], 0).shape);
}

Value gathered(const MeshAxes& mesh_axes, const Value& value, const Type& block, std::size_t i) {
  Shape shape;
  std::int64_t blocks = 1;
  const Ints dims = dimensions_within(mesh_axes, mesh_axes.out[i], 0);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    blocks *= value->shape()[d];
    if (dims[d] >= 0) continue;
    shape.push_back(blocks);
    blocks = 1;
  }
  return labelled(mesh_axes, reshaped(value, shape), mesh_axes.out[i], block);
}

Values by_op_within(const MeshAxes& mesh_axes, const ValueFunction& body, std::size_t level,
                    const Values& in) {
  if (level == mesh_axes.axes.size()) return body(in);
  const auto [name, size] = mesh_axes.axes[level];
  const Ints in_axes = mapped_dimensions(mesh_axes, mesh_axes.in, level);
  std::vector<bool> mapped;
  for (const std::int64_t axis : in_axes) mapped.push_back(axis >= 0);
  Batched out = batch([&](const Values& v) { return by_op_within(mesh_axes, body, level + 1, v); },
                      mapped_first(in, in_axes), mapped, {size, name, true});
  for (std::size_t i = 0; i < out.out.size(); ++i)
    out.out[i] = place_mapped(out.out[i], out.batched[i],
                              mapped_dimension(mesh_axes, mesh_axes.out[i], level), size);
  return out.out;
}

}  // namespace

AxisSet MeshAxes::names() const {
  AxisSet out;
  for (const Axis& axis : axes) out.push_back(axis.name);
  return out;
}

std::int64_t MeshAxes::count(const Ints& split) const {
  std::int64_t out = 1;
  for (const std::int64_t axis : split) {
    if (const Axis* own = this->axis(axis)) out *= own->size;
  }
  return out;
}

const MeshAxes::Axis* MeshAxes::axis(std::int64_t entry) const {
  return entry < outside(0) ? &axes[index(entry)] : nullptr;
}

std::int64_t MeshAxes::outside(std::ptrdiff_t mesh_axis) const {
  return static_cast<std::int64_t>(axes.size()) + mesh_axis;
}

const std::string& MeshAxes::text_of(std::int64_t entry) const {
  if (const Axis* own = axis(entry)) return axis_text(own->name);
  return mesh->mesh_axes[index(entry) - axes.size()];
}

bool MeshAxes::across_processes(std::int64_t entry) const {
  const Axis* own = axis(entry);
  return own && is_process_axis(own->name);
}

Ints MeshAxes::unmentioned(const Blocks& blocks) const {
  Ints out;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(axes.size()); ++k) {
    const bool mentioned = std::any_of(blocks.begin(), blocks.end(), [&](const Ints& split) {
      return std::find(split.begin(), split.end(), k) != split.end();
    });
    if (!mentioned) out.push_back(k);
  }
  return out;
}

namespace {

// The sharding of a block: over the explicit axes that are not in the mesh_axes.
ShardingPtr of_block(const MeshAxes& mesh_axes, const ShardingPtr& whole) {
  if (!whole) return nullptr;
  Shared<Sharding> out(new Sharding);
  out->mesh_axes = whole->mesh_axes;
  out->mesh_shape = whole->mesh_shape;
  out->devices = whole->devices;
  out->axis_types = whole->axis_types;
  const auto in_grid = [&](const std::string& name) {
    return std::any_of(mesh_axes.axes.begin(), mesh_axes.axes.end(),
                       [&](const MeshAxes::Axis& axis) { return axis_text(axis.name) == name; });
  };
  for (std::size_t k = 0; k < out->mesh_axes.size(); ++k) {
    if (in_grid(out->mesh_axes[k])) out->axis_types[k] = 'm';
  }
  if (!out->is_explicit()) return nullptr;
  for (const std::vector<std::string>& names : whole->spec) {
    out->spec.emplace_back();
    std::remove_copy_if(names.begin(), names.end(), std::back_inserter(out->spec.back()), in_grid);
  }
  return ShardingPtr(out.get());
}

}  // namespace

ShardingPtr MeshAxes::label(const Blocks& blocks, const Type& block) const {
  std::vector<std::vector<std::string>> spec;
  for (const Ints& split : blocks) {
    const std::size_t d = spec.size();
    spec.emplace_back();
    for (const std::int64_t entry : split) {
      if (!across_processes(entry)) spec.back().push_back(text_of(entry));
    }
    if (!block.sharding || d >= block.sharding->spec.size()) continue;
    // An axis that a batch is labelled with stands in both.
    for (const std::string& name : block.sharding->spec[d]) {
      if (!has(spec.back(), name)) spec.back().push_back(name);
    }
  }
  while (!mesh->is_explicit() && !spec.empty() && spec.back().empty()) spec.pop_back();
  return with_spec(*mesh, std::move(spec));
}

Type MeshAxes::block(Type whole, const Blocks& blocks) const {
  whole.sharding = of_block(*this, whole.sharding);
  for (std::size_t d = 0; d < blocks.size(); ++d) {
    whole.shape[d] /= count(blocks[d]);
    for (const std::int64_t axis : blocks[d]) {
      if (const Axis* own = this->axis(axis))
        whole.varying = join(whole.varying, AxisSet{own->name});
    }
  }
  return whole;
}

Type MeshAxes::whole(Type block, const Blocks& blocks) const {
  block.sharding = nullptr;
  for (std::size_t d = 0; d < blocks.size(); ++d) block.shape[d] *= count(blocks[d]);
  for (const Axis& axis : axes) block.varying = without(block.varying, axis.name);
  return block;
}

ProgramPtr program_of_mesh(const MeshAxes& mesh_axes, const ProgramPtr& body) {
  if (mesh_axes.axes.empty()) return body;
  const ProgramPtr inner = program_within(mesh_axes, body, 1);
  Types wholes = body->input_types();
  for (std::size_t i = 0; i < wholes.size(); ++i)
    wholes[i] = mesh_axes.whole(wholes[i], mesh_axes.in[i]);
  return stage_closed(
      wholes,
      [&](const Values& in) {
        Values views;
        for (std::size_t i = 0; i < in.size(); ++i)
          views.push_back(spread_in_grid(mesh_axes, in[i], i));
        Values out = bind_level(mesh_axes, inner, 0, views);
        for (std::size_t i = 0; i < out.size(); ++i)
          out[i] = gathered(mesh_axes, out[i], body->type(body->outputs[i]), i);
        return out;
      },
      body->name);
}

Values run_on_mesh(const MeshAxes& mesh_axes, const ValueFunction& body, const Values& in) {
  Values views;
  for (std::size_t i = 0; i < in.size(); ++i) views.push_back(spread_in_grid(mesh_axes, in[i], i));
  const auto by_op = [&](const Values& blocks) {
    const ops::ByOpScope scope;
    return body(blocks);
  };
  Values out = by_op_within(mesh_axes, by_op, 0, views);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = gathered(mesh_axes, out[i], Type(), i);
  return out;
}

}  // namespace shardax
