// objects/array/convert.cpp - operands of ops from Python objects, and elements back to Python.
#include "objects/array/convert.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "array/half.h"
#include "array/narrow.h"
#include "numpy/casts.h"
#include "numpy/promote.h"
#include "objects/array/buffer.h"
#include "objects/array/constant_dedup.h"
#include "objects/dtypes.h"
#include "objects/transfers.h"

namespace shardax::objects {
namespace {

// A type of NumPy's, once NumPy has been imported by anyone; null before.
PyTypeObject* loaded_numpy_type(const char* name, PyTypeObject*& cache) {
  if (cache) return cache;
  static PyObject* module_name = nullptr;
  made_once(module_name, [] { return PyUnicode_InternFromString("numpy"); });
  const Ref module = Ref::steal(PyImport_GetModule(module_name));
  PyObject* type = module ? PyObject_GetAttrString(module.get(), name) : nullptr;
  if (!type) {
    PyErr_Clear();  // numpy is absent, or half imported
    return nullptr;
  }
  cache = reinterpret_cast<PyTypeObject*>(type);
  return cache;
}

PyTypeObject* ndarray_type() {
  static PyTypeObject* cache = nullptr;
  return loaded_numpy_type("ndarray", cache);
}
PyTypeObject* generic_type() {
  static PyTypeObject* cache = nullptr;
  return loaded_numpy_type("generic", cache);
}

Operand integer_operand(PyObject* object) {
  int overflow = 0;
  Operand out;
  out.kind = Operand::Kind::integer;
  out.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (out.integer == -1 && PyErr_Occurred()) throw PythonError();
  const bool fits =
      numpy::x64_enabled() || (out.integer >= std::numeric_limits<std::int32_t>::min() &&
                               out.integer <= std::numeric_limits<std::int32_t>::max());
  if (overflow != 0 || !fits) {
    fail(ErrorKind::overflow_error, "Python int ", pytree::str(object), " too large to convert to ",
         name(numpy::default_int()));
  }
  return out;
}

Operand floating_operand(double number) {
  Operand out;
  out.kind = Operand::Kind::floating;
  out.number = number;
  return out;
}

Operand complex_operand(PyObject* object) {
  const Py_complex number = PyComplex_AsCComplex(object);
  Operand out;
  out.kind = Operand::Kind::complex;
  out.number = {number.real, number.imag};
  return out;
}

Operand array_operand(Value value) {
  Operand out;
  out.kind = Operand::Kind::array;
  out.value = std::move(value);
  return out;
}

// object.__jax_array__(), or an empty operand where there is none.
Operand jax_array_operand(PyObject* object) {
  static PyObject* method_name = nullptr;
  made_once(method_name, [] { return PyUnicode_InternFromString("__jax_array__"); });
  if (PyType_Check(object)) return {};
  const Ref method = Ref::steal(PyObject_GetAttr(object, method_name));
  if (!method) {
    PyErr_Clear();
    return {};
  }
  const pytree::RecursionGuard guard(" in __jax_array__");
  const Ref made = Ref::checked(PyObject_CallNoArgs(method.get()));
  return parse_operand(made.get());
}

// Classes whose instances are read through __array__. Never shrinks.
std::vector<PyTypeObject*>& array_classes() {
  static auto* classes = new std::vector<PyTypeObject*>;
  return *classes;
}

bool is_array_class(PyTypeObject* type) {
  const auto& classes = array_classes();
  return std::find(classes.begin(), classes.end(), type) != classes.end();
}

Operand registered_operand(PyObject* object) {
  const Ref numpy_module = Ref::checked(PyImport_ImportModule("numpy"));
  const Ref array = Ref::checked(PyObject_CallMethod(numpy_module.get(), "asarray", "O", object));
  return parse_operand(array.get());
}

}  // namespace

void register_array_class(PyObject* type) {
  if (!PyType_Check(type)) type_error("expected a class, got ", pytree::repr(type));
  Py_INCREF(type);
  array_classes().push_back(reinterpret_cast<PyTypeObject*>(type));
}

WeakDType Operand::lattice_type() const {
  switch (kind) {
    case Kind::boolean: return {DType::boolean, false};
    case Kind::integer: return {numpy::default_int(), true};
    case Kind::floating: return {numpy::default_float(), true};
    case Kind::complex: return {numpy::default_complex(), true};
    default: return numpy::lattice_type(value);
  }
}

Operand parse_operand(PyObject* object) {
  if (is_array_object(object)) {
    check_not_deleted(value_of(object));
    return array_operand(value_of(object));
  }
  if (PyFloat_CheckExact(object)) return floating_operand(PyFloat_AS_DOUBLE(object));
  if (PyLong_CheckExact(object)) return integer_operand(object);
  if (PyBool_Check(object)) {
    Operand out;
    out.kind = Operand::Kind::boolean;
    out.integer = object == Py_True;
    return out;
  }
  if (PyComplex_CheckExact(object)) return complex_operand(object);
  if (object == Py_None || PyList_Check(object) || PyTuple_Check(object) ||
      PyUnicode_Check(object)) {
    return {};
  }
  if (is_numpy_array(object)) return array_operand(deduplicated_constant(object));
  if (is_numpy_scalar(object)) return array_operand(from_numpy(object));
  if (PyLong_Check(object)) return integer_operand(object);
  if (PyFloat_Check(object)) return floating_operand(PyFloat_AS_DOUBLE(object));
  if (PyComplex_Check(object)) return complex_operand(object);
  if (is_array_class(Py_TYPE(object))) return registered_operand(object);
  return jax_array_operand(object);
}

bool converts_itself(PyObject* object) {
  if (PyFloat_Check(object) || PyLong_Check(object) || is_numpy_array(object) ||
      is_numpy_scalar(object) || PyType_Check(object) || is_array_class(Py_TYPE(object))) {
    return false;
  }
  const Ref method = Ref::steal(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__jax_array__"));
  if (!method) PyErr_Clear();
  // A property decides anew each time: ShapeDtypeStruct's is there under eval_shape alone.
  return method && !PyObject_TypeCheck(method.get(), &PyProperty_Type);
}

void store_scalar(std::byte* out, DType dtype, const Operand& scalar) {
  const bool whole = scalar.kind == Operand::Kind::integer || scalar.kind == Operand::Kind::boolean;
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T stored{};
    const double real = whole ? static_cast<double>(scalar.integer) : scalar.number.real();
    if constexpr (std::is_same_v<T, bool>) {
      stored = whole ? scalar.integer != 0 : scalar.number != std::complex<double>();
    } else if constexpr (std::is_same_v<T, bfloat16_t>) {
      stored = to_bfloat16(static_cast<float>(real));
    } else if constexpr (std::is_same_v<T, float16_t>) {
      stored.bits = to_float16(real).bits;
    } else if constexpr (std::is_same_v<T, narrow_t>) {
      stored =
          whole ? to_narrow(dtype, scalar.integer) : to_narrow(dtype, static_cast<float>(real));
    } else if constexpr (is_opaque<T>) {
      const auto word = static_cast<std::uint32_t>(whole ? scalar.integer : std::int64_t(real));
      std::fill(std::begin(stored.words), std::end(stored.words), word);
    } else if constexpr (std::is_integral_v<T>) {
      stored =
          whole ? static_cast<T>(scalar.integer) : static_cast<T>(static_cast<std::int64_t>(real));
    } else if constexpr (std::is_floating_point_v<T>) {
      stored = whole ? static_cast<T>(scalar.integer) : static_cast<T>(real);
    } else {
      using Part = typename T::value_type;
      stored =
          T(static_cast<Part>(real), whole ? Part(0) : static_cast<Part>(scalar.number.imag()));
    }
    std::memcpy(out, &stored, sizeof stored);
  });
}

