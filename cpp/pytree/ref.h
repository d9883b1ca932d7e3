// pytree/ref.h - an owning reference to a Python object, and the exception "Python has an error".
//
// Everything here needs the GIL. A Ref owns one count of its object or is empty. PythonError says
// that the interpreter's error indicator is set: a function that returns to Python returns NULL.
#pragma once

#include <Python.h>

#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/stack.h"

namespace shardax::pytree {

struct PythonError : std::exception {
  const char* what() const noexcept override { return "a Python exception is set"; }
};

// Sets `type(text)` and throws PythonError.
[[noreturn]] inline void raise_error(PyObject* type, const std::string& text) {
  PyErr_SetString(type, text.c_str());
  throw PythonError();
}

// Sets `type(text)` with the current Python error as its cause, and throws PythonError.
[[noreturn]] void raise_from(PyObject* type, const std::string& text);

class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT: a null pointer is an empty reference
  Ref(const Ref& other) noexcept : object_(other.object_) { Py_XINCREF(object_); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  // Takes over the count that the caller owns; a null object stays null.
  static Ref steal(PyObject* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  // Adds a count to an object that somebody else owns.
  static Ref borrow(PyObject* object) {
    Py_XINCREF(object);
    return steal(object);
  }
  // The result of a C API call that returns a new reference: null throws PythonError.
  static Ref checked(PyObject* object) {
    if (object == nullptr) throw PythonError();
    return steal(object);
  }

  PyObject* get() const { return object_; }
  // Gives the count away.
  PyObject* release() { return std::exchange(object_, nullptr); }
  void reset() { Ref dying = std::move(*this); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};
static_assert(sizeof(Ref) == sizeof(PyObject*));

// A list of references seen as the array of pointers that the C API takes.
inline std::span<PyObject* const> pointers(const std::vector<Ref>& refs) {
  return {reinterpret_cast<PyObject* const*>(refs.data()), refs.size()};
}

// For C API calls that return -1 on error.
inline int check(int status) {
  if (status < 0) throw PythonError();
  return status;
}

// PySequence_Fast, but a copy of a list that other threads may change. Null with an error set.
inline Ref fast_sequence(PyObject* object, const char* message) {
#ifdef Py_GIL_DISABLED
  if (PyList_Check(object)) return Ref::steal(PyList_AsTuple(object));
#endif
  return Ref::steal(PySequence_Fast(object, message));
}

// The same; null throws PythonError.
inline Ref checked_sequence(PyObject* object, const char* message) {
  Ref items = fast_sequence(object, message);
  if (!items) throw PythonError();
  return items;
}

// Item i of a list or tuple. Null where another thread has made a list shorter.
inline Ref item_of(PyObject* sequence, Py_ssize_t i) {
#ifdef Py_GIL_DISABLED
  if (PyList_Check(sequence)) {
    Ref item = Ref::steal(PyList_GetItemRef(sequence, i));
    if (!item) PyErr_Clear();
    return item;
  }
#endif
  return Ref::borrow(PySequence_Fast_GET_ITEM(sequence, i));
}

// The value of a str key in a dict; null where there is none.
inline Ref dict_item(PyObject* dict, const char* key) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* item = nullptr;
  if (PyDict_GetItemStringRef(dict, key, &item) < 0) PyErr_Clear();
  return Ref::steal(item);
#else
  return Ref::borrow(PyDict_GetItemString(dict, key));
#endif
}

// The current Python error, which is cleared, as an exception object with its traceback; and back.
Ref take_error();
void restore_error(const Ref& error);

// repr(object) and str(object) as UTF-8.
std::string repr(PyObject* object);
std::string str(PyObject* object);

// The UTF-8 text of a str object.
std::string text_of(PyObject* unicode);

// One level of C recursion, or RecursionError naming `where`.
class RecursionGuard {
 public:
  explicit RecursionGuard(const char* where) {
    if (stack_is_low()) {
      raise_error(PyExc_RecursionError,
                  std::string("maximum recursion depth exceeded") + where + ": " + stack_advice());
    }
    if (Py_EnterRecursiveCall(where) != 0) throw PythonError();
  }
  RecursionGuard(const RecursionGuard&) = delete;
  RecursionGuard& operator=(const RecursionGuard&) = delete;
  ~RecursionGuard() { Py_LeaveRecursiveCall(); }
};

}  // namespace shardax::pytree
