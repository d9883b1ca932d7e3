// control/shard_map.cpp - the op shard_map: a per-device program, run over the axes of a mesh.
//
// The rules are those of pmap (control/pmap.cpp), with blocks in place of slices.
#include "control/shard_map.h"

#include <algorithm>

#include "array/checked_axis.h"
#include "base/errors.h"
#include "base/index.h"
#include "control/control.h"
#include "ir/core_ops.h"
#include "ir/limits.h"
#include "ops/collectives/collective.h"
#include "ops/ops.h"
#include "trace/stage.h"

namespace shardax {
namespace {

extern const Op shard_map_op;

using Blocks = MeshAxes::Blocks;
using BlockList = std::vector<Blocks>;

Values bind_grid(const MeshAxes& mesh_axes, const ProgramPtr& body, const Values& in) {
  return shardax::bind(shard_map_op, shard_map_params(mesh_axes, body), in);
}

JvpResult shard_map_jvp(const Params& params, const Values& in, const Values& t) {
  MeshAxes mesh_axes = mesh_axes_of(params);
  mesh_axes.given = false;
  const std::vector<bool> nonzero = nonnull(t);
  const ProgramPtr& body = params.program(param::jaxpr);
  const JvpProgram derivative = [&] {
    const MeshAxesScope scope(mesh_axes);
    return jvp_program(body, nonzero);
  }();
  mesh_axes.in = joined(mesh_axes.in, select(mesh_axes.in, nonzero));
  mesh_axes.out = joined(mesh_axes.out, select(mesh_axes.out, derivative.nonzero));
  const Values both = bind_grid(mesh_axes, derivative.program, joined(in, select(t, nonzero)));
  const std::size_t count = body->outputs.size();
  return {part(both, 0, count), spread(part(both, count, both.size() - count), derivative.nonzero)};
}

// The source of a residual: an operand or a result of the op, as it is, or a value of its own
// without a place. An own value is joined along dimension 0, over the axes over which it may vary.
struct Residual {
  enum class Kind { operand, result, own } kind;
  std::size_t position;  // of the operand or result
  Blocks blocks;
  bool scalar = false;  // it has no dimension 0, and gets one
};

Blocks free_blocks(const MeshAxes& mesh_axes, const Type& type, bool& scalar) {
  Ints axes;
  for (std::size_t k = 0; k < mesh_axes.axes.size(); ++k) {
    if (!mesh_axes.follows_types() || contains(type.varying, mesh_axes.axes[k].name))
      axes.push_back(static_cast<std::int64_t>(k));
  }
  scalar = type.rank() == 0 && !axes.empty();
  Blocks blocks(scalar ? 1 : type.rank());
  if (!axes.empty()) blocks[0] = axes;
  return blocks;
}

std::vector<Residual> residuals_of(const MeshAxes& mesh_axes, const LinearizedProgram& parts,
                                   std::size_t outputs) {
  std::vector<Residual> out;
  const Program& known = *parts.known;
  const auto position = [](const auto& list, std::size_t count, Var var) {
    return index(std::find(list.begin(), list.begin() + static_cast<long>(count), var) -
                 list.begin());
  };
  for (std::size_t r = 0; r < parts.residual_count; ++r) {
    const Var var = known.outputs[outputs + r];
    const std::size_t input = position(known.inputs, known.inputs.size(), var);
    const std::size_t output = position(known.outputs, outputs, var);
    if (input < known.inputs.size()) {
      out.push_back({Residual::Kind::operand, input, mesh_axes.in[input]});
    } else if (output < outputs) {
      out.push_back({Residual::Kind::result, output, mesh_axes.out[output]});
    } else {
      Residual own{Residual::Kind::own, 0, {}};
      own.blocks = free_blocks(mesh_axes, known.type(var), own.scalar);
      out.push_back(std::move(own));
    }
  }
  return out;
}

Value with_dimension(const Value& x, bool scalar) { return scalar ? ops::reshape(x, {1}) : x; }
Value without_dimension(const Value& x, bool scalar) { return scalar ? ops::reshape(x, {}) : x; }

// The known part of a body, without the residuals that are operands or results.
ProgramPtr known_program(const ProgramPtr& known, const std::vector<Residual>& residuals,
                         std::size_t outputs) {
  return stage_closed(
      known->input_types(),
      [&](const Values& in) {
        const Values all = evaluate(*known, in);
        Values out = part(all, 0, outputs);
        for (std::size_t r = 0; r < residuals.size(); ++r) {
          if (residuals[r].kind == Residual::Kind::own)
            out.push_back(with_dimension(all[outputs + r], residuals[r].scalar));
        }
        return out;
      },
      known->name);
}

ProgramPtr linear_program(const ProgramPtr& linear, const std::vector<Residual>& residuals) {
  Types types = linear->input_types();
  for (std::size_t r = 0; r < residuals.size(); ++r) {
    if (residuals[r].scalar) types[r].shape = {1};
  }
  return stage_closed(
      types,
      [&](const Values& in) {
        Values own = in;
        for (std::size_t r = 0; r < residuals.size(); ++r)
          own[r] = without_dimension(own[r], residuals[r].scalar);
        return evaluate(*linear, own);
      },
      linear->name);
}

std::string axes_key(const MeshAxes& mesh_axes) {
  std::string key;
  for (const MeshAxes::Axis& axis : mesh_axes.axes) key += concat(axis.name, "=", axis.size, ",");
  return key;
}

Linearized shard_map_linearize(const Params& params, const Values& in,
                               const std::vector<bool>& nonzero) {
  const MeshAxes mesh_axes = mesh_axes_of(params);
  const ProgramPtr& body = params.program(param::jaxpr);
  const std::size_t outputs = body->outputs.size();
  LinearizedProgram parts;
  std::vector<Residual> residuals;
  ProgramPtr known, linear;
  {
    const MeshAxesScope scope(mesh_axes);
    parts = linearize_program(body, nonzero);
    residuals = residuals_of(mesh_axes, parts, outputs);
    const std::string key = mask_key(axes_key(mesh_axes), nonzero);
    known = *body->derived<ProgramPtr>(concat("shard_map_known", key), [&] {
      return std::make_shared<ProgramPtr>(known_program(parts.known, residuals, outputs));
    });
    linear = *body->derived<ProgramPtr>(concat("shard_map_linear", key), [&] {
      return std::make_shared<ProgramPtr>(linear_program(parts.linear, residuals));
    });
  }

  MeshAxes forward = mesh_axes, tangents = mesh_axes;
  forward.given = tangents.given = false;
  tangents.in.clear();
  for (const Residual& residual : residuals) {
    if (residual.kind == Residual::Kind::own) forward.out.push_back(residual.blocks);
    tangents.in.push_back(residual.blocks);
  }
  tangents.in = joined(tangents.in, select(mesh_axes.in, nonzero));
  tangents.out = select(mesh_axes.out, parts.nonzero);
  const Values results = bind_grid(forward, known, in);
  Values kept;
  std::size_t next = outputs;
  for (const Residual& residual : residuals) {
    kept.push_back(residual.kind == Residual::Kind::operand  ? in[residual.position]
                   : residual.kind == Residual::Kind::result ? results[residual.position]
                                                             : results[next++]);
  }
  Linearized out;
  out.out = part(results, 0, outputs);
  out.linear = [tangents, linear, kept, nonzero, mask = parts.nonzero](const Values& t) {
    return spread(bind_grid(tangents, linear, joined(kept, select(t, nonzero))), mask);
  };
  return out;
}

// Over unchecked axes, an operand that they do not split collects the cotangents of all devices. A
// result is the first device's value, whose cotangent is shared out equally.
Values shard_map_transpose(const TransposeArgs& a) {
  const MeshAxes mesh_axes = mesh_axes_of(a.params);
  const bool shares = !mesh_axes.follows_types();
  const std::vector<bool> known = nonnull(a.in), linear = inverse(known), nonzero = nonnull(a.ct);
  Values cts;
  for (std::size_t i = 0; i < a.ct.size(); ++i) {
    if (!a.ct[i]) continue;
    const auto devices =
        static_cast<double>(mesh_axes.count(mesh_axes.unmentioned(mesh_axes.out[i])));
    const bool shared = shares && devices > 1 && a.ct[i]->dtype() != DType::float0;
    cts.push_back(shared ? ops::div(a.ct[i], ops::scalar(a.ct[i]->dtype(), devices)) : a.ct[i]);
  }
  MeshAxes outer = mesh_axes;
  outer.given = false;
  outer.in = joined(select(mesh_axes.in, known), select(mesh_axes.out, nonzero));
  outer.out = select(mesh_axes.in, linear);
  const ProgramPtr& body = a.params.program(param::jaxpr);
  const ProgramPtr backward = [&] {
    const MeshAxesScope scope(mesh_axes);
    const ProgramPtr plain = transpose_program(body, linear, nonzero);
    if (!shares) return plain;
    const std::string key =
        concat("summed", axes_key(mesh_axes),
               to_string(shard_map_params(outer, plain).ints(param::out_blocks)));
    return *plain->derived<ProgramPtr>(key, [&] {
      return std::make_shared<ProgramPtr>(stage_closed(
          plain->input_types(),
          [&](const Values& in) {
            const Op& psum = core_ops().psum;
            Values out = evaluate(*plain, in);
            for (std::size_t i = 0; i < out.size(); ++i) {
              ops::Devices devices;
              for (const std::int64_t axis : mesh_axes.unmentioned(outer.out[i])) {
                const MeshAxes::Axis& own = mesh_axes.axes[index(axis)];
                devices.axes.push_back(own.name);
                devices.size *= own.size;
              }
              if (!devices.axes.empty()) out[i] = ops::reduce_devices(psum, out[i], devices);
            }
            return out;
          },
          plain->name));
    });
  }();
  return spread(bind_grid(outer, backward, joined(select(a.in, known), cts)), linear);
}

// The label of a batch; ValueError where axes that split it split blocks too.
Ints batch_label(const MeshAxes& mesh_axes, const BatchAxis& axis) {
  Ints out;
  if (!mesh_axes.mesh) return out;
  for (const std::string& name : axis.split) {
    for (const BlockList* list : {&mesh_axes.in, &mesh_axes.out}) {
      for (const Blocks& blocks : *list) {
        for (const Ints& split : blocks) {
          if (std::none_of(split.begin(), split.end(),
                           [&](std::int64_t entry) { return mesh_axes.text_of(entry) == name; }))
            continue;
          if (!mesh_axes.given) return {};
          value_error(
              "shard_map: vmap spmd_axis_name cannot appear in shard_map in_specs or "
              "out_specs, but '",
              name, "' does: ", mesh_axes.specs_text(mesh_axes.in), ", ",
              mesh_axes.specs_text(mesh_axes.out), ". Name another axis of the mesh.");
        }
      }
    }
    const auto& names = mesh_axes.mesh->mesh_axes;
    const auto at = std::find(names.begin(), names.end(), name);
    if (at != names.end()) out.push_back(mesh_axes.outside(at - names.begin()));
  }
  return out;
}

// The batch becomes the blocks' leading dimension, which no axis of the mesh axes splits.
Batched shard_map_batch(const BatchArgs& a) {
  MeshAxes mesh_axes = mesh_axes_of(a.params);
  const Ints label = batch_label(mesh_axes, a.axis);
  const BatchedProgram body = [&] {
    const MeshAxesScope scope(mesh_axes);
    return batch_program(a.params.program(param::jaxpr), a.batched, a.axis);
  }();
  for (std::size_t i = 0; i < mesh_axes.in.size(); ++i) {
    if (a.batched[i]) mesh_axes.in[i].insert(mesh_axes.in[i].begin(), label);
  }
  for (std::size_t i = 0; i < mesh_axes.out.size(); ++i) {
    if (body.batched[i]) mesh_axes.out[i].insert(mesh_axes.out[i].begin(), label);
  }
  return {bind_grid(mesh_axes, body.program, a.in), body.batched};
}

// Each dimension of a block is split by axes that there are, each of which splits one.
void check_blocks(const MeshAxes& mesh_axes, const char* what, const BlockList& list,
                  const Types& blocks) {
  const std::int64_t known = mesh_axes.outside(
      mesh_axes.mesh ? static_cast<std::ptrdiff_t>(mesh_axes.mesh->mesh_axes.size()) : 0);
  bool fits = list.size() == blocks.size();
  for (std::size_t i = 0; fits && i < list.size(); ++i) {
    fits = list[i].size() == blocks[i].rank();
    Ints used;
    for (const Ints& split : list[i]) used.append(split.begin(), split.end());
    std::sort(used.begin(), used.end());
    fits = fits && std::adjacent_find(used.begin(), used.end()) == used.end() &&
           (used.empty() || used.back() < known);
  }
  if (fits) return;
  value_error("shard_map: ", what, " do not go with the program's, of types ",
              to_string(ParamValue(blocks)), ".");
}

void check_grid(const MeshAxes& mesh_axes, const Program& body, const Types& in) {
  for (std::size_t k = 0; k < mesh_axes.axes.size(); ++k) {
    const AxisSet names = mesh_axes.names();
    if (mesh_axes.axes[k].size < 1 ||
        std::find(names.begin(), names.begin() + k, names[k]) != names.begin() + k)
      value_error("shard_map: an axis '", axis_text(names[k]), "' of size ", mesh_axes.axes[k].size,
                  " is empty, or there twice.");
  }
  const Types blocks = body.input_types();
  check_blocks(mesh_axes, "in_blocks", mesh_axes.in, blocks);
  check_blocks(mesh_axes, "out_blocks", mesh_axes.out, body.output_types());
  if (in.size() != blocks.size())
    value_error("shard_map: ", in.size(), " operands; ", blocks.size(), " were expected.");
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Type whole = mesh_axes.whole(blocks[i], mesh_axes.in[i]);
    check_limits("shard_map", whole);
    if (same_shape_and_dtype(whole, in[i])) continue;
    value_error("shard_map: operand ", i, " is ", to_string(in[i]), "; of blocks ",
                to_string(blocks[i]), ", ", to_string(whole), " was expected.");
  }
}

Types shard_map_type(const Op&, const Types& in, const Params& params) {
  const MeshAxes mesh_axes = mesh_axes_of(params);
  check_grid(mesh_axes, *params.program(param::jaxpr), in);
  Types out = params.program(param::jaxpr)->output_types();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Type block = out[i];
    out[i] = mesh_axes.whole(block, mesh_axes.out[i]);
    if (mesh_axes.mesh && mesh_axes.mesh->is_explicit())
      out[i].sharding = mesh_axes.label(mesh_axes.out[i], block);
  }
  return out;
}

