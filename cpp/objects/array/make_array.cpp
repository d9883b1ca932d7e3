// objects/array/make_array.cpp - jnp.array: scalars, NumPy arrays, nested lists and what they may
// hold.
#include <limits>

#include "base/index.h"
#include "numpy/promote.h"
#include "objects/array/buffer.h"
#include "objects/array/convert.h"
#include "objects/dtypes.h"
#include "objects/transfers.h"

namespace shardax::objects {
namespace {

// The array that NumPy makes of the object: of one with __array_interface__ or __array__, a
// sequence, or another library's number. With a dtype, its elements are converted too. Throws what
// NumPy throws, and TypeError for dtypes that are none of ours.
Value by_numpy(PyObject* object, std::optional<DType> dtype) {
  if (object == Py_None) value_error("None is not a valid value for jnp.array");
  const Ref array = Ref::checked(
      dtype ? PyObject_CallMethod(numpy(), "asarray", "OO", object, dtype_object(*dtype))
            : PyObject_CallMethod(numpy(), "asarray", "O", object));
  return from_numpy(array.get());
}

// Is it an array or scalar of NumPy whose dtype is none of ours: objects, times, long doubles?
bool is_foreign(PyObject* object) {
  if (!is_numpy_array(object) && !is_numpy_scalar(object)) return false;
  const Ref dtype = Ref::checked(PyObject_GetAttrString(object, "dtype"));
  const Ref text = Ref::checked(PyObject_GetAttrString(dtype.get(), "name"));
  return !dtype_named(pytree::text_of(text.get())) &&
         PyObject_RichCompareBool(dtype.get(), dtype_object(DType::float0), Py_EQ) != 1;
}

// The value of an object that is no sequence of ours.
Value value_or_numpys(PyObject* object, std::optional<DType> dtype) {
  if (dtype && is_foreign(object)) return by_numpy(object, dtype);
  if (Value value = try_value(object)) return value;
  if (PyObject_CheckBuffer(object) && !PyBytes_Check(object)) return from_numpy(object);
  return by_numpy(object, dtype);
}

bool is_sequence(PyObject* object) {
  return PyList_Check(object) || PyTuple_Check(object) || PyRange_Check(object);
}

bool is_python_scalar(PyObject* object) {
  if (PyBool_Check(object) || PyLong_Check(object) || PyComplex_CheckExact(object)) return true;
  return PyFloat_CheckExact(object);
}

// A Python int as one element of `dtype`; throws where it does not fit, as NumPy does.
Operand checked_integer(PyObject* object, DType dtype) {
  Operand out;
  out.kind = Operand::Kind::integer;
  int overflow = 0;
  out.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (out.integer == -1 && PyErr_Occurred()) throw PythonError();
  if (!is_integer(dtype) || is_narrow(dtype)) {  // narrow integers wrap
    if (dtype == DType::boolean || overflow == 0) return out;
    out.kind = Operand::Kind::floating;
    out.number = PyLong_AsDouble(object);
    if (PyErr_Occurred()) throw PythonError();
    return out;
  }
  const int bits = itemsize(dtype) * 8;
  bool fits;
  if (is_signed_integer(dtype)) {
    const std::int64_t limit = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
    fits = overflow == 0 && out.integer >= -limit - 1 && out.integer <= limit;
  } else if (overflow > 0 && bits == 64) {
    out.integer = static_cast<std::int64_t>(PyLong_AsUnsignedLongLong(object));
    fits = !PyErr_Occurred();
    PyErr_Clear();
  } else {
    fits = overflow == 0 && out.integer >= 0 &&
           (bits == 64 || out.integer < (std::int64_t{1} << bits));
  }
  if (!fits) {
    fail(ErrorKind::overflow_error, "Python integer ", pytree::str(object), " out of bounds for ",
         name(dtype));
  }
  return out;
}

// A Python scalar for one element of `dtype`; throws what Python's own conversion throws.
Operand scalar_operand(PyObject* object, DType dtype) {
  if (PyLong_Check(object) && !PyBool_Check(object)) return checked_integer(object, dtype);
  if (PyFloat_Check(object) && is_integer(dtype)) {
    return checked_integer(Ref::checked(PyNumber_Long(object)).get(), dtype);
  }
  if (PyComplex_Check(object) && (is_integer(dtype) || is_floating(dtype))) {
    type_error(is_integer(dtype) ? "int" : "float",
               "() argument must be a string or a real number, not 'complex'");
  }
  return parse_operand(object);
}

// The content of a nested sequence. Only Python scalars: elements are stored at once. Otherwise
// arrays are stacked.
struct Contents {
  Shape shape;
  SmallVector<WeakDType, 6> types;  // distinct ones
  bool only_scalars = true;

