// execute/shardings.cpp - specs followed through ops and programs.
#include "execute/shardings.h"

#include <algorithm>
#include <cstdlib>

#include "control/control.h"

namespace shardax {
namespace {

using Spec = std::vector<std::vector<std::string>>;

Spec spec_of(const Sharding& sharding, std::size_t rank) {
  Spec spec = sharding.spec;
  spec.resize(rank);
  return spec;
}

bool same_mesh(const Sharding& a, const Sharding& b) {
  return a.named == b.named && a.mesh_axes == b.mesh_axes && a.mesh_shape == b.mesh_shape &&
         a.devices == b.devices;
}

// `like` itself where the spec is its own.
ShardingPtr split_as(const ShardingPtr& like, Spec spec) {
  if (like->spec.size() <= spec.size() && spec == spec_of(*like, spec.size())) return like;
  while (!spec.empty() && spec.back().empty()) spec.pop_back();
  return with_spec(*like, std::move(spec));
}

bool uses(const Spec& spec, const std::string& axis) {
  return std::any_of(spec.begin(), spec.end(), [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), axis) != names.end();
  });
}

// Each dimension is split as in the first operand that splits it, and each axis splits once.
Spec elementwise_spec(const Sharding& mesh, const Types& in_types, const Type& out,
                      const Shardings& in) {
  Spec spec(out.rank());
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!in[i] || in_types[i].rank() != out.rank() || !same_mesh(*in[i], mesh)) continue;
    const Spec own = spec_of(*in[i], out.rank());
    for (std::size_t d = 0; d < spec.size(); ++d) {
      const bool free = std::none_of(own[d].begin(), own[d].end(),
                                     [&](const std::string& axis) { return uses(spec, axis); });
      const bool repeated = in_types[i].shape[d] == 1 && out.shape[d] != 1;
      if (spec[d].empty() && free && !repeated) spec[d] = own[d];
    }
  }
  return spec;
}

Spec reduced_spec(const Spec& spec, const Ints& axes) {
  Spec kept;
  for (std::size_t d = 0; d < spec.size(); ++d) {
    const auto dimension = static_cast<std::int64_t>(d);
    if (std::find(axes.begin(), axes.end(), dimension) == axes.end()) kept.push_back(spec[d]);
  }
  return kept;
}

// Where the result is a view of a dense operand, a dimension of the same size and stride is the
// same dimension.
Spec layout_spec(const Op& op, const Params& params, const Spec& spec, const Type& in,
                 const Type& out) {
  Spec found(out.rank());
  const Shape strides = row_major_strides(in.shape);
  ViewLayout layout;
  if (!op.view || !op.view(params, in, strides, out, layout)) return found;
  for (std::size_t d = 0; d < found.size(); ++d) {
    for (std::size_t from = 0; from < spec.size(); ++from) {
      if (in.shape[from] > 1 && out.shape[d] == in.shape[from] &&
          std::abs(layout.strides[d]) == strides[from]) {
        found[d] = spec[from];
      }
    }
  }
  return found;
}

bool fits(const std::vector<std::string>& axes, std::int64_t extent, const Sharding& mesh) {
  std::int64_t parts = 1;
  for (std::size_t i = 0; i < mesh.mesh_axes.size(); ++i) {
    const bool splits = std::find(axes.begin(), axes.end(), mesh.mesh_axes[i]) != axes.end();
    parts *= splits ? mesh.mesh_shape[i] : 1;
  }
  return extent % parts == 0;
}

// Dimensions of an operand and of the result whose sizes have the same product go together: what
// splits the first of the one splits the first of the other.
Spec reshape_spec(const Spec& spec, const Shape& in, const Shape& out, const Sharding& mesh) {
  Spec found(out.size());
  const auto longer = [](const Shape& shape, std::size_t from, std::size_t end) {
    while (from + 1 < end && shape[from] == 1) ++from;
    return from;
  };
  std::size_t i = 0, o = 0;
  while (i < in.size() && o < out.size()) {
    const std::size_t first_in = i, first_out = o;
    std::int64_t a = in[i++], b = out[o++];
    while (a != b) {
      if (a < b && i < in.size()) {
        a *= in[i++];
      } else if (o < out.size()) {
        b *= out[o++];
      } else {
        return found;
      }
    }
    const std::size_t from = longer(in, first_in, i), to = longer(out, first_out, o);
    if (fits(spec[from], out[to], mesh)) found[to] = spec[from];
  }
  return found;
}

