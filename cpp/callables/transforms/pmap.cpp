// callables/transforms/pmap.cpp - calls of pmapped functions.
//
// Start at Pmap::call. A new signature goes through Pmap::stage. It finds the axes of all leaves,
// the size of the mapped axis, the per-device program, and the params of the pmap op. Later calls
// find the entry, whose op holds compiled plans, and label the results with where their shards lie.
#include "callables/transforms/pmap.h"

#include <numeric>
#include <optional>
#include <tuple>

#include "array/process_axis.h"
#include "base/index.h"
#include "base/lists.h"
#include "callables/cache.h"
#include "callables/host_function.h"
#include "callables/run.h"
#include "callables/staging/compile_log.h"
#include "callables/staging/context.h"
#include "callables/staging/locate.h"
#include "callables/staging/traced.h"
#include "callables/transforms/axes.h"
#include "callables/transforms/references.h"
#include "callables/transforms/replicas.h"
#include "control/control.h"
#include "ir/core_ops.h"
#include "objects/config.h"
#include "runtime/processes.h"

namespace shardax::callables {
namespace {

struct PmapEntry {
  BoundOp op;
  TreeDefPtr out_tree;
  Donation donation;
  std::vector<ShardingPtr> shardings;  // of the outputs
  bool returns_once;  // has outputs that are not stacked, and that have not been looked at
  KeptFunctions functions;
  // If devices may differ in such outputs: the op that stacks them, and a flag for each output.
  std::optional<BoundOp> stacking = {};
  std::vector<bool> stacked = {};

  Values compute(const Values& inputs);
};

// Results that are not stacked are those of the first device; their shards keep each device's.
Values PmapEntry::compute(const Values& inputs) {
  if (std::exchange(returns_once, false)) {
    const Params& params = op.params();
    stacked = warn_of_dropped(core_ops().pmap, params, inputs, out_tree);
    if (std::count(stacked.begin(), stacked.end(), true) > 0) {
      Ints axes = params.ints(param::out_axes);
      for (std::size_t i = 0; i < axes.size(); ++i)
        if (stacked[i]) axes[i] = 0;
      stacking.emplace(core_ops().pmap, params.with("out_axes", axes));
    }
  }
  if (!stacking) return op.compute(inputs, donation.mask());
  Values out = stacking->compute(inputs, donation.mask());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!stacked[i]) continue;
    const ArrayPtr all(&as_array(out[i]));
    Type type = all->type();
    Shape strides = all->strides();
    type.erase_dimension(0);
    strides.erase(0);
    const ArrayPtr first = view_of(*all, type, strides, 0);
    first->set_terms(all);
    out[i] = first;
  }
  return out;
}

using PmapCache = Cache<PmapEntry>;

class Pmap final : public Transform {
 public:
  Pmap(PmapOptions options, std::shared_ptr<PmapCache> cache)
      : options_(std::move(options)), cache_(std::move(cache)) {}
  ~Pmap() override { PmapCache::release_own(cache_); }
  PyObject* call(PyObject* function, const CallArguments& arguments) override;
  int traverse(visitproc visit, void* arg) override;
  void clear() override { PmapCache::clear_own(cache_); }
  Ref recipe(PyObject*) const override {
    const PmapOptions& o = options_;
    const Ref statics = list_of(o.statics.positions), donated = list_of(o.donated),
              devices = list_of(o.devices);
    return checked(Py_BuildValue("szOOOOLOO", "pmap", text_or_null(o.axis_name), o.in_axes.get(),
                                 o.out_axes.get(), statics.get(), donated.get(),
                                 static_cast<long long>(o.axis_size), devices.get(),
                                 o.debug ? Py_True : Py_False));
  }
  const StaticSpec& statics() const override { return options_.statics; }
  StaticSpec donated() const override { return {options_.donated, {}}; }
  const void* leaves() const override { return PmapCache::left_by(cache_); }

 private:
  using EntryPtr = std::shared_ptr<PmapEntry>;
  std::pair<EntryPtr, Values> stage(PyObject* fun, FlatCall& call, const Values& values);
  Ref call_mapped(PyObject* fun, const CallArguments& arguments);
  Ref run_op_by_op(PyObject* fun, FlatCall& call, const Values& values) const;
  std::int64_t axis_size(const Values& values, LeafAxes& axes, PyObject* fun,
                         const CallForm& form) const;
  AxisName axis_name() const {
    return new_axis(options_.axis_name.empty() ? "_internal_pmap_axis_name" : options_.axis_name);
  }
  // Is it one of the processes' parts of an axis over all devices?
  bool spans_processes(std::int64_t size) const;
  // The devices of this process among `devices`; all if none is its own.
  std::vector<int> own_devices() const;
  void check_device_count(std::int64_t size) const;
  ShardingPtr sharding(std::int64_t axis, std::int64_t size) const;