  void see(WeakDType type) {
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
};

[[noreturn]] void ragged(const Shape& shape, std::size_t depth) {
  const Shape known(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(depth));
  value_error(
      "setting an array element with a sequence. The requested array has an inhomogeneous shape "
      "after ",
      depth, " dimensions. The detected shape was ", to_string(known), " + inhomogeneous part.");
}

WeakDType scalar_type(PyObject* object) {
  if (PyBool_Check(object)) return {DType::boolean, false};
  if (PyLong_Check(object)) return {numpy::default_int(), true};
  if (PyFloat_Check(object)) return {numpy::default_float(), true};
  return {numpy::default_complex(), true};
}

void inspect(PyObject* object, std::size_t depth, bool first, std::optional<DType> dtype,
             Contents& contents) {
  if (!is_sequence(object)) {
    if (is_python_scalar(object)) {
      contents.see(scalar_type(object));
      if (contents.only_scalars && depth != contents.shape.size()) ragged(contents.shape, depth);
      return;
    }
    contents.only_scalars = false;
    if (!dtype) contents.see(numpy::lattice_type(value_or_numpys(object, dtype)));
    return;
  }
  const pytree::RecursionGuard guard(" while reading nested lists");
  const Ref items = pytree::checked_sequence(object, "a sequence was expected");
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
  if (first) contents.shape.push_back(n);
  if (contents.shape.size() > max_rank) {
    value_error("jnp.array: lists nested more than ", max_rank,
                " levels deep; arrays have at most ", max_rank, " dimensions.");
  }
  if (contents.only_scalars && (depth >= contents.shape.size() || contents.shape[depth] != n)) {
    ragged(contents.shape, depth);
  }
  for (Py_ssize_t i = 0; i < n; ++i) {
    inspect(PySequence_Fast_GET_ITEM(items.get(), i), depth + 1, first && i == 0, dtype, contents);
  }
}

// Nested lists as tuples where other threads may change them while they are read, down to the depth
// at which `inspect` refuses them.
Ref unchanging(PyObject* object, [[maybe_unused]] std::size_t depth = 0) {
#ifdef Py_GIL_DISABLED
  if (is_sequence(object) && depth <= max_rank) {
    const Ref items = pytree::checked_sequence(object, "a sequence was expected");
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
    Ref copy = Ref::checked(PyTuple_New(n));
    for (Py_ssize_t i = 0; i < n; ++i)
      PyTuple_SET_ITEM(copy.get(), i,
                       unchanging(PySequence_Fast_GET_ITEM(items.get(), i), depth + 1).release());
    return copy;
  }
#endif
  return Ref::borrow(object);
}

void store_all(PyObject* object, DType dtype, std::byte*& at) {
  if (!is_sequence(object)) {
    store_scalar(at, dtype, scalar_operand(object, dtype));
    at += itemsize(dtype);
    return;
  }
  const Ref items = pytree::checked_sequence(object, "a sequence was expected");
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    store_all(PySequence_Fast_GET_ITEM(items.get(), i), dtype, at);
  }
}

Value leaf_value(PyObject* object, DType dtype) {
  if (is_python_scalar(object)) return materialise(scalar_operand(object, dtype), {dtype, false});
  return numpy::as_type(value_or_numpys(object, dtype), {dtype, false});
}

Value stack_all(PyObject* object, DType dtype) {
  if (!is_sequence(object)) return leaf_value(object, dtype);
  const Ref items = pytree::checked_sequence(object, "a sequence was expected");
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
  if (n == 0) return empty_array(Type{dtype, false, {0}, {}});
  bool same = true;
  PyObject* first = PySequence_Fast_GET_ITEM(items.get(), 0);
  for (Py_ssize_t i = 1; i < n && same; ++i)
    same = PySequence_Fast_GET_ITEM(items.get(), i) == first;
  if (same) return ops::broadcast_leading(stack_all(first, dtype), n);
  Values parts;
  for (Py_ssize_t i = 0; i < n; ++i) {
    parts.push_back(
        ops::expand_dims(stack_all(PySequence_Fast_GET_ITEM(items.get(), i), dtype), {0}));
    if (parts[index(i)]->shape().size() != parts[0]->shape().size()) {
      type_error("Cannot concatenate arrays with different numbers of dimensions: got ",
                 to_string(parts[0]->shape()), ", ", to_string(parts.back()->shape()), ".");
    }
  }
  return ops::concatenate(parts, 0);
}

Value from_sequence(PyObject* object, std::optional<DType> dtype) {
  Contents contents;
  inspect(object, 0, true, dtype, contents);
  DType wanted = numpy::default_float();
  if (dtype) {
    wanted = *dtype;
  } else if (!contents.types.empty()) {
    wanted = numpy::join_types({contents.types.data(), contents.types.size()}).dtype;
  }
  if (!contents.only_scalars) return stack_all(object, wanted);
  const ArrayPtr array = empty_array(Type{wanted, false, contents.shape, {}});
  if (transfers_guarded) guard_transfer(Transfer::host_to_device, array->type());
  std::byte* at = array->data();
  store_all(object, wanted, at);
  return array;
}

Value from_scalar(PyObject* object, std::optional<DType> dtype) {
  if (!dtype) return materialise(parse_operand(object));
  return materialise(scalar_operand(object, *dtype), {*dtype, false});
}

Value from_other(PyObject* object, std::optional<DType> dtype) {
  if (is_numpy_array(object) && PyObject_HasAttrString(object, "mask")) {
    // As numpy.array has it: the elements, hidden or not.
    const Ref plain = Ref::checked(PyObject_CallMethod(numpy(), "asarray", "O", object));
    return from_numpy(plain.get());
  }
  return value_or_numpys(object, dtype);
}

Value with_leading_ones(const Value& value, int ndmin) {
  Ints added;
  for (std::int64_t d = 0; d < ndmin - static_cast<std::int64_t>(value->shape().size()); ++d) {
    added.push_back(d);
  }
  return ops::expand_dims(value, added);
}

}  // namespace

PyObject* make_array(PyObject* object, std::optional<DType> dtype, bool copy, int ndmin) {
  Value value;
  if (is_array_object(object)) {
    value = value_of(object);
    check_not_deleted(value);
    const bool unchanged = !dtype || (*dtype == value->dtype() && !value->type().weak);
    if (unchanged && ndmin <= static_cast<int>(value->shape().size())) {
      if (!copy || value->is_tracer()) return Py_NewRef(object);
      return wrap(copied(as_array(value)));
    }
  } else if (is_python_scalar(object)) {
    value = from_scalar(object, dtype);
  } else if (is_sequence(object)) {
    value = from_sequence(unchanging(object).get(), dtype);
  } else {
    value = from_other(object, dtype);
  }
  if (dtype) {
    if (is_complex(value->dtype()) && !is_complex(*dtype)) value = ops::unary("real", value);
    value = numpy::as_type(value, {*dtype, false});
  }
  return wrap(with_leading_ones(value, ndmin));
}

}  // namespace shardax::objects
