// callables/unpacked.h - the arguments of a Python call as those of a vectorcall.
#pragma once

#include <pybind11/cast.h>

#include <vector>

#include "callables/function.h"

namespace shardax::callables {

// Borrows the values.
struct Unpacked {
  std::vector<PyObject*> values;
  pybind11::tuple names;
  Py_ssize_t count;
  Unpacked(const pybind11::tuple& args, const pybind11::dict& kwargs)
      : names(kwargs.size()), count(static_cast<Py_ssize_t>(args.size())) {
    for (const pybind11::handle value : args) values.push_back(value.ptr());
    std::size_t i = 0;
    for (const auto& [name, value] : kwargs) {
      values.push_back(value.ptr());
      names[i++] = name;
    }
  }
  CallArguments arguments() const { return {values.data(), count, names.ptr()}; }
};

}  // namespace shardax::callables
