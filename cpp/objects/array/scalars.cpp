// objects/array/scalars.cpp - bool(x), float(x), x.item(), repr(x) and the like.
#include "objects/array/scalars.h"

#include "analysis/shardings.h"
#include "numpy/promote.h"
#include "objects/array/array_methods.h"
#include "objects/array/convert.h"
#include "objects/dtypes.h"
#include "trace/eager_fallback.h"

namespace shardax::objects {
namespace {

// A Python scalar of a rank-0 array, for int(), float() and complex(). The primal of a tracer
// counts for int only: a float would lose the derivative unseen.
Ref scalar_for(PyObject* self, const std::string& function) {
  const Value& value = value_of(self);
  const std::size_t rank = value->shape().size();
  if (rank > 0) {
    type_error("Only scalar arrays can be converted to Python scalars; got arr.ndim=", rank);
  }
  const Array* array = readable(value);
  if (!array || (value->is_tracer() && function != "int")) {
    scalar_conversion_error(value,
                            concat("The problem arose with the `", function,
                                   "` function. If trying to convert the data type of a value, try "
                                   "using `x.astype(",
                                   function, ")` or `jnp.array(x, ", function, ")` instead."));
  }
  return python_scalar(*array, 0);
}

Ref nested_list(const Array& array, std::size_t dimension, std::int64_t offset) {
  if (dimension == array.shape().size()) return python_scalar(array, offset);
  const std::int64_t n = array.shape()[dimension];
  Ref list = Ref::checked(PyList_New(n));
  for (std::int64_t i = 0; i < n; ++i) {
    Ref item = nested_list(array, dimension + 1, offset + i * array.strides()[dimension]);
    PyList_SET_ITEM(list.get(), i, item.release());
  }
  return list;
}

// The values of all devices, where a function runs op by op on them: of several axes, one tracer
// within the other.
std::string tracer_text(const Value& value) {
  const auto& tracer = static_cast<const Tracer&>(*value);
  if (EagerFallback::covers(tracer)) {
    fail(ErrorKind::concretization_error, "a printed value of type ", to_string(tracer.type()),
         ": its elements are not known yet.");
  }
  Value all = value;
  const Ref axes = Ref::checked(PyList_New(0));
  while (all->is_tracer()) {
    const Tracer::Slices slices = static_cast<const Tracer&>(*all).slices();
    if (!slices.stacked) return tracer.text();
    all = slices.stacked;
    const Ref name = Ref::checked(PyUnicode_FromString(axis_text(slices.axis).c_str()));
    pytree::check(PyList_Insert(axes.get(), 0, name.get()));
  }
  const Ref printing = Ref::checked(PyImport_ImportModule("shardax._base.printing"));
  const Ref table = Ref::checked(PyObject_CallMethod(printing.get(), "device_table", "sNO",
                                                     tracer.text().c_str(), wrap(all), axes.get()));
  return pytree::text_of(table.get());
}

// If shard_map runs a function op by op, a value that all devices share is shown for each.
Ref shared_text(PyObject* array) {
  const Ref printing = Ref::checked(PyImport_ImportModule("shardax._base.printing"));
  return Ref::checked(PyObject_CallMethod(printing.get(), "shared_table", "O", array));
}

PyObject* unicode(const std::string& text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

// The offset of element `args`: () for the only one, a flat position, or one index per dimension.
std::int64_t item_offset(const Array& array, PyObject* const* args, Py_ssize_t count) {
  const Type& type = array.type();
  if (count == 0) {
    if (type.size() != 1) value_error("can only convert an array of size 1 to a Python scalar");
    return 0;
  }
  std::vector<std::int64_t> positions;
  if (count == 1 && PyTuple_Check(args[0])) {
    PyObject* tuple = args[0];
    args = reinterpret_cast<PyTupleObject*>(tuple)->ob_item;
    count = PyTuple_GET_SIZE(tuple);
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Py_ssize_t position = PyNumber_AsSsize_t(args[i], PyExc_IndexError);
    if (position == -1 && PyErr_Occurred()) throw PythonError();
    positions.push_back(position);
  }
  const auto in_range = [](std::int64_t i, std::int64_t size) {
    if (i < -size || i >= size) {
      fail(ErrorKind::index_error, "index ", i, " is out of bounds for size ", size);
    }
    return i < 0 ? i + size : i;
  };
  std::int64_t offset = 0;
  if (positions.size() == 1) {
    std::int64_t rest = in_range(positions[0], type.size());
    for (std::size_t d = type.rank(); d-- > 0;) {
      offset += rest % type.shape[d] * array.strides()[d];
      rest /= type.shape[d];
    }
    return offset;
  }
  if (positions.size() != type.rank()) value_error("incorrect number of indices for array");
  for (std::size_t d = 0; d < type.rank(); ++d) {
    offset += in_range(positions[d], type.shape[d]) * array.strides()[d];
  }
  return offset;
}

}  // namespace

const Array* readable(const Value& value) {
  const Array* array = concrete(value);
  if (array && array->deleted()) deleted_error(array->type());
  return array;
}

int array_bool(PyObject* self) {
  return guarded_status([&] {
    const Value& value = value_of(self);
    const std::int64_t size = value->type().size();
    if (size == 0) {
      value_error(
          "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that "
          "an array is not empty.");
    }
    if (size > 1) {
      value_error(
          "The truth value of an array with more than one element is ambiguous. Use a.any() or "
          "a.all()");
    }
    const Array* array = readable(value);
    if (!array) bool_conversion_error(value);
    return PyObject_IsTrue(python_scalar(*array, 0).get());
  });
}

PyObject* array_int(PyObject* self) {
  return guarded([&] { return PyNumber_Long(scalar_for(self, "int").get()); });
}
PyObject* array_float(PyObject* self) {
  return guarded([&] { return PyNumber_Float(scalar_for(self, "float").get()); });
}
PyObject* array_complex(PyObject* self, PyObject*) {
  return guarded([&] {
    const Ref scalar = scalar_for(self, "complex");
    return PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyComplex_Type), scalar.get());
  });
}

