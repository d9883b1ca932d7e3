// execute/process_programs.cpp - programs of one process: made once for each way arguments are
// split, and run on slabs.
#include "execute/process_programs.h"

#include <algorithm>
#include <mutex>

#include "analysis/partition.h"
#include "analysis/shardings.h"
#include "array/process_axis.h"
#include "base/errors.h"
#include "base/index.h"
#include "control/shard_map.h"
#include "execute/execute.h"
#include "ir/regions.h"
#include "kernels/copy/copy.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "runtime/processes.h"
#include "trace/eval_program.h"
#include "trace/stage.h"

namespace shardax {
namespace {

// The mesh that a sharding, a shard_map or an array within a program lies on, where it spans
// processes.
ShardingPtr mesh_within(const Program& program) {
  for (const Constant& constant : program.constants) {
    const ShardingPtr& sharding = as_array(constant.value).sharding();
    if (spans_processes(sharding)) return sharding;
  }
  ShardingPtr found;
  for (const Equation& eqn : program.equations) {
    for (const auto& [name, value] : eqn.params) {
      const auto* sharding = std::get_if<ShardingPtr>(&value);
      if (sharding && spans_processes(*sharding)) return *sharding;
    }
    any_program(eqn.params, [&](const ProgramPtr& within) {
      found = mesh_within(*within);
      return bool(found);
    });
    if (found) return found;
  }
  return nullptr;
}

ShardingPtr over_processes_or_null(const ShardingPtr& sharding) {
  return spans_processes(sharding) && sharding->named ? over_processes(*sharding) : nullptr;
}

// ---- shardings over processes in place of those over devices ---------------------------------

ProgramPtr program_over_processes(const Program& program, Types types);

Values bind_over_processes(const Equation& eqn, const Values& in);

Values bind_regions(const Equation& eqn, const Params& params, const Values& in) {
  Regions regions = regions_of(*eqn.op, params);
  if (regions.runs == ExecutionKind::mesh) return shardax::bind(*eqn.op, eqn.params, in);
  if (regions.runs == ExecutionKind::once)
    return eval_program(*regions.programs[0], in, bind_over_processes);
  if (regions.runs == ExecutionKind::mapped) {
    fail(ErrorKind::not_implemented_error,
         "pmap of arrays that span processes: it maps over the devices of this process. Pass what "
         "this process has of them (multihost_utils.global_array_to_host_local_array), or use "
         "shard_map.");
  }
  for (ProgramPtr& body : regions.programs)
    body = program_over_processes(*body, body->input_types());
  return shardax::bind(*eqn.op, eqn.op->with_regions(params, regions), in);
}

Values bind_over_processes(const Equation& eqn, const Values& in) {
  if (eqn.params.has("otherwise")) return in;  // a memory or a layout: labels of the whole results
  Params params = eqn.params;
  for (const auto& [name, value] : eqn.params) {
    const auto* sharding = std::get_if<ShardingPtr>(&value);
    if (!sharding || !*sharding) continue;
    const ShardingPtr over = over_processes_or_null(*sharding);
    if (!over && eqn.op->split == ops::split_constrained) return in;
    params.set(name, over ? ParamValue(over) : ParamValue());
  }
  if (eqn.op->regions) return bind_regions(eqn, params, in);
  return shardax::bind(*eqn.op, params, in);
}

ProgramPtr program_over_processes(const Program& program, Types types) {
  for (Type& type : types) type.sharding = nullptr;
  return stage_closed(
      types, [&](const Values& in) { return eval_program(program, in, bind_over_processes); },
      program.name);
}

// ---- the program of one process ------------------------------------------------------------

struct ProcessProgram {
  std::shared_ptr<Callable> callable;
  Types types;          // of the whole results
  Shardings shardings;  // of the results
};

std::string key_of(const Shardings& in) {
  std::string key = "process";
  for (const ShardingPtr& sharding : in) {
    key += ';';
    if (!sharding) continue;
    key += to_string(*sharding);
    for (const int id : sharding->devices) key += concat(' ', id);
  }
  return key;
}

void check_one_mesh(const Program& program, const Shardings& in, const Sharding& mesh) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!in[i] || (in[i]->mesh_axes == mesh.mesh_axes && in[i]->mesh_shape == mesh.mesh_shape))
      continue;
    fail(ErrorKind::not_implemented_error, program.name.empty() ? "this call" : program.name,
         ": argument ", i, " lies on ", mesh_text(*in[i]), ", but another array on ",
         mesh_text(mesh), ", and both span processes. Bring them to one mesh with device_put.");
  }
}

