// callables/transforms/shard_map.cpp - calls of shard_mapped functions.
//
// Start at ShardMap::call. A new signature goes through ShardMap::stage: Python's plan checks the
// specs against the arguments and gives the axes that split each dimension. The function is staged
// on blocks, and the program is a param of the op shard_map (control/shard_map.h). If Python needs
// the values of blocks, and they are known, the function runs op by op instead.
#include "callables/transforms/shard_map.h"

#include <pybind11/cast.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "analysis/device_sets.h"
#include "analysis/shardings.h"
#include "array/checked_axis.h"
#include "array/process_mesh.h"
#include "base/index.h"
#include "callables/cache.h"
#include "callables/host_function.h"
#include "callables/object.h"
#include "callables/program/object.h"
#include "callables/run.h"
#include "callables/staging/compile_log.h"
#include "callables/staging/locate.h"
#include "callables/staging/traced.h"
#include "callables/transforms/axes.h"
#include "callables/transforms/references.h"
#include "callables/transforms/replicas.h"
#include "callables/value_lists.h"
#include "control/shard_map.h"
#include "ir/core_ops.h"
#include "objects/sharding_conversion.h"
#include "ops/collectives/collective.h"
#include "trace/eager_fallback.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

struct ShardMapEntry {
  BoundOp op;
  TreeDefPtr out_tree;
  KeptFunctions functions;
  bool returns_once;  // has unchecked outputs without some axis that have not been looked at
  std::vector<std::size_t> spec_lengths;  // of out_specs, for each output
};
using ShardMapCache = Cache<ShardMapEntry>;

class ShardMap final : public Transform {
 public:
  ShardMap(PyObject* plan, std::shared_ptr<ShardMapCache> cache)
      : plan_(Ref::borrow(plan)), cache_(std::move(cache)) {}
  ~ShardMap() override { ShardMapCache::release_own(cache_); }
  PyObject* call(PyObject* function, const CallArguments& arguments) override;
  int traverse(visitproc visit, void* arg) override {
    Py_VISIT(plan_.get());
    return ShardMapCache::traverse_own(cache_, visit, arg);
  }
  void clear() override { ShardMapCache::clear_own(cache_); }
  Ref staged(PyObject*) const override { return {}; }
  Ref recipe(PyObject*) const override {
    return checked(Py_BuildValue("sO", "shard_map", plan_.get()));
  }
  const void* leaves() const override { return ShardMapCache::left_by(cache_); }

 private:
  Ref call_mapped(PyObject* fun, const CallArguments& arguments);
  std::pair<std::shared_ptr<ShardMapEntry>, Values> stage(PyObject* fun, FlatCall& call,
                                                          const Values& values);
  Ref run_by_op(PyObject* fun, FlatCall& call, const Values& values);

  Ref plan_;
  std::shared_ptr<ShardMapCache> cache_;
};

// One call's mesh axes: the plan of its arguments and then of its results.
class Planned {
 public:
  Planned(PyObject* plan, PyObject* fun, const CallForm& form, const Values& values) : fun_(fun) {
    const auto [args, kwargs] = rebuild_arguments(form, wrap_all(values));
    call_ = py::handle(plan).attr("of_call")(py::handle(fun), py::handle(args.get()));
    checked_ = py::cast<bool>(call_.attr("check"));
    ShardingPtr mesh;
    if (!call_.attr("mesh_description").is_none())
      mesh = objects::sharding_from(call_.attr("mesh_description").ptr());
    add_axes(call_.attr("axes"), mesh);
    if (bound_axes().empty()) mesh_axes.mesh = mesh;
    mesh_axes.in = blocks_of(call_.attr("in_blocks"), values);
    mesh_axes.given = true;
    mesh_axes.current = py::cast<bool>(call_.attr("current"));
  }

  // For the values that the function closes over, which all devices share.
  void add_captured(const Values& captured) {
    for (const Value& value : captured) mesh_axes.in.emplace_back(value->type().rank());
  }

