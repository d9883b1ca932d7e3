// callables/transforms/devices.h - devices of a collective, as users name them.
#pragma once

#include "callables/python.h"
#include "ops/collectives/collective.h"

namespace shardax::callables {

struct Axes {
  ops::Devices devices;  // of the named axes, in the user's order
  Ints positional;       // dimensions, for reductions
};

// `axes`: a name, or a tuple or list of names; an integer is a dimension unless an axis of that
// name is in scope. `groups`: None, or lists of positions. `user` is the function that errors name.
// Throws NameError for names that are not in scope, ValueError for repeated ones and for groups
// that do not share out all positions.
Axes parse_axes(PyObject* axes, PyObject* groups, std::string_view user);
// The same where dimensions have no meaning.
ops::Devices parse_devices(PyObject* axes, PyObject* groups, std::string_view user);

std::int64_t to_integer(PyObject* object);

}  // namespace shardax::callables