PyObject* array_index(PyObject* self) {
  return guarded([&] {
    const Value& value = value_of(self);
    if (!value->shape().empty() || !is_integer(value->dtype())) {
      type_error("Only integer scalar arrays can be converted to a scalar index.");
    }
    const Array* array = readable(value);
    if (!array) index_conversion_error(value);
    return python_scalar(*array, 0).release();
  });
}

int array_contains(PyObject* self, PyObject* query) {
  return guarded_status([&] {
    const Value wanted = try_value(query);
    if (!wanted) {
      type_error("Array.__contains__: unsupported operand type(s) for in: ", pytree::repr(query),
                 " is no array or number.");
    }
    const Shape& shape = value_of(self)->shape();
    if (shape.size() != 1) {
      value_error("Array.__contains__: search array must be one-dimensional, got arr.shape=",
                  to_string(shape), ".");
    }
    if (!wanted->shape().empty()) {
      value_error("Array.__contains__: query value must be a scalar, got query.shape=",
                  to_string(wanted->shape()));
    }
    const Values in = numpy::promote_dtypes({value_of(self), wanted});
    const Value equal = ops::eq(in[0], in[1]);
    const Value any = ops::reduce_or(equal, ops::iota_ints(equal->shape().size()));
    const Array* array = readable(any);
    if (!array) bool_conversion_error(any);
    return PyObject_IsTrue(python_scalar(*array, 0).get());
  });
}

namespace {

// For printing: null for a tracer of a library's own class that has no trace, or none any more.
Value printed_value(PyObject* self) {
  try {
    return value_of(self);
  } catch (const UserError& error) {
    if (error.kind() == ErrorKind::unexpected_tracer_error) return nullptr;
    throw;
  }
}

}  // namespace

PyObject* array_repr(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Value value = printed_value(self);
    if (!value) return unicode(std::string(Py_TYPE(self)->tp_name) + "()");
    if (value->is_tracer()) return unicode(tracer_text(value));
    check_not_deleted(value);
    return call_package_function("_base.printing", "array_repr", &self, 1, nullptr);
  });
}

PyObject* array_str(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Value value = printed_value(self);
    if (!value) return array_repr(self);
    if (value->is_tracer()) return unicode(tracer_text(value));
    if (is_key(value->dtype()) || is_sum(as_array(value).sharding()) || as_array(value).slab())
      return array_repr(self);
    Ref shared = shared_text(self);
    if (shared.get() != Py_None) return shared.release();
    return PyObject_Str(to_numpy(value).get());
  });
}

PyObject* array_format(PyObject* self, PyObject* specification) {
  return guarded([&]() -> PyObject* {
    const Value value = printed_value(self);
    if (!value || value->is_tracer() || is_key(value->dtype())) {
      if (PyUnicode_GetLength(specification) == 0) return array_str(self);
      type_error("unsupported format string passed to ", Py_TYPE(self)->tp_name, ".__format__");
    }
    const Ref array = to_numpy(value);
    if (!value->shape().empty()) return PyObject_Format(array.get(), specification);
    const Ref empty = Ref::checked(PyTuple_New(0));
    const Ref scalar = Ref::checked(PyObject_GetItem(array.get(), empty.get()));
    return PyObject_Format(scalar.get(), specification);
  });
}

PyObject* array_item(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    const Array* array = readable(value_of(self));
    if (!array)
      scalar_conversion_error(value_of(self), "This occurred in the item() method of jax.Array");
    return python_scalar(*array, item_offset(*array, args, count)).release();
  });
}

PyObject* array_tolist(PyObject* self, PyObject*) {
  return guarded([&] {
    needs_elements(value_of(self), "tolist() method was called");
    return nested_list(*readable(value_of(self)), 0, 0).release();
  });
}

PyObject* array_to_numpy(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"dtype", "copy", nullptr};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", const_cast<char**>(names), &dtype, &copy)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    Ref made = to_numpy(value_of(self));
    if (dtype != Py_None)
      made = Ref::checked(PyObject_CallMethod(made.get(), "astype", "O", dtype));
    if (copy == Py_True) made = Ref::checked(PyObject_CallMethod(made.get(), "copy", nullptr));
    return made.release();
  });
}

}  // namespace shardax::objects