  // `results` are of blocks; the mesh axes over which each may vary are checked against the
  // specs.
  template <class Results>
  void place_results(const TreeDefPtr& tree, const Results& results) {
    std::vector<Ref> types;
    py::list varying;
    for (const auto& result : results) {
      types.push_back(wrap_type(type_of(result)));
      py::list names;
      const auto varies = [&](std::int64_t k) {
        return contains(type_of(result).varying, mesh_axes.axes[index(k)].name);
      };
      for (std::size_t k = 0; k < own_axes_.size(); ++k) {
        if (std::ranges::any_of(own_axes_[k], varies)) names.append(k);
      }
      varying.append(names);
    }
    const Ref tree_of_types = pytree::unflatten(tree->view(), pytree::pointers(types));
    const py::object specs =
        call_.attr("of_result")(py::handle(fun_), py::handle(tree_of_types.get()), varying);
    mesh_axes.out = blocks_of(specs, results);
    spec_lengths.clear();
    for (const py::handle spec : specs) spec_lengths.push_back(py::len(spec));
  }

  // The checked axes that split result i, and over which it does not vary yet.
  AxisSet to_spread(std::size_t i, const Type& type) const {
    AxisSet named;
    for (const Ints& split : mesh_axes.out[i]) {
      for (const std::int64_t axis : split)
        named = join(named, AxisSet{mesh_axes.axes[index(axis)].name});
    }
    return lacking(type.varying, named);
  }

  const py::object& object() const { return call_; }

  MeshAxes mesh_axes;
  std::vector<std::size_t> spec_lengths;  // of the results'

 private:
  // A mesh axis that lies across processes is two axes.
  void add_axes(const py::object& axes, const ShardingPtr& mesh) {
    const bool spans = spans_processes(mesh);
    const ProcessMesh processes = spans ? process_mesh(*mesh) : ProcessMesh();
    for (const py::handle axis : axes) {
      const auto [name, size] = py::cast<std::pair<py::object, std::int64_t>>(axis);
      const std::string text = axis_name_text(name.ptr());
      own_axes_.emplace_back();
      const auto add = [&](const std::string& own, std::int64_t count) {
        own_axes_.back().push_back(static_cast<std::int64_t>(mesh_axes.axes.size()));
        mesh_axes.axes.push_back({new_axis(own, checked_), count});
      };
      std::int64_t count = size;
      if (spans) {
        const auto at = std::ranges::find(mesh->mesh_axes, text) - mesh->mesh_axes.begin();
        const ProcessMesh::Axis& cut = processes.axes[index(at)];
        if (cut.process_count > 1) add(cut.processes, cut.process_count);
        count = cut.local_count;
      }
      add(text, count);
    }
  }

  template <class Leaves>
  std::vector<MeshAxes::Blocks> blocks_of(const py::object& given, const Leaves& leaves) {
    std::vector<MeshAxes::Blocks> out;
    for (const py::handle entry : given) {
      MeshAxes::Blocks blocks(type_of(leaves[out.size()]).rank());
      std::size_t d = 0;
      for (const py::handle split : entry) {
        for (const py::handle axis : split) {
          const auto k = py::cast<std::size_t>(axis);
          blocks[d].append(own_axes_[k].begin(), own_axes_[k].end());
        }
        ++d;
      }
      out.push_back(std::move(blocks));
    }
    return out;
  }

  PyObject* fun_;
  py::object call_;
  std::vector<Ints> own_axes_;  // of each axis of the plan, the positions in mesh_axes.axes
  bool checked_ = false;
};

// While it lives, the context's mesh says which of its axes are manual.
class ManualScope {
 public:
  explicit ManualScope(const Planned& planned) : call_(planned.object()) { call_.attr("enter")(); }
  ~ManualScope() {
    py::error_scope error;
    call_.attr("leave")();
  }
  ManualScope(const ManualScope&) = delete;
  ManualScope& operator=(const ManualScope&) = delete;

