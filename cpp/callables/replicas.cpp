// callables/replicas.cpp - what shardax._debug.replicas asks of the core, and what it is told.
#include "callables/replicas.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>

#include "analysis/replicas.h"
#include "callables/axes.h"
#include "callables/explain.h"
#include "callables/program_object.h"
#include "callables/traced.h"
#include "callables/value_lists.h"
#include "explain/arguments.h"
#include "explain/divergence.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

std::atomic<bool> watching{false};

// A program with what is known of its arguments; `arguments` may hold None.
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
    return source < 0 ? py::none()
                      : place_of(program.sources[static_cast<std::size_t>(source)].location);
  }
  py::tuple meeting(const Meeting& m) const {
    return py::make_tuple(place(m.where), place(m.other));
  }
};

ProgramPtr pmap_program(const Params& params, const Values& in) {
  static const Op& op = *find_op("pmap");
  MutableProgram program(new Program);
  Equation equation{&op, params, {}, {}, nullptr};
  Types types;
  for (const Value& value : in) {
    types.push_back(value->type());
    program->inputs.push_back(program->add(value->type()));
    equation.inputs.push_back(program->inputs.back());
  }
  for (Type& type : infer_types(op, types, params)) {
    program->outputs.push_back(program->add(std::move(type)));
    equation.outputs.push_back(program->outputs.back());
  }
  program->equations.push_back(std::move(equation));
  return program;
}

}  // namespace

void warn_of_dropped(const Params& params, const Values& in, const TreeDefPtr& tree) {
  std::vector<ArrayPtr> arrays;
  for (const Value& value : in) {
    if (as_array(value).deleted()) return;  // the call will say so
    arrays.emplace_back(&as_array(value));
  }
  const ProgramPtr program = pmap_program(params, in);
  // Where all is well, nobody has to know which equations are whose.
  TaggedProgram plain{program, {}, {}};
  const Variation found = find_variation(plain, seen_by(*program, arrays).equal);
  if (std::none_of(found.outputs.begin(), found.outputs.end(),
                   [](const Boundary& result) { return !result.dropped.empty(); }))
    return;
  const Followed followed(program, arrays);
  for (std::size_t i = 0; i < followed.found.outputs.size(); ++i) {
    const Boundary& result = followed.found.outputs[i];
    if (result.dropped.empty()) continue;
    const py::object place = followed.place(result.source);
    call_python("_debug.replicas", "warn_of_dropped", tree.object(), static_cast<std::int64_t>(i),
                axis_text(result.dropped[0]), place.ptr());
  }
}

bool watching_replicas() { return watching.load(std::memory_order_relaxed); }

void report_call(PyObject* function, const CallArguments& arguments) {
  py::tuple positional(static_cast<std::size_t>(arguments.count));
  for (Py_ssize_t i = 0; i < arguments.count; ++i)
    positional[static_cast<std::size_t>(i)] =
        py::reinterpret_borrow<py::object>(arguments.values[i]);
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
  module.def(
      "variation",
      [](const py::object& program, const py::list& arguments) {
        const Followed followed = Followed::of(program, arguments);
        py::list results = boundaries(followed.found.outputs);
        for (std::size_t i = 0; i < results.size(); ++i)
          results[i]["line"] = followed.place(followed.found.outputs[i].source);
        return py::make_tuple(boundaries(followed.found.inputs), results);
      },
      "Over which axes the arguments and results of a program vary.");
  module.def("where_it_diverges", [](const py::object& program, const py::list& arguments,
                                     std::size_t input, std::size_t output) {
    const Followed followed = Followed::of(program, arguments);
    return followed.meeting(where_it_diverges(followed.program, followed.found, input, output));
  });
  module.def("updated_alike",
             [](const py::object& program, const py::list& arguments, std::size_t input) {
               const Followed followed = Followed::of(program, arguments);
               return followed.meeting(updated_alike(followed.program, followed.found, input));
             });
  module.def("drawn_apart",
             [](const py::object& program, const py::list& arguments, std::size_t output) {
               const Followed followed = Followed::of(program, arguments);
               return followed.place(drawn_apart(followed.program, followed.found, output));
             });
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
