// objects/array/arrays.cpp - module functions: array, asarray, broadcasting.
#include "objects/array/arrays.h"

#include "analysis/shardings.h"
#include "base/index.h"
#include "numpy/compose.h"
#include "objects/array/array_methods.h"
#include "objects/array/buffer.h"
#include "objects/array/convert.h"
#include "objects/dtypes.h"
#include "objects/functions/shape_args.h"
#include "ops/ops.h"

namespace shardax::objects {
namespace {

std::optional<DType> optional_dtype(PyObject* object, const char* function) {
  if (object == Py_None) return std::nullopt;
  return requested_dtype(object, function);
}

// An array that is made lies over the mesh that is current, as results of ops do.
Value made_here(const Value& value) {
  if (!context_mesh() || value->is_tracer() || as_array(value).sharding()) return value;
  const Array& array = as_array(value);
  const Value made = view_of(array, array.type(), array.strides(), 0);
  place_in_context({made});
  return made;
}

// The array made of `object`, labelled with a device or sharding where one is given.
PyObject* placed(PyObject* made, PyObject* object, PyObject* device, PyObject* sharding) {
  const char* label = device == Py_None ? "created" : "label";
  if (device == Py_None) device = sharding;
  if (device == Py_None && context_mesh() && !is_array_object(object)) {
    const Ref array = Ref::checked(made);
    return wrap(made_here(unwrap(made)));
  }
  if (device == Py_None) return made;
  const Ref array = Ref::checked(made);
  PyObject* const args[] = {made, device};
  return call_package_function("_devices.shardings", label, args, 2, nullptr);
}

// The order in memory is not the user's to choose: None and "K" leave it open.
void check_order(PyObject* order, const char* function) {
  const bool open = order == Py_None ||
                    (PyUnicode_Check(order) && PyUnicode_CompareWithASCIIString(order, "K") == 0);
  if (!open) {
    fail(ErrorKind::not_implemented_error, function, ": order is ", pytree::repr(order),
         ". Only implemented for order='K'.");
  }
}

PyObject* array(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"object", "dtype",  "copy",         "order",
                                "ndmin",  "device", "out_sharding", nullptr};
  PyObject *object, *dtype = Py_None, *order = Py_None, *device = Py_None, *sharding = Py_None;
  int copy = 1, ndmin = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OpO$iOO:array", const_cast<char**>(names),
                                   &object, &dtype, &copy, &order, &ndmin, &device, &sharding)) {
    return nullptr;
  }
  return guarded([&] {
    if (PyTuple_GET_SIZE(args) > 2) {
      pytree::check(PyErr_WarnEx(
          PyExc_DeprecationWarning,
          "Passing the copy, order, and ndmin arguments to jnp.array positionally is deprecated. "
          "Use keyword arguments instead.",
          1));
    }
    check_order(order, "array");
    return placed(make_array(object, optional_dtype(dtype, "array"), copy != 0, ndmin), object,
                  device, sharding);
  });
}

PyObject* asarray(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"a", "dtype", "order", "copy", "device", "out_sharding", nullptr};
  PyObject *object, *dtype = Py_None, *order = Py_None, *copy = Py_None, *device = Py_None,
                    *sharding = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO$OOO:asarray", const_cast<char**>(names),
                                   &object, &dtype, &order, &copy, &device, &sharding)) {
    return nullptr;
  }
  return guarded([&] {
    check_order(order, "asarray");
    return placed(make_array(object, optional_dtype(dtype, "asarray"), copy == Py_True, 0), object,
                  device, sharding);
  });
}

// full(shape, value, dtype): a view that repeats one element.
PyObject* full(PyObject*, PyObject* args) {
  PyObject *shape, *value, *dtype;
  if (!PyArg_ParseTuple(args, "OOO", &shape, &value, &dtype)) return nullptr;
  return guarded([&] {
    const Operand operand = parse_operand(value);
    if (operand.kind == Operand::Kind::none) argument_error(value, "full", 1);
    const std::optional<DType> wanted = find_dtype(dtype);
    const WeakDType type = wanted ? WeakDType{*wanted, false} : operand.lattice_type();
    const Shape wanted_shape = parse_ints(shape, "Shapes");
    for (std::int64_t d : wanted_shape) {
      if (d < 0)
        value_error("negative dimensions are not allowed: got shape ", to_string(wanted_shape),
                    ".");
    }
    const Value element = made_here(materialise(operand, type));
    if (!numpy::broadcasts_to(element->shape(), wanted_shape)) {
      value_error("Incompatible types for broadcasting: input type=", to_string(element->type()),
                  " and requested type=", to_string(with_shape(element->type(), wanted_shape)));
    }
    return wrap(ops::broadcast_to(element, wanted_shape));
  });
}