Regions shard_map_regions(const Params& params) {
  Regions out = call_of(params.program(param::jaxpr));
  out.runs = ExecutionKind::mesh;
  for (const MeshAxes::Axis& axis : mesh_axes_of(params).axes)
    out.axes.push_back({axis.name, axis.size});
  return out;
}

Params shard_map_with_regions(const Params& params, const Regions& regions) {
  MeshAxes mesh_axes = mesh_axes_of(params);
  const auto chosen = [](const BlockList& list, const std::vector<RegionPort>& ports) {
    BlockList out;
    for (const RegionPort& port : ports) out.push_back(list.at(index(port.source)));
    return out;
  };
  mesh_axes.in = chosen(mesh_axes.in, regions.operands);
  mesh_axes.out = chosen(mesh_axes.out, regions.results);
  return shard_map_params(mesh_axes, regions.programs[0]);
}

ProgramPtr shard_map_expand(const Params& params, const Types&) {
  const MeshAxes mesh_axes = mesh_axes_of(params);
  const ProgramPtr& body = params.program(param::jaxpr);
  const std::string key = concat(
      "mesh_axes", axes_key(mesh_axes), to_string(params.ints(param::in_blocks)),
      to_string(params.ints(param::out_blocks)), mesh_axes.mesh ? to_string(*mesh_axes.mesh) : "",
      mesh_axes.mesh ? to_string(ParamValue(
                           Ints(mesh_axes.mesh->devices.begin(), mesh_axes.mesh->devices.end())))
                     : "");
  return *body->derived<ProgramPtr>(
      key, [&] { return std::make_shared<ProgramPtr>(program_of_mesh(mesh_axes, body)); });
}

const Op shard_map_op{{.name = "shard_map",
                       .doc = "Runs a per-device program on blocks, over the axes of a mesh.",
                       .kind = Kind::control,
                       .type = shard_map_type,
                       .jvp_body = shard_map_jvp,
                       .linearize = shard_map_linearize,
                       .transpose = shard_map_transpose,
                       .batch = shard_map_batch,
                       .regions = shard_map_regions,
                       .with_regions = shard_map_with_regions,
                       .expand = shard_map_expand,
                       .shown_params = shown_shard_map}};

}  // namespace

}  // namespace shardax
