// objects/errors.cpp - Python classes of the core's exceptions.
#include "objects/errors.h"

#include <pybind11/pybind11.h>

#include <new>

#include "base/thread_end.h"
#include "runtime/allocator.h"

namespace shardax::objects {
namespace {

TracerDescriber describer = nullptr;

// A class of shardax.errors, kept for the life of the process; RuntimeError while that is missing.
PyObject* named_class(const char* name) {
  const Ref module = Ref::steal(PyImport_ImportModule("shardax.errors"));
  PyObject* found = module ? PyObject_GetAttrString(module.get(), name) : nullptr;
  if (!found) {
    PyErr_Clear();
    return PyExc_RuntimeError;
  }
  return found;
}

struct NamedClass {
  const char* name;
  PyObject* type = nullptr;
  PyObject* get() {
    if (!type) type = named_class(name);
    return type;
  }
};

}  // namespace

PyObject* error_class(ErrorKind kind) {
  static NamedClass key_reuse{"KeyReuseError"};
  static NamedClass concretization{"ConcretizationTypeError"};
  static NamedClass tracer_bool{"TracerBoolConversionError"};
  static NamedClass tracer_integer{"TracerIntegerConversionError"};
  static NamedClass tracer_array{"TracerArrayConversionError"};
  static NamedClass boolean_index{"NonConcreteBooleanIndexError"};
  static NamedClass unexpected{"UnexpectedTracerError"};
  static NamedClass type_promotion{"TypePromotionError"};
  static NamedClass sharding_type{"ShardingTypeError"};
  switch (kind) {
    case ErrorKind::type_error: return PyExc_TypeError;
    case ErrorKind::value_error: return PyExc_ValueError;
    case ErrorKind::name_error: return PyExc_NameError;
    case ErrorKind::index_error: return PyExc_IndexError;
    case ErrorKind::key_error: return PyExc_KeyError;
    case ErrorKind::overflow_error: return PyExc_OverflowError;
    case ErrorKind::runtime_error: return PyExc_RuntimeError;
    case ErrorKind::not_implemented_error: return PyExc_NotImplementedError;
    case ErrorKind::attribute_error: return PyExc_AttributeError;
    case ErrorKind::assertion_error: return PyExc_AssertionError;
    case ErrorKind::floating_point_error: return PyExc_FloatingPointError;
    case ErrorKind::recursion_error: return PyExc_RecursionError;
    case ErrorKind::type_promotion_error: return type_promotion.get();
    case ErrorKind::sharding_type_error: return sharding_type.get();
    case ErrorKind::key_reuse_error: return key_reuse.get();
    case ErrorKind::concretization_error: return concretization.get();
    case ErrorKind::tracer_bool_error: return tracer_bool.get();
    case ErrorKind::tracer_integer_error: return tracer_integer.get();
    case ErrorKind::tracer_array_error: return tracer_array.get();
    case ErrorKind::boolean_index_error: return boolean_index.get();
    case ErrorKind::unexpected_tracer_error: return unexpected.get();
  }
  return PyExc_RuntimeError;
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (const ForcedUnwind&) {
    sleep_until_exit();
  } catch (const PythonError&) {
    // The interpreter's error is set already.
  } catch (const UserError& e) {
    PyErr_SetString(error_class(e.kind()), e.what());
  } catch (const InternalError& e) {
    PyErr_Format(PyExc_RuntimeError, "shardax internal error: %s", e.what());
  } catch (pybind11::error_already_set& e) {
    e.restore();
  } catch (const runtime::OutOfMemory& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_Format(PyExc_RuntimeError, "shardax internal error: %s", e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "shardax internal error: an unknown C++ exception");
  }
}

void set_tracer_describer(TracerDescriber describe) { describer = describe; }

std::string describe_tracer(const Value& value) {
  if (!describer || !value->is_tracer()) return "";
  return describer(static_cast<const Tracer&>(*value));
}

std::string weak_string(const Type& type) { return concat(type.weak ? "~" : "", to_string(type)); }

namespace {

// A tracer that has outlived its trace is reported as such, for any operation on it.
std::string traced_array(const Value& tracer) {
  static_cast<const Tracer&>(*tracer).trace();
  return "traced array with shape " + to_string(tracer->type());
}

}  // namespace

void bool_conversion_error(const Value& tracer) {
  fail(ErrorKind::tracer_bool_error, "Attempted boolean conversion of ", traced_array(tracer), ".",
       describe_tracer(tracer));
}

void scalar_conversion_error(const Value& tracer, const std::string& hint) {
  fail(ErrorKind::concretization_error,
       "Abstract tracer value encountered where concrete value is expected: ", traced_array(tracer),
       "\n", hint, describe_tracer(tracer));
}

void needs_elements(const Value& value, const char* what) {
  if (!value->is_tracer()) return;
  scalar_conversion_error(value, concat("The ", what, " on ", traced_array(value), "."));
}

void needs_array(const Value& value, const char* what) {
  if (!value->is_tracer()) return;
  const bool place = std::string_view(what).find("sharding") != std::string_view::npos;
  fail(ErrorKind::attribute_error, "The ", what, " is not available on ", traced_array(value), ".",
       place ? " To query sharding information on tracers, use `jax.typeof(x)`." : "",
       describe_tracer(value));
}

void index_conversion_error(const Value& tracer) {
  fail(ErrorKind::tracer_integer_error, "The __index__() method was called on ",
       traced_array(tracer), describe_tracer(tracer));
}

void array_conversion_error(const Value& tracer) {
  fail(ErrorKind::tracer_array_error,
       "The numpy.ndarray conversion method __array__() was called on ", traced_array(tracer),
       describe_tracer(tracer));
}

void deleted_error(const Type& type) {
  fail(ErrorKind::runtime_error, "Array has been deleted with shape=", to_string(type), ".");
}

void init_errors(PyObject*) {
  // Exceptions that cross functions registered with pybind11 are translated by the same rules.
  pybind11::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const PythonError&) {
    } catch (const UserError&) {
      set_python_error();
    } catch (const InternalError&) {
      set_python_error();
    }
  });
}

}  // namespace shardax::objects