// Batch dimensions, then the others of each operand; contracted ones are gone.
Spec dot_spec(const Params& params, const Types& in_types, const Shardings& in,
              const Sharding& mesh) {
  Spec found;
  const auto add = [&](std::size_t operand, std::int64_t dimension) {
    found.emplace_back();
    if (!in[operand] || !same_mesh(*in[operand], mesh)) return;
    const Spec own = spec_of(*in[operand], in_types[operand].rank());
    for (const std::string& axis : own[static_cast<std::size_t>(dimension)]) {
      if (!uses(found, axis)) found.back().push_back(axis);
    }
  };
  const Ints contracted[] = {params.ints("lhs_contract"), params.ints("rhs_contract")};
  const Ints batch[] = {params.ints("lhs_batch"), params.ints("rhs_batch")};
  for (const std::int64_t d : batch[0]) add(0, d);
  for (const std::size_t operand : {0, 1}) {
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(in_types[operand].rank()); ++d) {
      const auto holds = [&](const Ints& dims) {
        return std::find(dims.begin(), dims.end(), d) != dims.end();
      };
      if (!holds(contracted[operand]) && !holds(batch[operand])) add(operand, d);
    }
  }
  return found;
}

// Joined and padded arrays stay split as their operands are where that comes out even.
Spec grown_spec(const Sharding& mesh, const Types& in_types, const Type& out, const Shardings& in) {
  Spec spec = elementwise_spec(mesh, in_types, out, in);
  for (std::size_t d = 0; d < spec.size(); ++d) {
    if (!fits(spec[d], out.shape[d], mesh)) spec[d].clear();
  }
  return spec;
}

// As a pmap called by itself labels its results: over the first devices, along out_axes.
Shardings mapped_shardings(const Params& params, const Types& out_types) {
  const std::string& name = axis_text(params.axes("axis_name")[0]);
  const std::int64_t size = params.integer("axis_size");
  const Ints& out_axes = params.ints("out_axes");
  Shardings out;
  for (std::size_t i = 0; i < out_types.size(); ++i) {
    Shared<Sharding> sharding(new Sharding);
    sharding->mesh_axes = {name};
    sharding->mesh_shape = {size};
    for (int device = 0; device < size; ++device) sharding->devices.push_back(device);
    if (out_axes[i] >= 0) {
      sharding->spec.resize(static_cast<std::size_t>(out_axes[i]) + 1);
      sharding->spec.back() = {name};
    }
    out.push_back(ShardingPtr(sharding.get()));
  }
  return out;
}

bool is_constraint(const Op& op) {
  static const Op* constraint = find_op("sharding_constraint");
  return &op == constraint;
}

// Dimensions that are left open stay split as they are, by axes that the others do not use.
ShardingPtr constrained(const Params& params, const ShardingPtr& in, std::size_t rank) {
  const ShardingPtr& given = params.get<ShardingPtr>("sharding");
  const Ints& open = params.ints("unconstrained_dims");
  if (open.empty() || !in || !same_mesh(*in, *given)) return given;
  Spec spec = spec_of(*given, rank);
  const Spec own = spec_of(*in, rank);
  for (const std::int64_t d : open) {
    const auto at = static_cast<std::size_t>(d);
    const bool free = std::none_of(own[at].begin(), own[at].end(),
                                   [&](const std::string& axis) { return uses(spec, axis); });
    if (free) spec[at] = own[at];
  }
  return with_spec(*given, std::move(spec));
}

// One iteration from where the carry starts; slices of the xs and the ys lack the leading
// dimension.
Shardings scan_shardings(const Params& params, const Types& in_types, const Shardings& in) {
  const Program& body = *params.program("jaxpr");
  const auto carry = static_cast<std::size_t>(params.integer("num_carry"));
  const std::size_t first_x = static_cast<std::size_t>(params.integer("num_consts")) + carry;
  Shardings inner = in;
  for (std::size_t i = first_x; i < in.size(); ++i) {
    if (!in[i] || !in[i]->named) continue;
    Spec spec = spec_of(*in[i], in_types[i].rank());
    spec.erase(spec.begin());
    inner[i] = with_spec(*in[i], std::move(spec));
  }
  Shardings out = propagate(body, inner);
  for (std::size_t i = carry; i < out.size(); ++i) {
    if (!out[i] || !out[i]->named) continue;
    Spec spec = out[i]->spec;
    spec.emplace(spec.begin());
    out[i] = with_spec(*out[i], std::move(spec));
  }
  return out;
}

Shardings part_of(const Shardings& all, std::size_t from) {
  return {all.begin() + static_cast<std::ptrdiff_t>(from), all.end()};
}

// What the first branch that says something says.
Shardings cond_shardings(const Params& params, const Shardings& in) {
  Shardings out;
  for (const ProgramPtr& branch : params.programs("branches")) {
    const Shardings own = propagate(*branch, part_of(in, 1));
    out.resize(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (!out[i]) out[i] = own[i];
    }
  }
  return out;
}

Shardings control_shardings(const Op& op, const Params& params, const Types& in_types,
                            const Shardings& in) {
  if (is_scan(op)) return scan_shardings(params, in_types, in);
  if (is_cond(op)) return cond_shardings(params, in);
  return propagate(*params.program("body_jaxpr"),
                   part_of(in, static_cast<std::size_t>(params.integer("cond_nconsts"))));
}

}  // namespace

