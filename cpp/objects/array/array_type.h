// objects/array/array_type.h - the Python types of Values: Array, ArrayImpl and one per kind of
// tracer.
//
// All share one C struct. `Array` carries every slot, method and property and is abstract.
// `ArrayImpl` (elements exist) and `Tracer` with its subclasses inherit from it, so that
// isinstance(x, Array) holds for arrays and tracers alike.
#pragma once

#include "objects/errors.h"

namespace shardax::objects {

struct ArrayObject {
  PyObject_HEAD Value value;
  PyObject* weak_references;
  ArrayObject *older, *newer;  // of an ArrayImpl: its neighbours among those that exist, or null
};

// The types; valid after init_array.
extern PyTypeObject* array_type;
extern PyTypeObject* array_impl_type;
extern PyTypeObject* tracer_type;

inline bool is_array_object(PyObject* object) {
  return Py_IS_TYPE(object, array_impl_type) || PyObject_TypeCheck(object, array_type);
}

// Gives a tracer that Python made its Value (objects/python_tracer.h).
void fill_tracer(PyObject* object);
// The Value inside an object for which is_array_object holds.
inline const Value& value_of(PyObject* object) {
  const Value& value = reinterpret_cast<ArrayObject*>(object)->value;
  if (!value) [[unlikely]]
    fill_tracer(object);
  return value;
}

// A new Python object for `value`: an ArrayImpl, or a tracer of the class that it names.
PyObject* wrap(Value value);
inline Ref wrapped(Value value) { return Ref::checked(wrap(std::move(value))); }
// A tuple of new objects.
PyObject* wrap_tuple(const Values& values);

// A list of the arrays that Python holds and that are not deleted, oldest first.
PyObject* live_arrays();

// The Value of an array or tracer; throws TypeError for other objects.
Value unwrap(PyObject* object);

// Adds Array, ArrayImpl, Tracer and the classes of tracers to the module.
void init_array(PyObject* module);

}  // namespace shardax::objects