// broadcast_like(scalar, like): of the shape of `like`, split over explicit axes as that is.
PyObject* broadcast_like(PyObject*, PyObject* args) {
  PyObject *scalar, *like;
  if (!PyArg_ParseTuple(args, "OO", &scalar, &like)) return nullptr;
  return guarded([&] {
    const Type type = unwrap(like)->type();
    return wrap(ops::broadcast_in_dim(unwrap(scalar), type.shape, {}, type.sharding));
  });
}

PyObject* broadcast_to(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"array", "shape", "out_sharding", nullptr};
  PyObject *object, *shape, *sharding = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$O:broadcast_to", const_cast<char**>(names),
                                   &object, &shape, &sharding)) {
    return nullptr;
  }
  return guarded([&] {
    const Value value = to_argument(object, "broadcast_to", 0);
    const Shape wanted = parse_ints(shape, "Shapes");
    if (value->shape().size() > wanted.size()) {
      value_error("Cannot broadcast to shape with fewer dimensions: arr_shape=",
                  to_string(value->shape()), " shape=", to_string(wanted));
    }
    if (!numpy::broadcasts_to(value->shape(), wanted)) {
      value_error("Incompatible types for broadcasting: input type=", to_string(value->type()),
                  " and requested type=", to_string(with_shape(value->type(), wanted)));
    }
    return placed(wrap(ops::broadcast_to(value, wanted)), object, Py_None, sharding);
  });
}

PyObject* broadcast_arrays(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    Values in;
    for (Py_ssize_t i = 0; i < count; ++i)
      in.push_back(to_argument(args[i], "broadcast_arrays", static_cast<int>(i)));
    Values out = numpy::broadcast_arrays(in);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (out[i] == in[i]) out[i] = another(in[i]);
    }
    return wrap_tuple(out);
  });
}

PyObject* broadcast_shapes(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    std::vector<Shape> shapes;
    for (Py_ssize_t i = 0; i < count; ++i) shapes.push_back(parse_ints(args[i], "Shapes"));
    return int_tuple(numpy::broadcast_shapes(shapes)).release();
  });
}

// An argument that becomes a float: Python integers that the default integer does not hold, too.
Value to_inexact_argument(PyObject* object, int position) {
  int overflow = 0;
  const long long number =
      PyLong_CheckExact(object) ? PyLong_AsLongLongAndOverflow(object, &overflow) : 0;
  const bool fits = numpy::x64_enabled() || (number >= INT32_MIN && number <= INT32_MAX);
  if (overflow == 0 && fits) return to_argument(object, "promote", position);
  const Ref real = Ref::checked(PyNumber_Float(object));
  return to_argument(real.get(), "promote", position);
}

// promote(rule, *args): dtypes and shapes made equal. rule: "any", "numeric", "inexact"; "dtypes"
// and "dtypes_inexact" leave shapes alone.
PyObject* promote(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    if (count < 1) type_error("promote() needs a rule");
    const numpy::UserOperands operands;
    const std::string rule = pytree::text_of(args[0]);
    numpy::Promote how = numpy::Promote::any;
    if (rule == "numeric") how = numpy::Promote::numeric;
    if (rule.ends_with("inexact")) how = numpy::Promote::inexact;
    Values in;
    for (Py_ssize_t i = 1; i < count; ++i) {
      const int position = static_cast<int>(i - 1);
      in.push_back(how == numpy::Promote::inexact ? to_inexact_argument(args[i], position)
                                                  : to_argument(args[i], "promote", position));
    }
    Values out = numpy::promote_dtypes(in, how);
    return wrap_tuple(rule.starts_with("dtypes") ? out : numpy::promote_shapes(out, "promote"));
  });
}

