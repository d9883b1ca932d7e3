// objects/errors.h - exceptions of the core as Python exceptions, and errors about tracers.
//
// Every slot that Python calls runs its body in `guarded`. It holds the core's lock, turns a C++
// exception into its Python counterpart, and returns the value that reports one. All functions need
// the GIL.
#pragma once

#include "base/errors.h"
#include "pytree/core_lock.h"
#include "pytree/ref.h"
#include "trace/trace.h"

namespace shardax::objects {

using pytree::PythonError;
using pytree::Ref;

// Sets Python's error from the C++ exception that is being handled.
void set_python_error() noexcept;

// f(), or null with Python's error set.
template <class F>
PyObject* guarded(F&& f) noexcept {
  const CoreLock lock;
  try {
    return f();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

// f(), or -1 with Python's error set.
template <class F>
auto guarded_status(F&& f) noexcept -> decltype(f()) {
  const CoreLock lock;
  try {
    return f();
  } catch (...) {
    set_python_error();
    return -1;
  }
}

// The Python class of an error kind, borrowed. Classes of jax.errors live in shardax.errors.
PyObject* error_class(ErrorKind kind);

// Why a tracer's value is unknown: a text that starts with a newline, or "". Installed by
// callables/.
using TracerDescriber = std::string (*)(const Tracer& tracer);
void set_tracer_describer(TracerDescriber describe);
std::string describe_tracer(const Value& value);

// Errors about using a tracer as a Python value. `hint` names the called function.
[[noreturn]] void bool_conversion_error(const Value& tracer);
[[noreturn]] void scalar_conversion_error(const Value& tracer, const std::string& hint);
[[noreturn]] void index_conversion_error(const Value& tracer);
[[noreturn]] void array_conversion_error(const Value& tracer);
[[noreturn]] void deleted_error(const Type& type);

// Throws ConcretizationTypeError for tracers: `The <what> on traced array with shape float32[].`
void needs_elements(const Value& value, const char* what);
// Throws AttributeError for tracers: `The <what> is not available on traced array ...`
void needs_array(const Value& value, const char* what);

// Throws when `value` is an array that has been deleted.
inline void check_not_deleted(const Value& value) {
  if (!value->is_tracer() && as_array(value).deleted()) deleted_error(value->type());
}

// "int32[3]", and with a mark for weak types "~int32[3]".
std::string weak_string(const Type& type);

void init_errors(PyObject* module);

}  // namespace shardax::objects
