// objects/functions/signature.h - the parameters of C functions that Python calls.
#pragma once

#include <array>
#include <string>

#include "base/index.h"
#include "pytree/python.h"
#include "pytree/ref.h"

namespace shardax::pytree {

// The arguments of a call by position and by name; those not given are null.
template <std::size_t N>
struct Signature {
  const char* function;
  std::array<const char*, N> names;
  std::size_t required;

  std::array<PyObject*, N> bind(PyObject* const* args, Py_ssize_t count, PyObject* keywords) const {
    std::array<PyObject*, N> bound{};
    if (count > static_cast<Py_ssize_t>(N)) {
      fail("takes at most " + std::to_string(N) + " positional arguments but " +
           std::to_string(count) + " were given");
    }
    for (Py_ssize_t i = 0; i < count; ++i) bound[index(i)] = args[i];
    for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i) {
      PyObject*& place = find(bound, PyTuple_GET_ITEM(keywords, i));
      place = args[count + i];
    }
    for (std::size_t i = 0; i < required; ++i) {
      if (bound[i] == nullptr) {
        fail("missing required argument '" + std::string(names[i]) + "'");
      }
    }
    return bound;
  }

 private:
  PyObject*& find(std::array<PyObject*, N>& bound, PyObject* name) const {
    for (std::size_t k = 0; k < N; ++k) {
      if (PyUnicode_CompareWithASCIIString(name, names[k]) != 0) continue;
      if (bound[k] != nullptr) fail("got multiple values for argument '" + str(name) + "'");
      return bound[k];
    }
    fail("got an unexpected keyword argument '" + str(name) + "'");
  }
  [[noreturn]] void fail(const std::string& text) const {
    raise_error(PyExc_TypeError, std::string(function) + "() " + text);
  }
};

}  // namespace shardax::pytree
