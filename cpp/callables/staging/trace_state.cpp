// callables/staging/trace_state.cpp - the traces in progress, the axes and the names in scope, for
// Python.
#include "callables/staging/trace_state.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "ir/params.h"
#include "objects/array/array_type.h"
#include "trace/current.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

// (generation of the innermost trace, level of the one that records): equal while both are the
// same.
py::tuple trace_state() {
  const CurrentTrace now = current_trace();
  return py::make_tuple(now.innermost ? now.innermost->generation() : 0, now.dynamic);
}

py::list axis_names() {
  py::list out;
  for (const BoundAxis& axis : bound_axes()) out.append(py::str(axis_text(axis.name)));
  return out;
}

// Names of equations, as Python holds them.
struct NameStack {
  NamesPtr names;

  NameStack inside(std::string name, bool transformation) const {
    return {std::make_shared<const Names>(Names{names, std::move(name), transformation})};
  }
};

// The names that equations have until `leave`; a `with` block each, so that they end in order.
class NamesEntered {
 public:
  explicit NamesEntered(const NameStack& stack)
      : scope_(std::make_unique<NamesScope>(stack.names)) {}
  void leave() { scope_.reset(); }

 private:
  std::unique_ptr<NamesScope> scope_;
};

void init_names(py::module_& m) {
  py::class_<NameStack>(m, "NameStack",
                        "The names that named_scope gave, and what transformed them.")
      .def(py::init<>())
      .def("__str__", [](const NameStack& s) { return names_text(s.names); })
      .def("__repr__",
           [](const NameStack& s) { return "NameStack('" + names_text(s.names) + "')"; })
      .def("__bool__", [](const NameStack& s) { return bool(s.names); })
      .def("__eq__",
           [](const NameStack& s, const py::object& other) {
             return py::isinstance<NameStack>(other) &&
                    names_text(s.names) == names_text(py::cast<NameStack&>(other).names);
           })
      .def("__hash__",
           [](const NameStack& s) { return std::hash<std::string>{}(names_text(s.names)); })
      .def("__add__",
           [](const NameStack& s, const NameStack& inside) {
             return NameStack{nested(s.names, inside.names)};
           })
      .def("extend",
           [](const NameStack& s, std::string name) { return s.inside(std::move(name), false); })
      .def("transform",
           [](const NameStack& s, std::string name) { return s.inside(std::move(name), true); });
  m.def("current_names", [] { return NameStack{current_names()}; });
  py::class_<NamesEntered>(m, "NamesEntered")
      .def(py::init<const NameStack&>())
      .def("leave", &NamesEntered::leave);
}

}  // namespace

py::object name_stack(const NamesPtr& names) { return py::cast(NameStack{names}); }

void init_trace_state(py::module_& m) {
  init_names(m);
  m.def("trace_state", trace_state,
        "A pair of numbers, equal as long as the same transformations are in progress.");
  m.def(
      "staging_in_progress", [] { return current_trace().dynamic != 0; },
      "Whether ops on plain arrays are recorded rather than computed.");
  m.def(
      "tracing", [] { return current_trace().innermost != nullptr; },
      "Whether any transformation is in progress.");
  m.def(
      "tracer_trace",
      [](const py::object& x) {
        const bool array = objects::is_array_object(x.ptr());
        const Value value = array ? objects::value_of(x.ptr()) : Value();
        if (!value || !value->is_tracer()) return std::pair<int, std::uint64_t>();
        const auto& trace = static_cast<const Tracer&>(*value).trace();
        return std::pair<int, std::uint64_t>(trace.level(), trace.generation());
      },
      "The level and generation of the trace that a tracer belongs to; 0, 0 for arrays.");
  m.def("axis_names", axis_names, "The names of the mapped axes in scope, outermost first.");
}

}  // namespace shardax::callables
