// callables/transforms/replicas.cpp - the core's side of shardax._debug.replicas.
#include "callables/transforms/replicas.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>

#include "analysis/replicas.h"
#include "base/index.h"
#include "callables/explain.h"
#include "callables/program/object.h"
#include "callables/run.h"
#include "callables/staging/traced.h"
#include "callables/transforms/axes.h"
#include "callables/value_lists.h"
#include "control/shard_map.h"
#include "explain/arguments.h"
#include "explain/divergence.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

std::atomic<bool> watching{false};

// A program with the facts about its arguments; `arguments` may hold None. No array is kept.
struct Followed {
  TaggedProgram program;
  Variation found;
  Followed(const ProgramPtr& source, const std::vector<ArrayPtr>& arrays)
      : program(tagged(source)), found(find_variation(program, seen_by(*source, arrays).equal)) {}
  static Followed of(const py::object& object, const py::list& arguments) {
    const ProgramPtr source = unwrap_program(object.ptr());
    return {source, arrays_of(*source, arguments)};
  }
  py::object place(int source) const {
    return source < 0 ? py::none() : place_of(program.sources[index(source)].location);
  }
  py::tuple meeting(const Meeting& m) const {
    return py::make_tuple(place(m.where), place(m.other));
  }
};

// The op pmap that stacks all results.
bool pmap_differs(const Equation& eqn, const Values& in, std::size_t i) {
  const Ints stacked(eqn.outputs.size(), 0);
  const Values out = shardax::bind(*eqn.op, eqn.params.with("out_axes", stacked), in);
  return !slices_equal(as_array(out[i]), 0);
}

// The op shard_map whose result i has the blocks of all devices along dimension 0.
bool grid_differs(const Equation& eqn, const Values& in, std::size_t i) {
  MeshAxes mesh_axes = mesh_axes_of(eqn.params);
  const Ints missing = mesh_axes.unmentioned(mesh_axes.out[i]);
  if (mesh_axes.out[i].empty()) return true;  // there is no dimension 0: types decide
  const std::int64_t own = mesh_axes.count(mesh_axes.out[i][0]), more = mesh_axes.count(missing);
  mesh_axes.out[i][0].append(missing.begin(), missing.end());
  const Params params = shard_map_params(mesh_axes, eqn.params.program(param::jaxpr));
  const Values out = shardax::bind(*eqn.op, params, in);
  const Array& all = as_array(out[i]);
  const std::int64_t rows = all.shape()[0] / (own * more), step = all.strides()[0];
  Type type = all.type();
  Shape strides = all.strides();
  type.sharding = nullptr;
  type.shape.erase(0);
  strides.erase(0);
  for (const auto& [extent, stride] :
       {std::pair{rows, step}, {more, rows * step}, {own, more * rows * step}}) {
    type.shape.insert(0, extent);
    strides.insert(0, stride);
  }
  return !slices_equal(*view_of(all, type, strides, 0), 1);
}

// Do devices differ in the result of a program that is one mapped function? It is run again, with
// all devices' results; not where that would have effects.
bool differs(const Program& program, const Values& in, std::size_t output) {
  if (program.equations.size() != 1 || has_effects(program)) return false;
  const Equation& eqn = program.equations[0];
  Values operands;
  for (Var v : eqn.inputs) {
    const auto at = std::find(program.inputs.begin(), program.inputs.end(), v);
    if (at == program.inputs.end()) return false;
    operands.push_back(in[index(at - program.inputs.begin())]);
  }
  const auto place = std::find(eqn.outputs.begin(), eqn.outputs.end(), program.outputs[output]);
  if (place == eqn.outputs.end() || !eqn.op->regions) return false;
  const auto i = index(place - eqn.outputs.begin());
  try {
    const ExecutionKind runs = eqn.op->regions(eqn.params).runs;
    return runs == ExecutionKind::mapped ? pmap_differs(eqn, operands, i)
           : runs == ExecutionKind::mesh ? grid_differs(eqn, operands, i)
                                         : false;
  } catch (const UserError&) {
    return false;  // the call itself reports the error
  }
}

}  // namespace