// convert(x, dtype, weak): with no op where nothing changes.
PyObject* convert(PyObject*, PyObject* args) {
  PyObject *object, *dtype;
  int weak = 0;
  if (!PyArg_ParseTuple(args, "OO|p", &object, &dtype, &weak)) return nullptr;
  return guarded([&] {
    const Operand operand = parse_operand(object);
    if (operand.kind == Operand::Kind::none) argument_error(object, "convert_element_type", 0);
    WeakDType type{to_dtype(dtype), weak != 0};
    // Arrays that have 64 bits while these are not the default keep them.
    const bool kept = is_array_object(object) && operand.value->dtype() == type.dtype;
    if (!kept) type.dtype = numpy::canonical_dtype(type.dtype);
    if (kept && operand.value->type().weak == type.weak) return Py_NewRef(object);
    return wrap(materialise(operand, type));
  });
}

PyObject* register_class(PyObject*, PyObject* type) {
  return guarded([&] {
    register_array_class(type);
    return Py_NewRef(Py_None);
  });
}

PyObject* is_concrete(PyObject*, PyObject* object) {
  return guarded([&] {
    return PyBool_FromLong(!is_array_object(object) || concrete(value_of(object)) != nullptr);
  });
}

// ConcretizationTypeError, with `hint`, where the elements of a value are not known.
PyObject* needs_concrete(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject* object;
    const char* hint;
    if (!PyArg_ParseTuple(args, "Os:needs_concrete", &object, &hint)) return nullptr;
    if (is_array_object(object) && !concrete(value_of(object)))
      scalar_conversion_error(value_of(object), hint);
    Py_RETURN_NONE;
  });
}

// The array whose elements a value has, or None.
PyObject* concrete_array(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    const Array* array = concrete(unwrap(object));
    if (!array) Py_RETURN_NONE;
    return wrap(Value(const_cast<Array*>(array)));
  });
}

PyObject* another_array(PyObject*, PyObject* object) {
  return guarded([&] {
    const Value value = unwrap(object);
    check_not_deleted(value);
    return wrap(another(value));
  });
}

// The arrays of a sequence as slices of one array, where they lie at equal distances in one memory:
// a view with a new dimension 0. None where they do not.
PyObject* stacked_view(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    const Ref items = pytree::checked_sequence(object, "a sequence of arrays was expected");
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items.get());
    Values values;
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(items.get(), i);
      if (!is_array_object(item) || value_of(item)->is_tracer()) Py_RETURN_NONE;
      values.push_back(value_of(item));
      check_not_deleted(values.back());
    }
    if (values.empty()) Py_RETURN_NONE;
    const Array& first = as_array(values[0]);
    if (first.type().rank() >= max_rank) Py_RETURN_NONE;
    const std::ptrdiff_t step = count > 1 ? as_array(values[1]).data() - first.data() : 0;
    const int width = itemsize(first.dtype());
    if (step % width != 0) Py_RETURN_NONE;
    for (Py_ssize_t i = 1; i < count; ++i) {
      const Array& array = as_array(values[index(i)]);
      if (array.type() != first.type() || array.strides() != first.strides() ||
          array.buffer() != first.buffer() || array.data() != first.data() + i * step) {
        Py_RETURN_NONE;
      }
    }
    Shape shape = first.shape(), strides = first.strides();
    shape.insert(0, count);
    strides.insert(0, step / width);
    const ArrayPtr view = view_of(first, with_shape(first.type(), shape), strides, 0);
    const bool together = std::all_of(values.begin(), values.end(), [&](const Value& value) {
      return same_sharding(as_array(value).sharding(), first.sharding());
    });
    if (together && first.sharding()) {
      Split split = first.sharding()->spec;
      if (first.sharding()->named) split.emplace(split.begin());
      view->set_sharding(with_spec(*first.sharding(), std::move(split)));
    }
    return wrap(view);
  });
}

// Strides in elements, for tests and shard views; None for tracers.
PyObject* strides(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    const Value value = unwrap(object);
    if (value->is_tracer()) Py_RETURN_NONE;
    return int_tuple(as_array(value).strides()).release();
  });
}

PyObject* live_arrays_list(PyObject*, PyObject*) { return guarded(live_arrays); }