 private:
  py::object call_;
};

// Exceptions that pybind11 carries are Python's.
template <class F>
auto with_python_errors(F&& f) {
  try {
    return f();
  } catch (py::error_already_set& error) {
    error.restore();
    throw PythonError();
  }
}

// Is the error in flight, which is cleared then, one about values that tracers do not have?
bool needed_values() {
  py::error_already_set error;
  for (const char* name : {"ConcretizationTypeError", "TracerArrayConversionError",
                           "TracerIntegerConversionError", "NonConcreteBooleanIndexError"}) {
    if (error.matches(import_module("shardax.errors").attr(name))) return true;
  }
  error.restore();
  return false;
}

PyObject* ShardMap::call(PyObject* function, const CallArguments& arguments) {
  PyObject* fun = wrapped_function(function);
  if (arguments.keyword_count() > 0) {
    type_error("shard_map: ", function_name(fun), " got ", repr(arguments.names),
               " by keyword; in_specs are those of positional arguments: pass it by position.");
  }
  return watched(function, arguments, [&] {
    try {
      return with_python_errors([&] { return call_mapped(fun, arguments); }).release();
    } catch (const PythonError&) {
      if (!met_reference(fun)) throw;
    }
    return call_with_references("call_shard_mapped", fun, arguments, plan_);
  });
}

// Functions that print run op by op from the start. Otherwise the lines that they print before they
// need values would come twice.
bool prints(PyObject* fun) {
  const Ref answer = call_python("_transform.shard_map.plan", "prints", fun);
  return answer.get() == Py_True;
}

// Arrays show as many entries of a spec as the user wrote: P('x') or P('x', None) of a matrix.
void label_as_written(const Values& results, const std::vector<std::size_t>& lengths) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    Array& array = as_array(results[i]);
    if (!array.sharding() || !array.sharding()->named) continue;
    auto spec = array.sharding()->spec;
    while (spec.size() > lengths[i] && spec.back().empty()) spec.pop_back();
    spec.resize(std::max(spec.size(), lengths[i]));
    if (spec != array.sharding()->spec)
      array.set_sharding(with_spec(*array.sharding(), std::move(spec)));
  }
}

Ref ShardMap::call_mapped(PyObject* fun, const CallArguments& arguments) {
  FlatCall call(arguments, {}, fun);
  Values values;
  call.values(fun, true, values);
  if (jit_disabled()) return run_by_op(fun, call, values);
  std::shared_ptr<ShardMapEntry> entry = cache_->find(call, values);
  if (!entry && computes_at_once(values) && prints(fun)) return run_by_op(fun, call, values);
  Values inputs = values;
  if (!entry) {
    Values captured;
    try {
      const EagerFallback retry(computes_at_once(values));
      std::tie(entry, captured) = stage(fun, call, values);
    } catch (const PythonError&) {
      if (!computes_at_once(values) || !needed_values()) throw;
      return run_by_op(fun, call, values);
    }
    inputs.insert(inputs.end(), captured.begin(), captured.end());
  }
  const KeptFunctions::Scope scope(entry->functions);
  if (entry->returns_once && computes_at_once(inputs)) {
    entry->returns_once = false;
    warn_of_dropped(core_ops().shard_map, entry->op.params(), inputs, entry->out_tree);
  }
  if (!computes_at_once(inputs)) return unflatten_values(entry->out_tree, entry->op.bind(inputs));
  const Values outputs = entry->op.compute(inputs);
  label_as_written(outputs, entry->spec_lengths);
  return unflatten_values(entry->out_tree, outputs);
}

