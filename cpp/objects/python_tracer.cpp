// objects/python_tracer.cpp - life cycle of tracers whose classes are written in Python.
#include "objects/python_tracer.h"

#include "base/errors.h"
#include "objects/array/array_methods.h"
#include "objects/lock.h"

namespace shardax::objects {
namespace {

TracerFiller filler = nullptr;

TracerObject* as_tracer(PyObject* object) { return reinterpret_cast<TracerObject*>(object); }

PyObject* tracer_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) return nullptr;
  new (&as_tracer(object)->array.value) Value();
  return object;
}

// Tracer(trace, aval): both may be given later, as attributes.
int tracer_init(PyObject* self, PyObject* args, PyObject* kwargs) {
  const CoreLock lock;
  static const char* names[] = {"trace", "aval", nullptr};
  PyObject *trace = nullptr, *aval = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:Tracer", const_cast<char**>(names), &trace,
                                   &aval)) {
    return -1;
  }
  Py_XSETREF(as_tracer(self)->trace, Py_XNewRef(trace));
  Py_XSETREF(as_tracer(self)->aval, Py_XNewRef(aval));
  return 0;
}

int tracer_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_tracer(self)->trace);
  Py_VISIT(as_tracer(self)->aval);
  const Value& value = as_tracer(self)->array.value;
  const PythonTracer* tracer = python_tracer(value);
  if (tracer && value->unique()) Py_VISIT(tracer->object());
  return 0;
}

int tracer_clear(PyObject* self) {
  const CoreLock lock;
  Py_CLEAR(as_tracer(self)->trace);
  Py_CLEAR(as_tracer(self)->aval);
  const Value dropped = std::move(as_tracer(self)->array.value);
  return 0;
}

PyObject* get_trace(PyObject* self, void*) {
  const CoreLock lock;
  if (PyObject* trace = as_tracer(self)->trace) return Py_NewRef(trace);
  return guarded([&] {
    return call_package_function("_transform.trace_state", "trace_of", &self, 1, nullptr);
  });
}

int set_trace(PyObject* self, PyObject* trace, void*) {
  const CoreLock lock;
  Py_XSETREF(as_tracer(self)->trace, Py_XNewRef(trace));
  return 0;
}

PyGetSetDef tracer_properties[] = {
    {"_trace", get_trace, set_trace, "The trace that a tracer belongs to.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

PythonTracer::PythonTracer(const Trace& trace, Type type, PyObject* object)
    : Tracer(trace, std::move(type)), object_(Py_NewRef(object)) {}

PythonTracer::~PythonTracer() {
  if (!Py_IsInitialized()) return;
  const Locked locked;
  Py_DECREF(object_);
}

std::string PythonTracer::text() const {
  std::string name = Py_TYPE(object_)->tp_name;
  return concat(name.substr(name.rfind('.') + 1), "(", to_string(type_), ")");
}

void fill_tracer(PyObject* object) {
  TracerObject* tracer = as_tracer(object);
  if (!tracer->trace || !filler) {
    type_error("a ", Py_TYPE(object)->tp_name,
               " was used before it had a trace: call Tracer.__init__(trace, aval), or set _trace "
               "and define the property aval.");
  }
  Value value = filler(tracer->trace, tracer->aval, object);
  tracer->array.value = std::move(value);
}

std::vector<PyType_Slot> tracer_slots() {
  const auto slot = [](int id, auto* function) {
    return PyType_Slot{id, reinterpret_cast<void*>(function)};
  };
  return {slot(Py_tp_new, tracer_new),
          slot(Py_tp_init, tracer_init),
          slot(Py_tp_traverse, tracer_traverse),
          slot(Py_tp_clear, tracer_clear),
          {Py_tp_getset, tracer_properties}};
}

void set_tracer_filler(TracerFiller f) { filler = f; }

}  // namespace shardax::objects