std::vector<bool> warn_of_dropped(const Op& op, const Params& params, const Values& in,
                                  const TreeDefPtr& tree) {
  const ProgramPtr program = program_of(op, params, in);
  // This first test needs no owners of equations; it finds nothing in nearly all programs.
  TaggedProgram plain{program, {}, {}};
  const auto dropped = [&](const std::vector<Ints>& equal) {
    std::vector<bool> out;
    for (const Boundary& result : find_variation(plain, equal).outputs)
      out.push_back(!result.dropped.empty());
    return out;
  };
  const auto any = [](const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), true) != flags.end();
  };
  const std::vector<bool> possible = dropped(std::vector<Ints>(in.size()));
  if (!any(possible)) return possible;
  std::vector<ArrayPtr> arrays;
  for (const Value& value : in) {
    if (as_array(value).deleted()) return possible;  // the call will say so
    arrays.emplace_back(&as_array(value));
  }
  if (!any(dropped(seen_by(*program, arrays).equal))) return possible;
  const Followed followed(program, arrays);
  for (std::size_t i = 0; i < followed.found.outputs.size(); ++i) {
    const Boundary& result = followed.found.outputs[i];
    if (result.dropped.empty() || !differs(*program, in, i)) continue;
    const py::object place = followed.place(result.source);
    call_python("_debug.replicas", "warn_of_dropped", tree.object(), static_cast<std::int64_t>(i),
                axis_text(result.dropped[0]), place.ptr());
  }
  return possible;
}

bool watching_replicas() { return watching.load(std::memory_order_relaxed); }

void report_call(PyObject* function, const CallArguments& arguments) {
  py::tuple positional(index(arguments.count));
  for (Py_ssize_t i = 0; i < arguments.count; ++i)
    positional[index(i)] = py::reinterpret_borrow<py::object>(arguments.values[i]);
  py::dict named;
  for (Py_ssize_t i = 0; i < arguments.keyword_count(); ++i)
    named[py::handle(PyTuple_GET_ITEM(arguments.names, i))] =
        py::reinterpret_borrow<py::object>(arguments.values[arguments.count + i]);
  call_python("_debug.replicas", "called", function, positional.ptr(), named.ptr());
}

void report_result(PyObject* function, PyObject* result) {
  call_python("_debug.replicas", "returned", function, result);
}

void init_replicas(py::module_& module) {
  module.def(
      "watch_replicas", [](bool on) { watching = on; },
      "From now on mapped functions report calls to shardax._debug.replicas, or do not.");
  module.def(
      "device_axes",
      [] {
        py::list out;
        for (const BoundAxis& axis : bound_axes()) {
          if (axis.devices) out.append(written_axis(axis.name));
        }
        return out;
      },
      "The names of the mapped axes in scope, outermost first.");
  py::class_<Followed>(module, "FollowedProgram", py::module_local(),
                       "How the devices' values of a program differ, for the arguments of a call.")
      .def(py::init(&Followed::of))
      .def(
          "variation",
          [](const Followed& followed) {
            py::list results = boundaries(followed.found.outputs);
            for (std::size_t i = 0; i < results.size(); ++i)
              results[i]["line"] = followed.place(followed.found.outputs[i].source);
            return py::make_tuple(boundaries(followed.found.inputs), results);
          },
          "Over which axes the arguments and results vary.")
      .def("where_it_diverges",
           [](const Followed& followed, std::size_t input, std::size_t output) {
             return followed.meeting(
                 where_it_diverges(followed.program, followed.found, input, output));
           })
      .def("updated_alike",
           [](const Followed& followed, std::size_t input) {
             return followed.meeting(updated_alike(followed.program, followed.found, input));
           })
      .def("drawn_apart", [](const Followed& followed, std::size_t output) {
        return followed.place(drawn_apart(followed.program, followed.found, output));
      });
  module.def(
      "differs",
      [](const py::object& program, const py::iterable& arguments, std::size_t output) {
        return differs(*unwrap_program(program.ptr()), values_of(arguments), output);
      },
      "Do devices differ in a result of a mapped function, of which one is returned?");
  module.def(
      "first_difference",
      [](const py::object& x, const std::vector<std::int64_t>& counts) -> py::object {
        const Value value = objects::to_value(x.ptr());
        const auto found = first_difference(as_array(value), Shape(counts.begin(), counts.end()));
        if (!found) return py::none();
        py::tuple index(found->index.size());
        for (std::size_t d = 0; d < found->index.size(); ++d) index[d] = found->index[d];
        return py::make_tuple(found->part, index);
      },
      "(the first part that differs from part 0, the element at which it does), or None.");
}

}  // namespace shardax::callables