template <class F>
PyCFunction as_function(F* f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

constexpr const char* array_doc =
    "array($module, object, dtype=None, copy=True, order='K', *, ndmin=0, device=None, "
    "out_sharding=None)\n--\n\n"
    R"(A new array of numbers.

Args:
  object: a number, nested sequences of numbers and arrays, or an array of another library.
  dtype: of the result; None: int32 for Python's ints, float32 for floats, complex64 for complex
    numbers (64 and 128 bits under x64), bool, or the dtype of an array.
  copy: without effect on the result: arrays are immutable.
  order: "K" or "C".
  ndmin: the least number of dimensions; missing ones, of size 1, are added in front.
  device: a device or sharding for the array.
  out_sharding: a sharding in the explicit mode of meshes.

Returns:
  The array; weakly typed for a Python number without `dtype`.

Raises:
  ValueError: nested sequences differ in length.
  TypeError: elements are no numbers.
  OverflowError: an int does not fit the dtype.
  NotImplementedError: for another `order`.

Example:
  >>> jnp.array([[1, 2], [3, 4]], dtype=float)
  Array([[1., 2.],
         [3., 4.]], dtype=float32)
  >>> jnp.array(1.0)
  Array(1., dtype=float32, weak_type=True))";

constexpr const char* asarray_doc =
    "asarray($module, a, dtype=None, order=None, *, copy=None, device=None, out_sharding=None)\n"
    "--\n\n"
    R"(An array of numbers; `a` itself where it is an array of that dtype already.

Args:
  a: a number, nested sequences of numbers and arrays, or an array of another library.
  dtype: of the result; None: as in `jnp.array`.
  order: None, "K" or "C".
  copy: True makes a new array in any case.
  device, out_sharding: as in `jnp.array`.

Example:
  >>> jnp.asarray([1.0, 2.0])
  Array([1., 2.], dtype=float32)
  >>> x = jnp.arange(3)
  >>> jnp.asarray(x) is x
  True)";

constexpr const char* broadcast_to_doc =
    "broadcast_to($module, array, shape, *, out_sharding=None)\n--\n\n"
    R"(An array repeated along dimensions to a shape, without copying elements.

Args:
  array: an array or a number.
  shape: an int or a tuple of ints, to which the shape of `array` broadcasts.
  out_sharding: a sharding in the explicit mode of meshes.

Raises:
  ValueError: the shape of `array` does not broadcast to `shape`.

Example:
  >>> jnp.broadcast_to(jnp.arange(3), (2, 3))
  Array([[0, 1, 2],
         [0, 1, 2]], dtype=int32))";

PyMethodDef arrays_functions[] = {
    {"array", as_function(array), METH_VARARGS | METH_KEYWORDS, array_doc},
    {"asarray", as_function(asarray), METH_VARARGS | METH_KEYWORDS, asarray_doc},
    {"full", full, METH_VARARGS, "full(shape, value, dtype): one element, repeated."},
    {"broadcast_like", broadcast_like, METH_VARARGS,
     "broadcast_like(scalar, like): of the shape of `like`, split as it is."},
    {"broadcast_to", as_function(broadcast_to), METH_VARARGS | METH_KEYWORDS, broadcast_to_doc},
    {"broadcast_arrays", as_function(broadcast_arrays), METH_FASTCALL,
     "All arguments of one shape."},
    {"broadcast_shapes", as_function(broadcast_shapes), METH_FASTCALL,
     "The shape to which all broadcast."},
    {"promote", as_function(promote), METH_FASTCALL,
     "promote(rule, *args): equal dtypes and shapes."},
    {"convert", convert, METH_VARARGS, "convert(x, dtype, weak=False)."},
    {"is_concrete", is_concrete, METH_O, "Whether the elements of a value are known."},
    {"needs_concrete", needs_concrete, METH_VARARGS,
     "needs_concrete(value, hint): an error where the elements of a value are not known."},
    {"concrete_array", concrete_array, METH_O,
     "The array that a value is known to equal, or None."},
    {"register_array_class", register_class, METH_O, "Makes instances of a class operands."},
    {"another", another_array, METH_O, "The same elements as an array that is deleted by itself."},
    {"stacked_view", stacked_view, METH_O, "Arrays that lie evenly in one memory, as one."},
    {"strides", strides, METH_O, "Strides in elements."},
    {"live_arrays", live_arrays_list, METH_NOARGS, "The arrays that exist, oldest first."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_arrays(PyObject* module) {
  pytree::check(PyModule_AddFunctions(module, arrays_functions));
}

}  // namespace shardax::objects
