// callables/transforms/references.cpp - the signal of references, and their queries of traces.
#include "callables/transforms/references.h"

#include <pybind11/pybind11.h>

#include <deque>

#include "callables/program/object.h"
#include "callables/staging/traced.h"
#include "callables/value_lists.h"
#include "objects/array/array_type.h"
#include "trace/current.h"
#include "trace/depth.h"
#include "transform/slices.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

// The class of the signal and that of references; set when the first reference is made.
struct Classes {
  PyObject* signal = nullptr;
  PyObject* reference = nullptr;
};
Classes& classes() {
  static Classes instance;
  return instance;
}

class CallerContext {
 public:
  void enter() { scopes_.emplace_back(NamedTrace::taking_references()->outer_dynamic()); }
  void exit() { scopes_.pop_back(); }

 private:
  std::deque<DynamicScope> scopes_;
};

}  // namespace

bool cleared_reference_signal(std::uint64_t generation) {
  if (!classes().signal || !PyErr_ExceptionMatches(classes().signal)) return false;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const Ref owned[] = {Ref::steal(type), Ref::steal(value), Ref::steal(traceback)};
  const Ref met = checked(PyObject_GetAttrString(value, "generation"));
  if (PyLong_AsLongLong(met.get()) >= static_cast<long long>(generation)) return true;
  PyErr_Restore(Py_NewRef(type), Py_XNewRef(value), Py_XNewRef(traceback));
  return false;
}

bool met_reference(PyObject* fun) {
  if (!classes().signal || !PyErr_ExceptionMatches(classes().signal)) return false;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const Ref owned[] = {Ref::steal(type), Ref::steal(value), Ref::steal(traceback)};
  if (!PyObject_HasAttrString(fun, "binds_references")) return true;
  PyErr_Restore(Py_NewRef(type), Py_XNewRef(value), Py_XNewRef(traceback));
  return false;
}

bool references_exist() { return classes().signal != nullptr; }

void check_no_reference(PyObject* argument) {
  if (!classes().signal || PyObject_IsInstance(argument, classes().reference) != 1) return;
  PyErr_SetNone(classes().signal);
  throw PythonError();
}

void init_references(py::module_& module) {
  module.def("set_reference_signal", [](const py::object& signal, const py::object& reference) {
    if (!classes().signal) classes() = {signal.inc_ref().ptr(), reference.inc_ref().ptr()};
  });
  module.def(
      "met_references",
      [] {
        NamedTrace* named = NamedTrace::taking_references();
        if (!named) return py::object(py::none());
        if (!named->met()) named->met() = checked(PyDict_New());
        return py::reinterpret_borrow<py::object>(named->met().get());
      },
      "By reference that the function being staged has met, what stands for it: a dict. None: it "
      "cannot have further inputs.");
  module.def(
      "further_inputs",
      [](const py::list& types) {
        StagingTrace& trace = NamedTrace::taking_references()->trace();
        Values inputs;
        for (const py::handle type : types) inputs.push_back(trace.input(*find_type(type.ptr())));
        return list_of(inputs);
      },
      "Inputs of these types for the function being staged, behind its arguments.");
  py::class_<CallerContext>(module, "CallerContext",
                            "A Python context in which ops go where the caller of the function "
                            "being staged records them.")
      .def(py::init())
      .def("__enter__", &CallerContext::enter)
      .def("__exit__", [](CallerContext& context, const py::args&) { context.exit(); });
  module.def("staging_generation", staging_generation,
             "Which staging trace records ops on plain arrays; 0: none does.");
  module.def("trace_depth", trace_depth, "How many traces are in progress.");
  module.def("maps_above", maps_above, py::arg("level"),
             "Is a function of slices in progress, in a trace above that level?");
}

}  // namespace shardax::callables