std::shared_ptr<ProcessProgram> make_process_program(const ProgramPtr& program,
                                                     const Shardings& given) {
  Shardings spanning = given;
  for (ShardingPtr& sharding : spanning) {
    if (!spans_processes(sharding)) sharding = nullptr;
  }
  const auto first = std::ranges::find_if(spanning, [](const ShardingPtr& s) { return bool(s); });
  const ShardingPtr mesh = first == spanning.end() ? mesh_within(*program) : *first;
  auto out = std::make_shared<ProcessProgram>();
  out->types = program->output_types();
  out->shardings = as_results_show(replicated_rest(propagate(*program, spanning)), out->types,
                                   spanning, program->input_types());
  Shardings in, results;
  for (const ShardingPtr& sharding : spanning) in.push_back(over_processes_or_null(sharding));
  for (ShardingPtr& sharding : out->shardings) {
    if (!sharding) sharding = with_spec(*mesh, {});
    results.push_back(over_processes_or_null(sharding));
  }
  const ShardingPtr processes = over_processes(*with_spec(*mesh, {}));
  check_one_mesh(*program, in, *processes);
  const ProgramPtr whole = program_over_processes(*program, program->input_types());
  out->callable = std::make_shared<Callable>(program_of_process(whole, in, results, processes));
  return out;
}

// This process's part of an argument, without a label.
ArrayPtr slab_of_argument(const Array& array) {
  return array.slab() ? array.slab() : view_of(array, array.type(), array.strides(), 0);
}

Values slabs_of(const Values& in) {
  Values slabs;
  for (const Value& value : in) slabs.push_back(slab_of_argument(as_array(value)));
  return slabs;
}

// The one that ran last, of arrays with these very shardings.
struct LatestProgram {
  std::mutex mutex;
  Shardings given;
  std::shared_ptr<ProcessProgram> made;
};

std::shared_ptr<ProcessProgram> process_program(const ProgramPtr& program, const Values& in) {
  Shardings given = shardings_of(in);
  const auto latest = program->derived<LatestProgram>(
      "latest process program", [] { return std::make_shared<LatestProgram>(); });
  {
    const std::lock_guard lock(latest->mutex);
    if (latest->made && latest->given == given) return latest->made;
  }
  auto made = program->derived<ProcessProgram>(
      key_of(given), [&] { return make_process_program(program, given); });
  const std::lock_guard lock(latest->mutex);
  latest->given = std::move(given);
  return latest->made = std::move(made);
}

}  // namespace

bool spans_processes(const Program& program) {
  if (runtime::process_count() == 1) return false;
  return *program.derived<bool>("spans_processes",
                                [&] { return std::make_shared<bool>(bool(mesh_within(program))); });
}

bool any_spans_processes(const Values& arrays) {
  return runtime::process_count() > 1 && std::ranges::any_of(arrays, [](const Value& value) {
           return spans_processes(as_array(value).sharding());
         });
}

std::pair<ProgramPtr, Values> program_on_slabs(const ProgramPtr& program, const Values& in) {
  return {process_program(program, in)->callable->program(), slabs_of(in)};
}

Values run_on_processes(const ProgramPtr& program, const Values& in) {
  const auto made = process_program(program, in);
  const Values slabs = slabs_of(in);
  const Values results = (*made->callable)(slabs);
  Values out;
  for (std::size_t i = 0; i < results.size(); ++i)
    out.push_back(of_slab(ArrayPtr(&as_array(results[i])), made->types[i], made->shardings[i]));
  return out;
}

ArrayPtr split_between_processes(const Array& whole, const ShardingPtr& sharding) {
  const Type& type = whole.type();
  const Slab slab = slab_of(type.shape, *sharding);
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < slab.start.size(); ++d) offset += slab.start[d] * whole.strides()[d];
  Type own = type;
  own.shape = slab.size;
  if (slab.size == type.shape) {
    return of_slab(view_of(whole, std::move(own), whole.strides(), 0), type, sharding);
  }
  const ArrayPtr part = empty_array(own);
  kernels::copy_strided(part->data(), part->strides(), whole.data() + offset * itemsize(type.dtype),
                        whole.strides(), own.shape, itemsize(type.dtype));
  return of_slab(part, type, sharding);
}

ArrayPtr of_slab(const ArrayPtr& slab, Type whole, const ShardingPtr& sharding) {
  whole.sharding = nullptr;
  if (slab->shape() != whole.shape) {
    slab->set_sharding(nullptr);
    return new Array(std::move(whole), sharding, slab);
  }
  const ArrayPtr out = view_of(*slab, std::move(whole), slab->strides(), 0);
  out->set_sharding(sharding);
  return out;
}

}  // namespace shardax
