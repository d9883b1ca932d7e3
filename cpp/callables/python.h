// callables/python.h - short names of the bindings and of pytrees for the API layer.
#pragma once

#include <string>
#include <utility>

#include "base/errors.h"
#include "base/thread_end.h"
#include "objects/array/array_type.h"
#include "objects/array/convert.h"
#include "objects/dtypes.h"
#include "objects/errors.h"
#include "pytree/core_lock.h"
#include "pytree/flatten.h"
#include "pytree/ref.h"
#include "pytree/tree.h"

namespace shardax::callables {

using objects::guarded;
using objects::try_value;
using objects::wrap;
using pytree::PythonError;
using pytree::Ref;
using pytree::Scratch;
using pytree::TreeBuilder;
using pytree::TreeDefPtr;
using pytree::TreeView;

inline Ref checked(PyObject* object) { return Ref::checked(object); }
using pytree::check;
using pytree::repr;
using pytree::str;

inline PyObject* type_object(PyObject* object) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object));
}

inline Ref to_python(const char* text) { return checked(PyUnicode_FromString(text)); }
inline Ref to_python(const std::string& text) { return to_python(text.c_str()); }
inline Ref to_python(PyObject* object) { return Ref::borrow(object); }
inline Ref to_python(const Ref& object) { return object; }
inline Ref to_python(std::int64_t number) { return checked(PyLong_FromLongLong(number)); }
inline Ref to_python(bool flag) { return Ref::borrow(flag ? Py_True : Py_False); }

// module.name(args...), for work that is rare enough to be written in Python: messages of errors,
// nested axis specifications, ahead-of-time stages. Modules are those of the package.
template <class... Args>
Ref call_python(const char* module, const char* name, const Args&... args) {
  const Ref object = checked(PyImport_ImportModule((std::string("shardax.") + module).c_str()));
  const Ref function = checked(PyObject_GetAttrString(object.get(), name));
  const Ref owned[] = {to_python(args)...};
  PyObject* pointers[sizeof...(Args)];
  for (std::size_t i = 0; i < sizeof...(Args); ++i) pointers[i] = owned[i].get();
  return checked(PyObject_Vectorcall(function.get(), pointers, sizeof...(Args), nullptr));
}

// The same for functions that raise.
template <class... Args>
[[noreturn]] void raise_in_python(const char* name, const Args&... args) {
  call_python("_base.api_errors", name, args...);
  throw InternalError(concat("_api_errors.", name, " returned"));
}

// f(), which calls a user's function, for which the core's lock is given up. A thread that Python
// ends there sleeps before it would take the lock again.
template <class F>
auto call_unlocked(F&& f) {
  const CoreUnlocked unlocked;
  return or_sleep(std::forward<F>(f));
}

}  // namespace shardax::callables