bool gives_sharding(const Op& op) { return is_pmap(op) || is_constraint(op); }

bool gives_sharding(const Equation& eqn) {
  return any_equation(eqn, [](const Equation& e) { return gives_sharding(*e.op); });
}

bool any_sharding(const Values& arrays) {
  return std::any_of(arrays.begin(), arrays.end(),
                     [](const Value& v) { return bool(as_array(v).sharding()); });
}

Shardings shardings_of(const Values& arrays) {
  Shardings out;
  for (const Value& value : arrays) out.push_back(as_array(value).sharding());
  return out;
}

void set_shardings(const Values& arrays, const Shardings& shardings) {
  for (std::size_t i = 0; i < arrays.size(); ++i) as_array(arrays[i]).set_sharding(shardings[i]);
}

Shardings propagate(const Op& op, const Params& params, const Types& in_types,
                    const Types& out_types, const Shardings& in) {
  if (is_pmap(op)) return mapped_shardings(params, out_types);
  if (is_constraint(op)) return {constrained(params, in[0], out_types[0].rank())};
  const auto first =
      std::find_if(in.begin(), in.end(), [](const ShardingPtr& s) { return bool(s); });
  if (op.body) return propagate(*op.body(params), in);
  if (is_scan(op) || is_cond(op) || is_while(op))
    return control_shardings(op, params, in_types, in);
  Shardings out(out_types.size());
  if (first == in.end()) return out;
  if (!(*first)->named) {
    std::fill(out.begin(), out.end(), *first);
    return out;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    Spec spec(out_types[i].rank());
    if (op.kind == Kind::elementwise) {
      spec = elementwise_spec(**first, in_types, out_types[i], in);
    } else if (params.find("lhs_contract")) {
      spec = dot_spec(params, in_types, in, **first);
    } else if (op.name == "concatenate" || op.name == "pad") {
      spec = grown_spec(**first, in_types, out_types[i], in);
    } else if (in[0] && params.find("axes") &&
               out_types[i].rank() + params.ints("axes").size() == in_types[0].rank()) {
      spec = reduced_spec(spec_of(*in[0], in_types[0].rank()), params.ints("axes"));
    } else if (in[0] && params.find("new_sizes")) {
      spec = reshape_spec(spec_of(*in[0], in_types[0].rank()), in_types[0].shape,
                          out_types[i].shape, **first);
    } else if (in[0] && op.kind == Kind::layout) {
      spec =
          layout_spec(op, params, spec_of(*in[0], in_types[0].rank()), in_types[0], out_types[i]);
    } else if (in[0] && in_types[0].shape == out_types[i].shape) {
      spec = spec_of(*in[0], in_types[0].rank());
    }
    out[i] = split_as(*first, std::move(spec));
  }
  return out;
}

Shardings propagate(const Program& program, const Shardings& in) {
  Shardings known(program.types.size());
  const auto at = [&](Var v) -> ShardingPtr& { return known[static_cast<std::size_t>(v)]; };
  for (std::size_t i = 0; i < in.size(); ++i) at(program.inputs[i]) = in[i];
  for (const Constant& constant : program.constants) at(constant.var) = constant.value->sharding();
  for (const Equation& eqn : program.equations) {
    Shardings operands;
    Types in_types, out_types;
    for (const Var v : eqn.inputs) {
      operands.push_back(at(v));
      in_types.push_back(program.type(v));
    }
    for (const Var v : eqn.outputs) out_types.push_back(program.type(v));
    const Shardings results = propagate(*eqn.op, eqn.params, in_types, out_types, operands);
    for (std::size_t i = 0; i < results.size(); ++i) at(eqn.outputs[i]) = results[i];
  }
  Shardings out;
  for (const Var v : program.outputs) out.push_back(at(v));
  return out;
}

Shardings asked_of_inputs(const Program& program) {
  Shardings asked(program.inputs.size());
  for (const Equation& eqn : program.equations) {
    if (!is_constraint(*eqn.op)) continue;
    const auto input = std::find(program.inputs.begin(), program.inputs.end(), eqn.inputs[0]);
    if (input == program.inputs.end()) continue;
    ShardingPtr& found = asked[static_cast<std::size_t>(input - program.inputs.begin())];
    if (!found) found = eqn.params.get<ShardingPtr>("sharding");
  }
  return asked;
}

Shardings replicated_rest(Shardings shardings) {
  const auto first = std::find_if(shardings.begin(), shardings.end(),
                                  [](const ShardingPtr& s) { return bool(s); });
  if (first == shardings.end()) return shardings;
  const ShardingPtr whole = with_spec(**first, {});
  for (ShardingPtr& sharding : shardings) {
    if (!sharding) sharding = whole;
  }
  return shardings;
}

}  // namespace shardax
