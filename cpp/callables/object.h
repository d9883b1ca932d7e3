// callables/object.h - a reference of our own as one of pybind11's.
#pragma once

#include <pybind11/pybind11.h>

#include "pytree/ref.h"

namespace shardax::callables {

inline pybind11::object to_object(pytree::Ref ref) {
  return pybind11::reinterpret_steal<pybind11::object>(ref.release());
}

}  // namespace shardax::callables
