// callables/transforms/references.h - calls of transformed functions that meet mutable references.
//
// A program has no references: values that a function reads and writes of one become inputs and
// outputs (shardax/_transform/refs/__init__.py, binding.py). References that a function closes over
// are found as it is traced (NamedTrace). Arguments that are references, and functions that can
// have no further inputs, raise a signal. A function of calls.py then repeats the call.
#pragma once

#include <pybind11/cast.h>

#include "callables/function.h"

namespace pybind11 {
class module_;
}

namespace shardax::callables {

// Clears the Python error in flight and says yes, if it is that signal and `fun` is not one that
// binds references itself.
bool met_reference(PyObject* fun);
// Clears the Python error in flight and says yes, if it is that signal from within the staging
// trace of this generation.
bool cleared_reference_signal(std::uint64_t generation);
// f(), where the function must not meet references: NotImplementedError that names `api`.
template <class F>
auto without_references(std::string_view api, PyObject* fun, F&& f) {
  try {
    return f();
  } catch (const PythonError&) {
    if (!met_reference(fun)) throw;
  }
  fail(ErrorKind::not_implemented_error, api,
       ": the function reads, writes or is passed a mutable array reference. Pass the value of the "
       "reference, ref[...], and write what comes back.");
}
// Has a reference ever been made?
bool references_exist();
// Raises the signal where an argument is a reference.
void check_no_reference(PyObject* argument);

// refs.name(fun, options..., args, kwargs)
template <class... Options>
PyObject* call_with_references(const char* name, PyObject* fun, const CallArguments& arguments,
                               const Options&... options) {
  const Ref args = checked(PyTuple_New(arguments.count));
  for (Py_ssize_t i = 0; i < arguments.count; ++i)
    PyTuple_SET_ITEM(args.get(), i, Py_NewRef(arguments.values[i]));
  const Ref kwargs = checked(PyDict_New());
  for (Py_ssize_t i = 0; i < arguments.keyword_count(); ++i)
    check(PyDict_SetItem(kwargs.get(), PyTuple_GET_ITEM(arguments.names, i),
                         arguments.values[arguments.count + i]));
  return call_python("_transform.refs.calls", name, fun, options..., args, kwargs).release();
}

void init_references(pybind11::module_& module);

}  // namespace shardax::callables
