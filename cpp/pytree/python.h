// pytree/python.h - helpers for functions that Python calls directly.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <vector>

#include "pytree/core_lock.h"
#include "pytree/ref.h"

namespace shardax::pytree {

// Runs `body`, which returns a Ref, under the core's lock. Gives Python the result of a C function:
// a new reference, or NULL with an error set.
template <class Body>
PyObject* guarded(Body&& body) {
  const CoreLock lock;
  try {
    return body().release();
  } catch (const PythonError&) {
    return nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

inline Ref to_unicode(const std::string& text) {
  return Ref::checked(
      PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

inline Ref to_list(const std::vector<Ref>& items) {
  Ref list = Ref::checked(PyList_New(static_cast<Py_ssize_t>(items.size())));
  for (std::size_t i = 0; i < items.size(); ++i) {
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), Ref(items[i]).release());
  }
  return list;
}

}  // namespace shardax::pytree
