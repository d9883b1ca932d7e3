// objects/python_tracer.h - tracers whose class is written in Python: subclasses of Tracer.
//
// Such an object has no Value when it is made: it may not know its type yet. The Value is made when
// one is first asked for, and refers to the object, whose attributes the user's trace reads. Each
// keeps the other alive, until Python's garbage collector finds no other reference.
#pragma once

#include "objects/array/array_type.h"
#include "trace/trace.h"

namespace shardax::objects {

class PythonTracer final : public Tracer {
 public:
  PythonTracer(const Trace& trace, Type type, PyObject* object);
  ~PythonTracer() override;
  PyObject* object() const { return object_; }
  std::string text() const override;
  std::string_view class_name() const override { return name; }
  static constexpr std::string_view name = "PythonTracer";

 private:
  PyObject* object_;
};

// The tracer behind an object's Value; null for other Values.
inline const PythonTracer* python_tracer(const Value& value) {
  if (!value || !value->is_tracer()) return nullptr;
  const auto& tracer = static_cast<const Tracer&>(*value);
  return tracer.class_name() == PythonTracer::name ? static_cast<const PythonTracer*>(&tracer)
                                                   : nullptr;
}

// The object of a Python tracer, with its Value.
struct TracerObject {
  ArrayObject array;
  PyObject* trace;  // `_trace`; null for tracers that the core made
  PyObject* aval;   // the argument of Tracer.__init__, or null
};

// The slots of Tracer for subclasses in Python.
std::vector<PyType_Slot> tracer_slots();
// Gives an object its Value. Installed by callables/: it knows the traces.
using TracerFiller = Value (*)(PyObject* trace, PyObject* aval, PyObject* object);
void set_tracer_filler(TracerFiller filler);

}  // namespace shardax::objects
