// callables/object.h - references of our own, and modules, as objects of pybind11.
#pragma once

#include <pybind11/cast.h>

#include "pytree/ref.h"

namespace shardax::callables {

inline pybind11::object to_object(pytree::Ref ref) {
  return pybind11::reinterpret_steal<pybind11::object>(ref.release());
}

inline pybind11::object import_module(const char* name) {
  return to_object(pytree::Ref::checked(PyImport_ImportModule(name)));
}

}  // namespace shardax::callables
