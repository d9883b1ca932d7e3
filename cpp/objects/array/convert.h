// objects/array/convert.h - Python and NumPy objects as Values, and arrays as NumPy ones.
//
// Python scalars become weak rank-0 arrays, NumPy arrays and scalars strong ones whose elements are
// copied. While x64 is off, 64-bit types become 32-bit ones.
#pragma once

#include <complex>
#include <optional>

#include "objects/array/array_type.h"

namespace shardax::objects {

// One argument of an op: an array, or a Python scalar whose dtype is not yet decided.
struct Operand {
  enum class Kind { none, array, boolean, integer, floating, complex };
  Kind kind = Kind::none;
  Value value;  // for `array`
  std::int64_t integer = 0;
  std::complex<double> number;  // for `floating` and `complex`

  bool is_scalar() const { return kind > Kind::array; }
  // In the promotion lattice, for x64 on; scalars are weak except for bool.
  WeakDType lattice_type() const;
};

// kind none: the object is neither an array nor a scalar. Throws OverflowError for integers that no
// dtype of the current mode holds, RuntimeError for deleted arrays.
Operand parse_operand(PyObject* object);
// Does the class have the method __jax_array__ to make operands of its objects?
bool converts_itself(PyObject* object);
// Instances of the class are operands from now on: NumPy reads them through __array__.
void register_array_class(PyObject* type);

// The operand as an array of that dtype.
Value materialise(const Operand& operand, WeakDType type);
// The operand as an array of its own dtype.
Value materialise(const Operand& operand);
// Writes a Python scalar as one element; integers wrap.
void store_scalar(std::byte* out, DType dtype, const Operand& scalar);

// An array, tracer, scalar, NumPy array or object with __jax_array__; null for all others (lists,
// strings, None ...). May throw for NumPy arrays of other dtypes (TypeError).
Value try_value(PyObject* object);
// The same, but throws TypeError `Argument 'abc' of type <class 'str'> is not a valid JAX type`.
Value to_value(PyObject* object);
// `<function> requires ndarray or scalar arguments, got <class 'list'> at position 0.`
Value to_argument(PyObject* object, std::string_view function, int position);
[[noreturn]] void argument_error(PyObject* object, std::string_view function, int position);

// jnp.array and jnp.asarray: also nested lists and tuples, whose leaves may be arrays and tracers.
// Lists that hold the same array object n times are a view that repeats it. Returns a new
// reference, to `object` itself where nothing has to change and no copy is asked for.
PyObject* make_array(PyObject* object, std::optional<DType> dtype, bool copy, int ndmin);

// A new array with the elements of a NumPy array or scalar, or of another object that lends a
// buffer or has __array__. Throws TypeError for dtypes that shardax does not have.
Value from_numpy(PyObject* object);
// A read-only NumPy array over the elements of an array, without a copy; throws for tracers.
Ref to_numpy(const Value& value);
// A Python bool, int, float or complex for element `offset` (in elements of the dtype).
Ref python_scalar(const Array& array, std::int64_t offset);

// numpy itself, imported at first use; and whether `object` is a NumPy array or scalar.
PyObject* numpy();
bool is_numpy_array(PyObject* object);
bool is_numpy_scalar(PyObject* object);

}  // namespace shardax::objects