Value materialise(const Operand& operand, WeakDType type) {
  if (operand.kind == Operand::Kind::array) return numpy::cast(operand.value, type);
  const ArrayPtr scalar = empty_array(Type{type.dtype, type.weak, {}, {}});
  if (transfers_guarded) guard_transfer(Transfer::host_to_device, scalar->type());
  store_scalar(scalar->data(), type.dtype, operand);
  return scalar;
}

Value materialise(const Operand& operand) {
  if (operand.kind == Operand::Kind::array) return operand.value;
  return materialise(operand, operand.lattice_type());
}

Value try_value(PyObject* object) {
  const Operand operand = parse_operand(object);
  return operand.kind == Operand::Kind::none ? Value() : materialise(operand);
}

Value to_value(PyObject* object) {
  Value value;
  try {
    value = try_value(object);
  } catch (const UserError& error) {  // of arrays of other dtypes
    if (error.kind() != ErrorKind::type_error) throw;
  }
  if (!value) {
    type_error("Argument '", pytree::str(object), "' of type ",
               pytree::repr(reinterpret_cast<PyObject*>(Py_TYPE(object))),
               " is not a valid JAX type");
  }
  return value;
}

void argument_error(PyObject* object, std::string_view function, int position) {
  type_error(function, " requires ndarray or scalar arguments, got ",
             pytree::repr(reinterpret_cast<PyObject*>(Py_TYPE(object))), " at position ", position,
             ".");
}

Value to_argument(PyObject* object, std::string_view function, int position) {
  Value value = try_value(object);
  if (!value) argument_error(object, function, position);
  return value;
}

PyObject* numpy() {
  static PyObject* module = nullptr;
  return made_once(module, [] { return Ref::checked(PyImport_ImportModule("numpy")).release(); });
}

bool is_numpy_array(PyObject* object) {
  PyTypeObject* type = ndarray_type();
  return type && PyObject_TypeCheck(object, type);
}
bool is_numpy_scalar(PyObject* object) {
  PyTypeObject* type = generic_type();
  return type && PyObject_TypeCheck(object, type);
}

namespace {

// Elements that NumPy hides would show themselves.
void refuse_masked(PyObject* object) {
  if (Py_TYPE(object) == ndarray_type() || !is_numpy_array(object)) return;
  const Ref mask = Ref::steal(PyObject_GetAttrString(object, "mask"));
  if (!mask) return PyErr_Clear();
  const Ref any = Ref::checked(PyObject_CallMethod(numpy(), "any", "O", mask.get()));
  if (PyObject_IsTrue(any.get()) != 1) return;
  value_error(
      "numpy masked arrays are not supported as direct inputs to JAX functions. Use arr.filled() "
      "to convert the value to a standard numpy array.");
}

}  // namespace

