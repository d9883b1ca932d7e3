// objects/array/scalars.h - arrays as Python scalars, lists and text.
//
// The primal value of a tracer is used where it is known; where it is not, the errors are those of
// jax.errors.
#pragma once

#include "objects/array/array_type.h"

namespace shardax::objects {

// Slots of Array.
PyObject* array_repr(PyObject* self);
PyObject* array_str(PyObject* self);
int array_bool(PyObject* self);
PyObject* array_int(PyObject* self);
PyObject* array_float(PyObject* self);
PyObject* array_index(PyObject* self);
int array_contains(PyObject* self, PyObject* query);

// Methods of Array.
PyObject* array_complex(PyObject* self, PyObject*);
PyObject* array_format(PyObject* self, PyObject* specification);
PyObject* array_item(PyObject* self, PyObject* const* args, Py_ssize_t count);
PyObject* array_tolist(PyObject* self, PyObject*);
PyObject* array_to_numpy(PyObject* self, PyObject* args, PyObject* kwargs);  // __array__

// The array whose elements a Python conversion reads: `value` itself or the primal that it stands
// for; null where unknown. Throws for deleted arrays.
const Array* readable(const Value& value);

}  // namespace shardax::objects
