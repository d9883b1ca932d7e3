// pytree/ref.cpp - errors and texts of Python objects.
#include "pytree/ref.h"

namespace shardax::pytree {

void raise_from(PyObject* type, const std::string& text) {
  PyObject *cause_type, *cause, *traceback;
  PyErr_Fetch(&cause_type, &cause, &traceback);
  PyErr_NormalizeException(&cause_type, &cause, &traceback);
  if (cause != nullptr && traceback != nullptr) PyException_SetTraceback(cause, traceback);
  Py_XDECREF(cause_type);
  Py_XDECREF(traceback);

  Ref error = Ref::steal(PyObject_CallFunction(type, "s", text.c_str()));
  if (!error) {
    Py_XDECREF(cause);
    throw PythonError();
  }
  Py_XINCREF(cause);
  PyException_SetContext(error.get(), cause);
  PyException_SetCause(error.get(), cause);
  PyErr_SetObject(type, error.get());
  throw PythonError();
}

std::string text_of(PyObject* unicode) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(unicode, &size);
  if (data == nullptr) throw PythonError();
  return {data, static_cast<std::size_t>(size)};
}

std::string repr(PyObject* object) { return text_of(Ref::checked(PyObject_Repr(object)).get()); }

std::string str(PyObject* object) { return text_of(Ref::checked(PyObject_Str(object)).get()); }

}  // namespace shardax::pytree
