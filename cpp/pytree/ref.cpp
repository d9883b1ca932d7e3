// pytree/ref.cpp - errors and texts of Python objects.
#include "pytree/ref.h"

#include "base/index.h"

namespace shardax::pytree {

Ref take_error() {
#if PY_VERSION_HEX >= 0x030c0000
  return Ref::steal(PyErr_GetRaisedException());
#else
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value != nullptr && traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return Ref::steal(value);
#endif
}

void restore_error(const Ref& error) {
#if PY_VERSION_HEX >= 0x030c0000
  PyErr_SetRaisedException(Ref(error).release());
#else
  PyErr_Restore(Ref::borrow(reinterpret_cast<PyObject*>(Py_TYPE(error.get()))).release(),
                Ref(error).release(), PyException_GetTraceback(error.get()));
#endif
}

void raise_from(PyObject* type, const std::string& text) {
  Ref cause = take_error();
  const Ref error = Ref::checked(PyObject_CallFunction(type, "s", text.c_str()));
  PyException_SetContext(error.get(), Ref(cause).release());
  PyException_SetCause(error.get(), cause.release());
  PyErr_SetObject(type, error.get());
  throw PythonError();
}

std::string text_of(PyObject* unicode) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(unicode, &size);
  if (data == nullptr) throw PythonError();
  return {data, index(size)};
}

std::string repr(PyObject* object) { return text_of(Ref::checked(PyObject_Repr(object)).get()); }

std::string str(PyObject* object) { return text_of(Ref::checked(PyObject_Str(object)).get()); }

}  // namespace shardax::pytree
