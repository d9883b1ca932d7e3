// callables/staging/concrete_values.cpp - arguments as Values if all are arrays or numbers.
#include "callables/staging/concrete_values.h"

#include <cstring>
#include <limits>

#include "numpy/promote.h"

namespace shardax::callables {
namespace {

bool is_numpy_number(PyObject* object) {
  if (!objects::is_numpy_array(object) && !objects::is_numpy_scalar(object)) return false;
  const Ref dtype = checked(PyObject_GetAttrString(object, "dtype"));
  const Ref kind = checked(PyObject_GetAttrString(dtype.get(), "kind"));
  return PyUnicode_GET_LENGTH(kind.get()) == 1 &&
         std::strchr("biufc", static_cast<int>(PyUnicode_READ_CHAR(kind.get(), 0)));
}

bool fits_an_integer(PyObject* number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow != 0) return false;
  return numpy::x64_enabled() || (value >= std::numeric_limits<std::int32_t>::min() &&
                                  value <= std::numeric_limits<std::int32_t>::max());
}

}  // namespace

bool is_concrete_number(PyObject* object) {
  if (Py_IS_TYPE(object, objects::array_impl_type)) return true;
  if (PyFloat_CheckExact(object) || PyBool_Check(object) || PyComplex_CheckExact(object))
    return true;
  if (PyLong_CheckExact(object)) return fits_an_integer(object);
  return is_numpy_number(object);
}

bool concrete_values(std::span<const Ref> leaves, Values& out) {
  out.reserve(out.size() + leaves.size());
  for (const Ref& leaf : leaves) {
    PyObject* object = leaf.get();
    if (!is_concrete_number(object)) return false;
    if (Py_IS_TYPE(object, objects::array_impl_type)) {
      const Value& value = objects::value_of(object);
      if (as_array(value).deleted()) return false;
      out.push_back(value);
    } else {
      out.push_back(try_value(object));
    }
  }
  return true;
}

}  // namespace shardax::callables