// A program whose results vary over the axes that split them.
ProgramPtr with_spread_results(const Planned& planned, const ProgramPtr& body) {
  const Op& pvary = core_ops().pvary;
  MutableProgram out = copy_of(*body);
  for (std::size_t i = 0; i < out->outputs.size(); ++i) {
    const Type type = out->type(out->outputs[i]);
    const AxisSet axes = planned.to_spread(i, type);
    if (axes.empty()) continue;
    Equation equation{&pvary, {{"axes", AxisNames{axes}}}, {out->outputs[i]}, {}, nullptr};
    out->outputs[i] = out->add(infer_types(pvary, {type}, equation.params)[0]);
    equation.outputs = {out->outputs[i]};
    out->equations.push_back(std::move(equation));
  }
  return out;
}

// Is there a result that types do not check, and of which specs say that devices share it?
bool returns_once(const MeshAxes& mesh_axes) {
  return !mesh_axes.axes.empty() && !is_checked(mesh_axes.axes[0].name) &&
         std::any_of(mesh_axes.out.begin(), mesh_axes.out.end(),
                     [&](const MeshAxes::Blocks& blocks) {
                       return !mesh_axes.unmentioned(blocks).empty();
                     });
}

std::pair<std::shared_ptr<ShardMapEntry>, Values> ShardMap::stage(PyObject* fun, FlatCall& call,
                                                                  const Values& values) {
  const Op& op = core_ops().shard_map;
  const std::shared_ptr<ShardMapCache> cache = cache_;
  const CallForm form = call.form();
  Planned planned(plan_.get(), fun, form, values);
  Types types = types_of(values);
  for (std::size_t i = 0; i < types.size(); ++i)
    types[i] = planned.mesh_axes.block(types[i], planned.mesh_axes.in[i]);
  Staged staged;
  const CompileLog log;
  {
    const ManualScope manual(planned);
    const MeshAxesScope axes(planned.mesh_axes);
    staged = stage_call("shard_map", fun, form, types);
  }
  log.traced("shard_map", staged.program->name, types_of(values));
  planned.add_captured(staged.captured);
  planned.place_results(staged.out_tree, staged.program->output_types());
  const ProgramPtr body = with_spread_results(planned, staged.program);
  auto entry = std::make_shared<ShardMapEntry>(
      ShardMapEntry{BoundOp(op, shard_map_params(planned.mesh_axes, body)), staged.out_tree,
                    KeptFunctions(*body), returns_once(planned.mesh_axes), planned.spec_lengths});
  // A program that captured tracers is good for this call only.
  if (staged.captured.empty()) cache->insert(call, values, entry);
  return {std::move(entry), std::move(staged.captured)};
}

// The user's function runs with the values of all devices, which are there to be looked at.
Ref ShardMap::run_by_op(PyObject* fun, FlatCall& call, const Values& values) {
  const CallForm form = call.form();
  Planned planned(plan_.get(), fun, form, values);
  if (computes_at_once(values))
    require_devices(function_name(fun), values, devices_asked(planned.mesh_axes.mesh));
  TreeDefPtr out_tree;
  const auto body = [&](const Values& in) {
    const Ref result = call_with_values(fun, form, in);
    FlatResult flat = flatten_result(result.get(), "shard_map", fun);
    out_tree = flat.tree;
    planned.place_results(flat.tree, flat.values);
    return flat.values;
  };
  const ManualScope manual(planned);
  Values out = run_on_mesh(planned.mesh_axes, body, values);
  detach(out);
  if (computes_at_once(out)) label_as_written(out, planned.spec_lengths);
  return unflatten_values(out_tree, out);
}

}  // namespace

Ref make_shard_map(PyObject* fun, PyObject* plan) {
  static PyTypeObject* type = nullptr;
  made_once(type, [] {
    return make_function_type("shardax.ShardMapFunction",
                              "A function of blocks that runs on all devices of a mesh.",
                              staging_methods());
  });
  check_callable(fun);
  auto cache = shared_cache<ShardMapCache>(fun, plan);
  return make_function(type, fun, std::make_unique<ShardMap>(plan, std::move(cache)));
}

}  // namespace shardax::callables