Value from_numpy(PyObject* object) {
  refuse_masked(object);
  // NumPy's scalars of time lend their bytes as a vector; numbers lend a scalar.
  ArrayPtr read = read_buffer(object);
  if (read && (!is_numpy_scalar(object) || read->shape().empty())) {
    if (transfers_guarded) guard_transfer(Transfer::host_to_device, read->type());
    return read;
  }
  const Ref array = Ref::checked(PyObject_CallMethod(numpy(), "asarray", "O", object));
  const Ref dtype = Ref::checked(PyObject_GetAttrString(array.get(), "dtype"));
  const Ref dtype_name = Ref::checked(PyObject_GetAttrString(dtype.get(), "name"));
  const std::string text = pytree::text_of(dtype_name.get());
  const std::optional<DType> known = dtype_named(text);
  if (known && (known == DType::bfloat16 || is_narrow(*known))) {
    const char* unsigned_type = itemsize(*known) == 1 ? "uint8" : "uint16";
    const Ref words = Ref::checked(PyObject_CallMethod(array.get(), "view", "s", unsigned_type));
    const ArrayPtr bits = read_buffer(words.get());
    return view_of(*bits, with_dtype(bits->type(), *known), bits->strides(), 0);
  }
  if (known && known != DType::float0 && !is_key(*known)) {
    // Another byte order, or strides that are no multiples of the element size.
    const Ref plain = Ref::checked(PyObject_CallMethod(array.get(), "astype", "s", text.c_str()));
    if (ArrayPtr read = read_buffer(plain.get())) return read;
  }
  if (PyObject_RichCompareBool(dtype.get(), dtype_object(DType::float0), Py_EQ) == 1) {
    const Ref shape = Ref::checked(PyObject_GetAttrString(array.get(), "shape"));
    Type type{DType::float0, false, {}, {}};
    for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(shape.get()); ++d) {
      type.shape.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(shape.get(), d)));
    }
    return empty_array(type);
  }
  const Ref printed = Ref::checked(PyObject_Str(dtype.get()));
  type_error("Value '", pytree::str(object), "' with dtype ", pytree::text_of(printed.get()),
             " is not a valid JAX array type. Only arrays of numeric types are supported by JAX.");
}

Ref to_numpy(const Value& value) {
  if (value->is_tracer()) array_conversion_error(value);
  check_not_deleted(value);
  const DType dtype = value->dtype();
  if (is_key(dtype)) {
    type_error(
        "JAX array with PRNGKey dtype cannot be converted to a NumPy array. Use "
        "jax.random.key_data(arr) if you wish to extract the underlying integer array.");
  }
  if (dtype == DType::float0) {
    Ref shape = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(value->shape().size())));
    for (std::size_t d = 0; d < value->shape().size(); ++d) {
      PyTuple_SET_ITEM(shape.get(), static_cast<Py_ssize_t>(d),
                       PyLong_FromLongLong(value->shape()[d]));
    }
    return Ref::checked(
        PyObject_CallMethod(numpy(), "zeros", "OO", shape.get(), dtype_object(dtype)));
  }
  const Ref lender = lending_object(ArrayPtr(&as_array(value)));
  Ref array = Ref::checked(PyObject_CallMethod(numpy(), "asarray", "O", lender.get()));
  if (buffer_format(dtype)) return array;
  return Ref::checked(PyObject_CallMethod(array.get(), "view", "O", dtype_object(dtype)));
}

Ref python_scalar(const Array& array, std::int64_t offset) {
  const std::byte* at = array.data() + offset * itemsize(array.dtype());
  return visit_dtype(array.dtype(), [&](auto zero) -> Ref {
    using T = decltype(zero);
    T x;
    std::memcpy(&x, at, sizeof x);
    if constexpr (std::is_same_v<T, bool>) {
      return Ref::borrow(x ? Py_True : Py_False);
    } else if constexpr (std::is_same_v<T, narrow_t>) {
      const DType dtype = array.dtype();
      return Ref::checked(is_narrow_float(dtype) ? PyFloat_FromDouble(narrow_float(dtype, x))
                                                 : PyLong_FromLongLong(narrow_integer(dtype, x)));
    } else if constexpr (is_opaque<T>) {
      type_error("PRNG keys cannot be converted to Python scalars");
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      return Ref::checked(PyLong_FromLongLong(x));
    } else if constexpr (std::is_integral_v<T>) {
      return Ref::checked(PyLong_FromUnsignedLongLong(x));
    } else if constexpr (std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>) {
      return Ref::checked(PyFloat_FromDouble(to_float(x)));
    } else if constexpr (std::is_floating_point_v<T>) {
      return Ref::checked(PyFloat_FromDouble(x));
    } else {
      return Ref::checked(PyComplex_FromDoubles(x.real(), x.imag()));
    }
  });
}

}  // namespace shardax::objects
