// objects/functions/shape_args.cpp - parsing shapes, and the table of delegated methods.
#include "objects/functions/shape_args.h"

#include <utility>

#include "objects/array/array_methods.h"

namespace shardax::objects {

Ref int_tuple(const Shape& ints) {
  Ref tuple = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(ints.size())));
  for (std::size_t i = 0; i < ints.size(); ++i) {
    PyObject* number = PyLong_FromLongLong(ints[i]);
    if (!number) throw PythonError();
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), number);
  }
  return tuple;
}

namespace {

std::int64_t parse_int(PyObject* object) {
  const Py_ssize_t number = PyNumber_AsSsize_t(object, PyExc_OverflowError);
  if (number == -1 && PyErr_Occurred()) throw PythonError();
  return number;
}

[[noreturn]] void shape_error(PyObject* object, std::string_view what) {
  if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError)) {
    // For a tracer, the values that it depends on.
    std::string depends;
    if (PyErr_Occurred()) {
      PyObject *type, *value, *traceback;
      PyErr_Fetch(&type, &value, &traceback);
      const std::string text = value ? pytree::str(value) : "";
      if (const auto line = text.find('\n'); line != std::string::npos) depends = text.substr(line);
      Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
    }
    type_error(what, " must be 1D sequences of concrete values of integer type, got ",
               pytree::repr(object),
               ".\nIf using `jit`, try using `static_argnums` or applying `jit` to "
               "smaller subfunctions.",
               depends);
  }
  throw PythonError();
}

}  // namespace

Ints parse_ints(PyObject* object, std::string_view what) {
  Ints out;
  if (PyLong_Check(object) || (PyIndex_Check(object) && !PySequence_Check(object))) {
    out.push_back(parse_int(object));
    return out;
  }
  if (is_array_object(object) && value_of(object)->shape().empty()) {
    const Py_ssize_t number = PyNumber_AsSsize_t(object, PyExc_OverflowError);
    if (number == -1 && PyErr_Occurred()) shape_error(object, what);
    out.push_back(number);
    return out;
  }
  const Ref items = pytree::fast_sequence(object, "");
  if (!items) shape_error(object, what);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    const Py_ssize_t number =
        PyNumber_AsSsize_t(PySequence_Fast_GET_ITEM(items.get(), i), PyExc_OverflowError);
    if (number == -1 && PyErr_Occurred()) shape_error(object, what);
    out.push_back(number);
  }
  return out;
}

namespace {

// Several ints, or one sequence of them.
Ints parse_variadic(PyObject* const* args, Py_ssize_t count, std::string_view what) {
  if (count == 1) return parse_ints(args[0], what);
  const Ref tuple = Ref::checked(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(args[i]));
  return parse_ints(tuple.get(), what);
}

}  // namespace

Shape parse_new_shape(const Value& value, PyObject* const* args, Py_ssize_t count) {
  Shape shape = parse_variadic(args, count, "Shapes");
  const std::int64_t size = value->type().size();
  std::int64_t product = 1;
  std::size_t unknown = shape.size();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] >= 0) {
      product *= shape[d];
    } else if (unknown != shape.size()) {
      type_error("can only specify one unknown axis size with a `-1` value, got ",
                 to_string(shape));
    } else {
      unknown = d;
    }
  }
  if (unknown == shape.size()) return shape;
  if (product == 0 || size % product != 0) {
    type_error("cannot reshape array of shape ", to_string(value->shape()), " (size ", size,
               ") into shape ", to_string(shape), " because the product of specified axis sizes (",
               product, ") does not evenly divide ", size);
  }
  shape[unknown] = size / product;
  return shape;
}

Ints parse_axes(PyObject* const* args, Py_ssize_t count, std::size_t rank) {
  Ints axes = parse_variadic(args, count, "Axes");
  const auto n = static_cast<std::int64_t>(rank);
  for (std::int64_t& axis : axes) {
    if (axis < -n || axis >= n) {
      value_error("axis ", axis, " is out of bounds for array of dimension ", n);
    }
    if (axis < 0) axis += n;
  }
  return axes;
}

