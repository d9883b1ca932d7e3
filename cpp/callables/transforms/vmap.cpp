// callables/transforms/vmap.cpp - calls of vectorised functions.
#include "callables/transforms/vmap.h"

#include <optional>

#include "analysis/shardings.h"
#include "base/errors.h"
#include "base/lists.h"
#include "callables/call.h"
#include "callables/staging/context.h"
#include "callables/staging/locate.h"
#include "callables/staging/traced.h"
#include "callables/transforms/axes.h"
#include "callables/transforms/references.h"
#include "objects/config.h"
#include "ops/batch_axis.h"
#include "ops/ops.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "trace/trace.h"
#include "transform/batch.h"

namespace shardax::callables {
namespace {

class Vmap final : public Transform {
 public:
  explicit Vmap(VmapOptions options) : options_(std::move(options)) {}
  PyObject* call(PyObject* function, const CallArguments& arguments) override;
  int traverse(visitproc visit, void* arg) override {
    Py_VISIT(options_.in_axes.get());
    Py_VISIT(options_.out_axes.get());
    return 0;
  }
  Ref recipe(PyObject* function) const override {
    const Ref split = list_of(options_.split),
              doc = checked(PyObject_GetAttrString(function, "__doc__"));
    return checked(Py_BuildValue("sOOzLOO", "vmap", options_.in_axes.get(), options_.out_axes.get(),
                                 text_or_null(options_.axis_name),
                                 static_cast<long long>(options_.axis_size), doc.get(),
                                 split.get()));
  }

 private:
  Ref call_batched(PyObject* fun, const CallArguments& arguments) const;

