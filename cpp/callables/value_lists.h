// callables/value_lists.h - Values as lists of Python objects, and back.
#pragma once

#include <pybind11/cast.h>

#include "callables/function.h"
#include "callables/object.h"
#include "callables/python.h"

namespace shardax::callables {

inline Values values_of(const pybind11::iterable& objects) {
  Values values;
  for (const pybind11::handle object : objects) values.push_back(objects::to_value(object.ptr()));
  return values;
}

inline pybind11::list list_of(const Values& values) {
  pybind11::list out;
  for (const Value& value : values) out.append(to_object(checked(wrap(value))));
  return out;
}

}  // namespace shardax::callables
