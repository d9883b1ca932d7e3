// bindings/locked_definitions.cpp - entry points that take the core's lock and call pybind11's.
#include "bindings/locked_definitions.h"

#include <pybind11/pybind11.h>

#include "pytree/core_lock.h"

namespace py = pybind11;

namespace shardax {

#ifdef Py_GIL_DISABLED

namespace {

// pybind11 has one of each, by whose calling convention functions are registered.
PyCFunction dispatcher = nullptr;
destructor deallocator = nullptr;

template <class F>
F as(PyCFunction function) {
  return reinterpret_cast<F>(reinterpret_cast<void (*)()>(function));
}

PyObject* dispatch_fast(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const CoreLock lock;
  return as<PyCFunctionFastWithKeywords>(dispatcher)(self, args, count, names);
}

PyObject* dispatch(PyObject* self, PyObject* args, PyObject* kwargs) {
  const CoreLock lock;
  return as<PyCFunctionWithKeywords>(dispatcher)(self, args, kwargs);
}

void deallocate(PyObject* self) {
  if (PyObject_IS_GC(self)) PyObject_GC_UnTrack(self);
  const CoreLock lock;
  deallocator(self);
}

PyMethodDef* definition_of(const py::handle& function) {
  return reinterpret_cast<PyCFunctionObject*>(function.ptr())->m_ml;
}

void lock_function(py::handle function) {
  if (function && PyInstanceMethod_Check(function.ptr()))
    function = PyInstanceMethod_GET_FUNCTION(function.ptr());
  if (!function || !PyCFunction_Check(function.ptr())) return;
  PyMethodDef& definition = *definition_of(function);
  if (definition.ml_meth != dispatcher) return;
  const bool fast = (definition.ml_flags & METH_FASTCALL) != 0;
  definition.ml_meth = fast ? as<PyCFunction>(reinterpret_cast<PyCFunction>(
                                  reinterpret_cast<void (*)()>(dispatch_fast)))
                            : reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(dispatch));
}

void lock_class(const py::handle& type) {
  auto* object = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (object->tp_dealloc == deallocator) object->tp_dealloc = deallocate;
  for (const auto& [name, attribute] : py::dict(type.attr("__dict__"))) {
    lock_function(attribute);
    if (!PyObject_TypeCheck(attribute.ptr(), &PyProperty_Type)) continue;
    lock_function(attribute.attr("fget"));
    lock_function(attribute.attr("fset"));
  }
}

struct Sample {};

}  // namespace

void lock_definitions(PyObject* module) {
  if (!dispatcher) {
    dispatcher = definition_of(py::cpp_function([] {}))->ml_meth;
    const py::class_<Sample> sample(module, "_Sample", py::module_local());
    deallocator = reinterpret_cast<PyTypeObject*>(sample.ptr())->tp_dealloc;
    py::delattr(module, "_Sample");
  }
  for (const auto& [name, object] : py::dict(py::handle(module).attr("__dict__"))) {
    lock_function(object);
    if (PyType_Check(object.ptr())) lock_class(object);
    if (PyModule_Check(object.ptr())) lock_definitions(object.ptr());
  }
}

#else

void lock_definitions(PyObject*) {}

#endif

}  // namespace shardax
