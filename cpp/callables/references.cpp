// callables/references.cpp - the signal, and what references ask of the traces.
#include "callables/references.h"

#include "objects/array_type.h"
#include "trace/depth.h"

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

}  // namespace

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
  module.def("staging_generation", staging_generation,
             "Which staging trace records ops on plain arrays; 0: none does.");
  module.def("trace_depth", trace_depth, "How many traces are in progress.");
}

}  // namespace shardax::callables
