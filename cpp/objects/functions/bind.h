// objects/functions/bind.h - `bind(name, args, **params)`: any op by name, for compositions in
// Python.
#pragma once

#include "objects/array/array_type.h"

namespace shardax::objects {

// A Python value as a parameter: bool, int, float, str, None, dtypes, and tuples or lists of ints.
// Under "axes" and "axis_name", strings and tuples of hashable objects other than ints are names of
// mapped axes.
ParamValue to_param(std::string_view name, PyObject* object);
// The interned name of a mapped axis: a str as it is, other hashable objects by their repr.
AxisName to_axis_name(PyObject* object);

void init_bind(PyObject* module);

}  // namespace shardax::objects