  VmapOptions options_;
};

[[noreturn]] void no_size(const CallForm& form, const std::vector<Ref>& leaves) {
  if (leaves.empty()) {
    const auto [args, kwargs] = rebuild_arguments(form, leaves);
    value_error(
        "vmap wrapped function must be passed at least one argument containing an array or "
        "axis_size must be specified, got empty *args=",
        repr(args.get()), " and **kwargs=", repr(kwargs.get()));
  }
  value_error(
      "vmap must have at least one non-None value in in_axes or axis_size must be specified");
}

using Axes = std::vector<std::string>;

// The axes of `names` that types show: without axes of one device if these split nothing.
Axes seen_in_types(Axes names, const Values& inputs) {
  if (names.empty() || !objects::flag("jax_remove_size_one_mesh_axis_from_type")) return names;
  for (const Value& input : inputs) {
    if (const ShardingPtr& own = input->type().sharding)
      std::erase_if(names, [&](const auto& name) { return ops::parts_of({name}, *own) == 1; });
  }
  return names;
}

// The explicit mesh axes that split the mapped dimension of inputs. They must be the same for all
// inputs if the user asked for explicit axes.
Axes mapped_split(const Values& inputs) {
  Axes found;
  bool first = true, asked = false;
  for (const Value& input : inputs) {
    const ShardingPtr& own = input->type().sharding;
    const Axes axes = own ? own->explicit_split(0) : Axes();
    asked = asked || asked_explicit(own);
    if (!first && asked && axes != found)
      value_error(
          "Mapped away dimension of inputs passed to vmap should be sharded the same. Got "
          "inconsistent axis specs: ",
          entry_text(found), " vs ", entry_text(axes),
          ". Bring them together with shardax.reshard.");
    if (found.empty()) found = axes;
    first = false;
  }
  return found;
}

// Unmapped inputs must be whole along the mesh axes that split the mapped dimension.
void check_unmapped(PyObject* leaf, const Axes& split) {
  const Value value = objects::is_array_object(leaf) ? objects::value_of(leaf) : nullptr;
  if (!value || !asked_explicit(value->type().sharding)) return;
  for (std::size_t d = 0; d < value->type().rank(); ++d) {
    for (const std::string& axis : value->type().sharding->explicit_split(d)) {
      if (!has(split, axis)) continue;
      value_error(
          "Unmapped values passed to vmap cannot be sharded along the mesh axis you are vmapping "
          "over. Got type: ",
          to_string(value->type()), ", in_axes: None and vmapped mesh axis: ", entry_text(split));
    }
  }
}

// Puts the batch axis of a result where `axis` says.
Value place_axis(const Value& with_axis, std::int64_t axis) {
  const std::int64_t place = checked_axis(axis, with_axis->type().rank());
  return place == 0 ? with_axis : ops::moveaxis(with_axis, 0, place);
}

PyObject* Vmap::call(PyObject* function, const CallArguments& arguments) {
  PyObject* fun = wrapped_function(function);
  try {
    return call_batched(fun, arguments).release();
  } catch (const PythonError&) {
    if (!met_reference(fun)) throw;
  }
  return call_with_references("call_vmapped", fun, arguments, options_.in_axes, options_.out_axes,
                              options_.axis_name, options_.axis_size);
}

Ref Vmap::call_batched(PyObject* fun, const CallArguments& arguments) const {
  FlatCall flat(arguments, {}, fun);
  const CallForm form = flat.form();
  LeafAxes axes = input_axes("vmap", options_.in_axes.get(), fun, form);
  // An unmapped argument reaches the function as the same object, which need not be an array.
  std::vector<Ref> leaves(flat.leaves().begin(), flat.leaves().end());
  std::vector<bool> mapped;
  for (std::int64_t axis : axes) mapped.push_back(axis != unmapped);
  Values values;
  flat.values(fun, false, values, &mapped);
  const std::int64_t size = mapped_size("vmap", values, axes, options_.axis_size, fun, form);
  if (size < 0) no_size(form, leaves);

  Values inputs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (mapped[i])
      inputs.push_back(axes[i] == 0 ? values[i] : ops::moveaxis(values[i], axes[i], 0));
  }
  BatchAxis axis{size, -1, false};
  if (!options_.axis_name.empty()) axis.name = new_axis(options_.axis_name);
  axis.split = mapped_split(inputs);
  const std::vector<std::string> asked = seen_in_types(options_.split, inputs);
  if (axis.split.empty()) {
    axis.split = asked;
  } else if (!asked.empty() && asked != axis.split) {
    value_error(
        "Only one of spmd_axis_name or arrays sharded on `Explicit` mesh axis type is allowed. Got "
        "spmd_axis_name=",
        entry_text(options_.split),
        " and arrays sharded on explicit_mesh_axis=", entry_text(axis.split));
  }
  for (std::size_t i = 0; i < leaves.size() && !axis.split.empty(); ++i) {
    if (!mapped[i]) check_unmapped(leaves[i].get(), axis.split);
  }
  std::optional<TracerWatch> watch;
  if (objects::flag("jax_check_tracer_leaks")) watch.emplace();
  std::uint64_t generation = 0;
  FlatResult returned;
  const auto body = [&](const Values& in) {
    if (watch && !in.empty()) generation = static_cast<const Tracer&>(*in[0]).generation();
    for (std::size_t i = 0, next = 0; i < leaves.size(); ++i) {
      if (mapped[i]) leaves[i] = checked(wrap(in[next++]));
    }
    const TransformationScope names("vmap");
    const Ref result = call_with_leaves(fun, form, leaves);
    returned = flatten_result(result.get(), "vmap", fun);
    return returned.values;
  };
  Batched result = batch(body, inputs, std::vector<bool>(inputs.size(), true), axis);

  const LeafAxes out_axes = output_axes("vmap", options_.out_axes.get(), returned.tree);
  for (std::size_t i = 0; i < result.out.size(); ++i) {
    if (out_axes[i] != unmapped) {
      const Value whole =
          result.batched[i] ? result.out[i] : ops::repeated(result.out[i], axis, inputs);
      result.out[i] = place_axis(whole, out_axes[i]);
    } else if (result.batched[i]) {
      raise_in_python("unmapped_output_is_batched", options_.out_axes, returned.tree.object(),
                      static_cast<std::int64_t>(i), options_.axis_name);
    } else if (!returned.values[i]->is_tracer()) {
      result.out[i] = nullptr;  // the object that the function returned, which need not be an array
    }
  }
  Ref tree = unflatten_values(returned.tree, result.out, returned.leaves);
  if (watch && generation != 0) {
    leaves.clear();
    returned = {};
    check_leaks(generation, "BatchTrace", concat(describe_function(fun), " for vmap"));
  }
  return tree;
}

}  // namespace

Ref make_vmap(PyObject* fun, VmapOptions options, PyObject* doc) {
  static PyTypeObject* type = nullptr;
  made_once(type, [] {
    return make_function_type("shardax.VmappedFunction",
                              "A function applied along an axis of its arguments.", nullptr);
  });
  check_callable(fun);
  return make_function(type, fun, std::make_unique<Vmap>(std::move(options)), doc);
}

}  // namespace shardax::callables
