// objects/functions/shape_args.h - shapes and axes as Python gives them, and methods that are
// functions of shardax.numpy.
#pragma once

#include <vector>

#include "objects/array/array_type.h"

namespace shardax::objects {

Ref int_tuple(const Shape& ints);
// An int or a sequence of ints; `what` is named in errors. Tracers are refused in JAX's words.
Ints parse_ints(PyObject* object, std::string_view what);
// x.reshape(*args): one sequence or several ints, of which one may be -1.
Shape parse_new_shape(const Value& value, PyObject* const* args, Py_ssize_t count);
// One sequence or several ints, made non-negative; throws ValueError where out of range.
Ints parse_axes(PyObject* const* args, Py_ssize_t count, std::size_t rank);

// Methods such as x.mean(axis=0), which call shardax.numpy.mean(x, axis=0).
std::vector<PyMethodDef> delegated_methods();
// shardax.numpy.<name>(self, *args, **kwargs); `name` is a literal.
PyObject* call_delegated(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t count,
                         PyObject* names);

}  // namespace shardax::objects