  PmapOptions options_;
  std::shared_ptr<PmapCache> cache_;
};

PyObject* Pmap::call(PyObject* function, const CallArguments& arguments) {
  PyObject* fun = wrapped_function(function);
  const auto run = [&] {
    try {
      return call_mapped(fun, arguments).release();
    } catch (const PythonError&) {
      if (!met_reference(fun)) throw;
    }
    return call_with_references("call_pmapped", fun, arguments, options_.in_axes, options_.out_axes,
                                options_.axis_name, options_.axis_size,
                                list_of(options_.statics.positions));
  };
  return watched(function, arguments, run);
}

Ref Pmap::call_mapped(PyObject* fun, const CallArguments& arguments) {
  FlatCall call(arguments, options_.statics, fun);
  Values values;
  call.values(fun, true, values);
  if (options_.debug || jit_disabled()) return run_op_by_op(fun, call, values);
  EntryPtr entry = cache_->find(call, values);
  Values inputs = values;
  if (!entry) {
    Values captured;
    std::tie(entry, captured) = stage(fun, call, values);
    inputs.insert(inputs.end(), captured.begin(), captured.end());
  }
  entry->donation.require_distinct(values);
  Values outputs;
  const KeptFunctions::Scope scope(entry->functions);
  if (computes_at_once(inputs)) {
    outputs = entry->compute(inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      as_array(outputs[i]).set_sharding(entry->shardings[i]);
    entry->donation.apply(values);
  } else {
    outputs = entry->op.bind(inputs);
  }
  return unflatten_values(entry->out_tree, outputs);
}

// The size agreed on by the arguments, `axis_size`, or how many devices there are.
std::int64_t Pmap::axis_size(const Values& values, LeafAxes& axes, PyObject* fun,
                             const CallForm& form) const {
  const std::int64_t found = mapped_size("pmap", values, axes, -1, fun, form);
  const std::int64_t processes = runtime::process_count();
  if (found >= 0 && options_.axis_size >= 0 && found != options_.axis_size &&
      found * processes != options_.axis_size) {
    value_error(
        "pmap: Specified axis_size ", options_.axis_size, " doesn't match received axis_size ",
        found,
        ", the size of the arguments' mapped axes. Leave axis_size out, or pass arguments of "
        "that size.");
  }
  if (found >= 0) return found;
  const std::int64_t local = objects::device_count();
  if (options_.axis_size > local && options_.axis_size % processes == 0)
    return options_.axis_size / processes;
  if (options_.axis_size >= 0) return options_.axis_size;
  Scratch spec;
  pytree::flatten(options_.in_axes.get(), spec.leaves(), spec.tree());
  if (!spec.leaves().empty())
    value_error("pmap requires at least one argument with a mapped axis: in_axes maps no array of ",
                "this call of ", function_name(fun),
                ". Pass one, or say the size with axis_size= and in_axes=None.");
  return options_.devices.empty() ? local : static_cast<std::int64_t>(own_devices().size());
}

std::vector<int> Pmap::own_devices() const {
  std::vector<int> own;
  std::ranges::copy_if(options_.devices, std::back_inserter(own), runtime::is_local_device);
  return own.empty() ? options_.devices : own;
}

bool Pmap::spans_processes(std::int64_t size) const {
  const bool local = std::ranges::all_of(options_.devices, runtime::is_local_device);
  return runtime::process_count() > 1 && options_.axis_size != size &&
         (options_.devices.empty() || !local) &&
         std::ranges::none_of(bound_axes(), [](const BoundAxis& axis) { return axis.devices; });
}

void Pmap::check_device_count(std::int64_t size) const {
  std::int64_t total = size;
  for (const BoundAxis& axis : bound_axes()) total *= axis.devices ? axis.size : 1;
  const bool chosen = !options_.devices.empty();
  const auto available =
      chosen ? static_cast<std::int64_t>(own_devices().size()) : objects::device_count();
  if (chosen && size > available) {
    value_error(
        "pmap: ", size, " mapped slices need ", size, " devices, but `devices` lists ", available,
        ". Leading axis size of input to pmapped function must equal the number of local devices "
        "passed to pmap. Got axis_size=",
        size, ", num_local_devices=", available, ".");
  }
  if (total <= available || chosen) return;
  const std::string remedy =
      concat(" Raise it with shardax.config.update(\"jax_num_cpu_devices\", ", total,
             "). (This is JAX's \"compiling computation that requires ", total,
             " logical devices, but only ", available,
             " XLA devices are available (num_replicas=", total, ")\".)");
  if (total != size) {
    value_error("pmap: pmapped function requires ", total,
                " local devices to run due to nested pmapped or "
                "other parallel functions, but only ",
                available, " are available.", remedy);
  }
  value_error("pmap: ", size, " mapped slices need ", size, " devices, but ", available, " exist.",
              remedy);
}

ShardingPtr Pmap::sharding(std::int64_t axis, std::int64_t size) const {
  if (size == 0) return nullptr;  // no device has any of it
  const std::string name =
      options_.axis_name.empty() ? "_internal_pmap_axis_name" : options_.axis_name;
  Shared<Sharding> sharding(new Sharding);
  sharding->mesh_axes = {name};
  sharding->mesh_shape = {size};
  sharding->axis_types.assign(1, 'p');
  sharding->devices = own_devices();
  sharding->devices.resize(index(size));
  if (options_.devices.empty())
    std::iota(sharding->devices.begin(), sharding->devices.end(), runtime::first_device());
  if (axis != unmapped) {
    sharding->spec.resize(index(axis) + 1);
    sharding->spec.back() = {name};
  }
  return ShardingPtr(sharding.get());
}

// A result that is not stacked is the first device's, unless all devices are known to share it.
void check_first_device(std::int64_t size, std::size_t leaf, bool varies) {
  if (size > 0 || !varies) return;
  value_error("pmap: out_axes is None for leaf ", leaf,
              " of the result, whose value is that of the first device, but the mapped axis has "
              "size 0. Return a value that all devices share, of psum say, or map the output.");
}

// The mapped axis in result leaf `leaf`, whose shape is `shape` on each device.
std::int64_t output_axis(std::int64_t axis, std::size_t leaf, const Shape& shape) {
  const auto rank = static_cast<std::int64_t>(shape.size()) + 1;
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  value_error("pmap: out_axes has ", axis, " for leaf ", leaf, " of the result, whose shape is ",
              to_string(shape), " on each device: axis ", axis,
              " is out of bounds for array of dimension ", rank, ", the mapped axis included.");
}

Ints as_ints(const LeafAxes& axes) {
  Ints out;
  for (std::int64_t axis : axes) out.push_back(axis == unmapped ? -1 : axis);
  return out;
}

// The processes of a mapped axis, in scope beside it.
BoundAxis across_processes(AxisName axis) {
  const std::string text = process_axis_text(axis_text(axis));
  return {intern_axis(text), runtime::process_count(), true};
}

// The types of one device's leaves.
Types device_types(const Values& values, const LeafAxes& axes, AxisName axis) {
  Types types = types_of(values);
  for (std::size_t i = 0; i < types.size(); ++i) {
    types[i].sharding = nullptr;  // within, it would be that of a slice
    if (axes[i] == unmapped) continue;
    types[i].erase_dimension(index(axes[i]));
    types[i].varying = join(types[i].varying, AxisSet{axis});
  }
  return types;
}

// Programs that captured tracers are good for this call only.
std::pair<Pmap::EntryPtr, Values> Pmap::stage(PyObject* fun, FlatCall& call, const Values& values) {
  const Op* op = &core_ops().pmap;
  const std::shared_ptr<PmapCache> cache = cache_;
  const CallForm form = call.form();
  LeafAxes in_axes = input_axes("pmap", options_.in_axes.get(), fun, form);
  const std::int64_t size = axis_size(values, in_axes, fun, form);
  check_device_count(size);
  const AxisName axis = axis_name();

  Staged staged;
  const CompileLog log;
  {
    std::optional<AxisScope> processes;
    if (spans_processes(size)) processes.emplace(across_processes(axis));
    const AxisScope scope({axis, size, true});
    staged = stage_call("pmap", fun, form, device_types(values, in_axes, axis));
  }
  log.traced("pmap", staged.program->name, types_of(values));
  in_axes.resize(in_axes.size() + staged.captured.size(), unmapped);
  LeafAxes out_axes = output_axes("pmap", options_.out_axes.get(), staged.out_tree);
  const Types body_types = staged.program->output_types();
  std::vector<ShardingPtr> shardings;
  Types out_types;
  for (std::size_t i = 0; i < out_axes.size(); ++i) {
    out_types.push_back(body_types[i]);
    if (out_axes[i] == unmapped) {
      check_first_device(size, i, contains(body_types[i].varying, axis));
    } else {
      out_axes[i] = output_axis(out_axes[i], i, body_types[i].shape);
      out_types[i].insert_dimension(index(out_axes[i]), size);
    }
    shardings.push_back(sharding(out_axes[i], size));
  }
  Params params{{"axis_name", AxisNames{{axis}}}, {"axis_size", size},
                {"in_axes", as_ints(in_axes)},    {"out_axes", as_ints(out_axes)},
                {"name", staged.program->name},   {"jaxpr", staged.program}};
  auto entry = std::make_shared<PmapEntry>(PmapEntry{
      BoundOp(*op, std::move(params)), staged.out_tree,
      Donation(form, options_.donated, {}, types_of(values), out_types), std::move(shardings),
      std::count(out_axes.begin(), out_axes.end(), unmapped) > 0, KeptFunctions(*staged.program)});
  if (staged.captured.empty()) cache->insert(call, values, entry);
  return {std::move(entry), std::move(staged.captured)};
}

// The user's function runs with the values of all devices, which are there to be looked at.
Ref Pmap::run_op_by_op(PyObject* fun, FlatCall& call, const Values& values) const {
  const CallForm form = call.form();
  LeafAxes in_axes = input_axes("pmap", options_.in_axes.get(), fun, form);
  const std::int64_t size = axis_size(values, in_axes, fun, form);
  check_device_count(size);
  std::vector<bool> mapped;
  for (const std::int64_t axis : in_axes) mapped.push_back(axis != unmapped);
  std::optional<AxisScope> processes;
  if (spans_processes(size)) processes.emplace(across_processes(axis_name()));
  TreeDefPtr out_tree;
  const auto body = [&](const Values& in) {
    const Ref result = call_with_values(fun, form, in);
    FlatResult flat = flatten_result(result.get(), "pmap", fun);
    out_tree = flat.tree;
    return flat.values;
  };
  Batched out =
      batch(body, mapped_first(values, as_ints(in_axes)), mapped, {size, axis_name(), true});
  const LeafAxes out_axes = output_axes("pmap", options_.out_axes.get(), out_tree);
  for (std::size_t i = 0; i < out.out.size(); ++i) {
    std::int64_t axis = -1;
    if (out_axes[i] == unmapped) {
      check_first_device(size, i, out.batched[i]);
    } else {
      Shape shape = out.out[i]->shape();
      if (out.batched[i]) shape.erase(0);
      axis = output_axis(out_axes[i], i, shape);
    }
    out.out[i] = place_mapped(out.out[i], out.batched[i], axis, size);
  }
  detach(out.out);
  for (std::size_t i = 0; i < out.out.size(); ++i) {
    if (!out.out[i]->is_tracer()) as_array(out.out[i]).set_sharding(sharding(out_axes[i], size));
  }
  return unflatten_values(out_tree, out.out);
}

int Pmap::traverse(visitproc visit, void* arg) {
  Py_VISIT(options_.in_axes.get());
  Py_VISIT(options_.out_axes.get());
  return PmapCache::traverse_own(cache_, visit, arg);
}

// Maps of one function with equal options share their programs.
Ref options_key(const PmapOptions& o) {
  const Ref statics = list_of(o.statics.positions), donated = list_of(o.donated);
  const Ref devices = list_of(o.devices);
  return checked(Py_BuildValue("(ssOOOOLO)", "pmap", o.axis_name.c_str(), o.in_axes.get(),
                               o.out_axes.get(), statics.get(), donated.get(),
                               static_cast<long long>(o.axis_size), devices.get()));
}

}  // namespace

Ref make_pmap(PyObject* fun, PmapOptions options) {
  static PyTypeObject* type = nullptr;
  made_once(type, [] {
    return make_function_type("shardax.PmapFunction",
                              "A function that runs on all devices of a mapped axis.",
                              staging_methods());
  });
  check_callable(fun);
  auto cache = shared_cache<PmapCache>(fun, options_key(options).get());
  return make_function(type, fun, std::make_unique<Pmap>(std::move(options), std::move(cache)));
}

}  // namespace shardax::callables