namespace {

// Methods, each with the module and the function that it is, and its parameters after the array.
struct Delegated {
  const char* name;
  const char* module;
  const char* function;
  const char* parameters;
};
constexpr Delegated delegated[] = {
    {"all", "numpy", "all", "axis=None, out=None, keepdims=False, *, where=None"},
    {"any", "numpy", "any", "axis=None, out=None, keepdims=False, *, where=None"},
    {"argmax", "numpy", "argmax", "axis=None, out=None, keepdims=None"},
    {"argmin", "numpy", "argmin", "axis=None, out=None, keepdims=None"},
    {"argpartition", "numpy", "argpartition", "kth, axis=-1"},
    {"argsort", "numpy", "argsort",
     "axis=-1, *, kind=None, order=None, stable=True, descending=False, dtype=None"},
    {"byteswap", "numpy._array_methods", "byteswap", ""},
    {"choose", "numpy", "choose", "choices, out=None, mode='raise'"},
    {"clip", "numpy", "clip", "min=None, max=None, *, a=None, a_min=None, a_max=None"},
    {"compress", "numpy._array_methods", "compress", "condition, axis=None, **options"},
    {"conj", "numpy", "conj", ""},
    {"conjugate", "numpy", "conjugate", ""},
    {"cumprod", "numpy", "cumprod", "axis=None, dtype=None, out=None"},
    {"cumsum", "numpy", "cumsum", "axis=None, dtype=None, out=None"},
    {"diagonal", "numpy", "diagonal", "offset=0, axis1=0, axis2=1"},
    {"dot", "numpy", "dot", "b, *, precision=None, preferred_element_type=None, out_sharding=None"},
    {"max", "numpy", "max", "axis=None, out=None, keepdims=False, initial=None, where=None"},
    {"mean", "numpy", "mean", "axis=None, dtype=None, out=None, keepdims=False, *, where=None"},
    {"min", "numpy", "min", "axis=None, out=None, keepdims=False, initial=None, where=None"},
    {"nonzero", "numpy", "nonzero", "*, size=None, fill_value=None"},
    {"prod", "numpy", "prod",
     "axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, "
     "promote_integers=True"},
    {"ptp", "numpy", "ptp", "axis=None, out=None, keepdims=False"},
    {"repeat", "numpy", "repeat",
     "repeats, axis=None, *, total_repeat_length=None, out_sharding=None"},
    {"round", "numpy", "round", "decimals=0, out=None"},
    {"searchsorted", "numpy", "searchsorted", "v, side='left', sorter=None, *, method='scan'"},
    {"sort", "numpy", "sort", "axis=-1, *, kind=None, order=None, stable=True, descending=False"},
    {"squeeze", "numpy", "squeeze", "axis=None"},
    {"std", "numpy", "std",
     "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, "
     "correction=None"},
    {"sum", "numpy", "sum",
     "axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, "
     "promote_integers=True"},
    {"swapaxes", "numpy", "swapaxes", "axis1, axis2"},
    {"take", "numpy", "take",
     "indices, axis=None, out=None, mode=None, unique_indices=False, "
     "indices_are_sorted=False, fill_value=None"},
    {"trace", "numpy", "trace", "offset=0, axis1=0, axis2=1, dtype=None, out=None"},
    {"var", "numpy", "var",
     "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, "
     "correction=None"},
    {"view", "numpy._array_methods", "view", "dtype=None"},
    {"devices", "_devices.placement", "devices", ""},
    {"_repr_html_", "_devices.drawings", "array_html", ""},
    {"addressable_data", "_devices.placement", "addressable_data", "index"},
    {"to_device", "numpy._array_methods", "to_device", "device, *, stream=None"},
    {"clone", "numpy._array_methods", "clone", ""},
    {"__round__", "numpy._array_methods", "round_to", "ndigits=None"},
    {"__array_namespace__", "numpy._array_methods", "array_namespace", "*, api_version=None"},
};
constexpr std::size_t delegated_count = std::size(delegated);

PyObject* call(const char* module, const char* function, PyObject* self, PyObject* const* args,
               Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    const Py_ssize_t total = count + (names ? PyTuple_GET_SIZE(names) : 0);
    std::vector<PyObject*> all{self};
    all.insert(all.end(), args, args + total);
    return call_package_function(module, function, all.data(), count + 1, names);
  });
}

template <std::size_t I>
PyObject* delegated_method(PyObject* self, PyObject* const* args, Py_ssize_t count,
                           PyObject* names) {
  return call(delegated[I].module, delegated[I].function, self, args, count, names);
}

// A signature as CPython writes it, and which function has the documentation.
const char* doc_of(const Delegated& method) {
  const bool none = !*method.parameters;
  auto* doc = new std::string(concat(method.name, "($self", none ? "" : ", ", method.parameters,
                                     ")\n--\n\nshardax.", method.module, ".", method.function,
                                     " of the array."));
  return doc->c_str();  // CPython keeps the pointer
}

template <std::size_t... I>
std::vector<PyMethodDef> make_table(std::index_sequence<I...>) {
  return {{delegated[I].name,
           reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(delegated_method<I>)),
           METH_FASTCALL | METH_KEYWORDS, doc_of(delegated[I])}...};
}

}  // namespace

std::vector<PyMethodDef> delegated_methods() {
  return make_table(std::make_index_sequence<delegated_count>());
}

PyObject* call_delegated(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t count,
                         PyObject* names) {
  return call("numpy._array_methods", name, self, args, count, names);
}

}  // namespace shardax::objects
