// objects/array/array_methods.cpp - the tables of Array's methods and properties.
//
// Methods that need only the type or a view are here. Compositions call the function of the same
// name in shardax.numpy, methods about devices call shardax._devices.placement.
#include "objects/array/array_methods.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/index.h"
#include "numpy/compose.h"
#include "objects/array/buffer.h"
#include "objects/array/convert.h"
#include "objects/array/dlpack.h"
#include "objects/array/scalars.h"
#include "objects/dtypes.h"
#include "objects/functions/shape_args.h"

namespace shardax::objects {

PyObject* call_package_function(const char* module, const char* name, PyObject* const* args,
                                Py_ssize_t count, PyObject* names) {
  static auto& known = *new std::unordered_map<const char*, PyObject*>;
  PyObject*& function = known[name];
  if (!function) {
    const Ref imported = Ref::checked(PyImport_ImportModule(concat("shardax.", module).c_str()));
    function = Ref::checked(PyObject_GetAttrString(imported.get(), name)).release();
  }
  return PyObject_Vectorcall(function, args, index(count), names);
}

namespace {

const Type& type_of(PyObject* self) { return value_of(self)->type(); }

// ---- properties ------------------------------------------------------------------------------

PyObject* get_shape(PyObject* self, void*) {
  return guarded([&] { return int_tuple(type_of(self).shape).release(); });
}
PyObject* get_dtype(PyObject* self, void*) {
  return guarded([&] { return Py_NewRef(dtype_object(type_of(self).dtype)); });
}
PyObject* get_ndim(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromSize_t(type_of(self).rank()); });
}
PyObject* get_size(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromLongLong(type_of(self).size()); });
}
PyObject* get_itemsize(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromLong(itemsize(type_of(self).dtype)); });
}
PyObject* get_nbytes(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromLongLong(type_of(self).bytes()); });
}
PyObject* get_weak_type(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(type_of(self).weak); });
}

template <Value (*f)(const Value&)>
PyObject* get_value(PyObject* self, void*) {
  return guarded([&] {
    const Value& value = value_of(self);
    check_not_deleted(value);
    Value out = f(value);
    return wrap(out == value ? another(value) : std::move(out));
  });
}

Value transposed(const Value& a) {
  Ints order;
  for (std::size_t d = a->shape().size(); d-- > 0;) order.push_back(static_cast<std::int64_t>(d));
  return ops::transpose(a, order);
}
Value matrix_transposed(const Value& a) {
  const std::size_t rank = a->shape().size();
  if (rank < 2)
    value_error("x must be at least two-dimensional for matrix_transpose; got ndim=", rank);
  Ints order = ops::iota_ints(rank);
  std::swap(order[rank - 1], order[rank - 2]);
  return ops::transpose(a, order);
}

// Properties that are functions of the array in a Python module. Properties of placement do not
// exist for tracers.
struct PythonProperty {
  const char* module;
  const char* name;
  const char* refusal = nullptr;   // use for which tracers raise ConcretizationTypeError
  const char* function = nullptr;  // the function's name, where it is not the property's
};
PyObject* get_python(PyObject* self, void* closure) {
  const auto* property = static_cast<const PythonProperty*>(closure);
  return guarded([&] {
    if (property->refusal) needs_elements(value_of(self), property->refusal);
    const char* function = property->function ? property->function : property->name;
    return call_package_function(property->module, function, &self, 1, nullptr);
  });
}

PythonProperty python_properties[] = {
    {"_transform.jit", "aval", nullptr, "typeof"},
    {"_base.manual_axes", "mat", nullptr, "mat_of"},
    {"numpy._indexing.at", "at"},
    {"_devices.placement", "device"},
    {"_devices.placement", "addressable_shards", "addressable_shards property was called"},
    {"_devices.placement", "global_shards", "global_shards property was called"},
    {"_devices.placement", "device_buffers", "device_buffers property was called"},
    {"_devices.placement", "is_fully_replicated", "is_fully_replicated property was called"},
    {"_devices.placement", "is_fully_addressable", "is_fully_addressable property was called"},
    {"numpy._array_methods", "flat"},
    {"_devices.placement", "format"},
    {"_devices.placement", "_committed", nullptr, "committed"},
    {"_devices.placement", "_arrays", "_arrays property was called", "arrays"},
    {"_transform.trace_state", "_trace", nullptr, "trace_of"},
    {"numpy._array_methods", "_value", "_value property was called"},
};

template <const char* const& what>
PyObject* get_placement(PyObject* self, void* closure) {
  return guarded([&] {
    needs_array(value_of(self), what);
    return get_python(self, closure);
  });
}
constexpr const char* sharding_text = "'sharding' attribute";
constexpr const char* committed_text = "'committed' attribute";
PythonProperty sharding_property{"_devices.placement", "sharding"};
PythonProperty committed_property{"_devices.placement", "committed"};

std::vector<PyGetSetDef> make_properties() {
  std::vector<PyGetSetDef> table{
      {"shape", get_shape, nullptr, "The size of each dimension, a tuple.", nullptr},
      {"dtype", get_dtype, nullptr, "The element type, a numpy.dtype.", nullptr},
      {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
      {"size", get_size, nullptr, "The number of elements.", nullptr},
      {"itemsize", get_itemsize, nullptr, "Bytes of one element.", nullptr},
      {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
      {"weak_type", get_weak_type, nullptr, "Whether it promotes like a Python scalar.", nullptr},
      {"T", get_value<transposed>, nullptr, "All dimensions in reverse order.", nullptr},
      {"mT", get_value<matrix_transposed>, nullptr, "The last two dimensions swapped.", nullptr},
      {"real", get_value<numpy::real>, nullptr, "The real part.", nullptr},
      {"imag", get_value<numpy::imag>, nullptr, "The imaginary part.", nullptr},
  };
  table.push_back({"sharding", get_placement<sharding_text>, nullptr, nullptr, &sharding_property});
  table.push_back(
      {"committed", get_placement<committed_text>, nullptr, nullptr, &committed_property});
  for (PythonProperty& property : python_properties) {
    table.push_back({property.name, get_python, nullptr, nullptr, &property});
  }
  table.push_back({nullptr, nullptr, nullptr, nullptr, nullptr});
  return table;
}

// ---- methods ---------------------------------------------------------------------------------

PyObject* astype(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"dtype", "copy", "device", nullptr};
  PyObject *dtype = Py_None, *device;
  int copy = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OpO", const_cast<char**>(names), &dtype, &copy,
                                   &device)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    const Value& value = value_of(self);
    check_not_deleted(value);
    const DType wanted =
        dtype == Py_None ? numpy::default_float() : requested_dtype(dtype, "astype");
    if (wanted == value->dtype() && !value->type().weak) {
      if (copy && !value->is_tracer()) return wrap(copied(as_array(value)));
      return Py_NewRef(self);
    }
    const bool drops =
        is_complex(value->dtype()) && !is_complex(wanted) && wanted != DType::boolean;
    if (drops) {
      pytree::check(PyErr_WarnEx(
          PyExc_DeprecationWarning,
          "Casting from complex to real dtypes will soon raise a ValueError. Please first "
          "use jnp.real or jnp.imag to take the real/imaginary component of your input.",
          1));
    }
    return wrap(numpy::as_type(drops ? numpy::real(value) : value, {wanted, false}));
  });
}

PyObject* reshape(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (names && PyTuple_GET_SIZE(names) > 0)
    return call_delegated("reshape", self, args, count, names);
  return guarded([&] {
    check_not_deleted(value_of(self));
    return wrap(ops::reshape(value_of(self), parse_new_shape(value_of(self), args, count)));
  });
}

PyObject* transpose(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    const Value& value = value_of(self);
    check_not_deleted(value);
    if (count == 0 || (count == 1 && args[0] == Py_None)) return wrap(transposed(value));
    const std::size_t rank = value->shape().size();
    const Ints axes = parse_axes(args, count, rank);
    Ints sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != ops::iota_ints(rank)) {
      type_error(
          "transpose permutation isn't a permutation of operand dimensions, got permutation ",
          to_string(Shape(axes.begin(), axes.end())), " for operand shape ",
          to_string(value->shape()), ".");
    }
    return wrap(ops::transpose(value, axes));
  });
}

PyObject* ravel(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (count > 0 || names) return call_delegated("ravel", self, args, count, names);
  return guarded([&] {
    check_not_deleted(value_of(self));
    const Value& value = value_of(self);
    if (value->shape().size() == 1) return wrap(another(value));
    return wrap(ops::reshape(value, {value->type().size()}));
  });
}

// The same elements in memory of their own.
PyObject* copy(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Value& value = value_of(self);
    check_not_deleted(value);
    if (value->is_tracer()) return Py_NewRef(self);
    return wrap(copied(as_array(value)));
  });
}

PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const Value& value = value_of(self);
    needs_elements(value, "__reduce__() method was called");
    const bool keys = is_key(value->dtype());
    const Ref elements = to_numpy(keys ? ops::unary("random_unwrap", value) : value);
    const Ref module = Ref::checked(PyImport_ImportModule("shardax._base.pickles"));
    const Ref function =
        Ref::checked(PyObject_GetAttrString(module.get(), keys ? "rebuild_keys" : "rebuild"));
    return Py_BuildValue("(O(OO))", function.get(), elements.get(),
                         keys                 ? dtype_object(value->dtype())
                         : type_of(self).weak ? Py_True
                                              : Py_False);
  });
}

PyObject* tobytes(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    needs_elements(value_of(self), "tobytes() method was called");
    const Ref array = to_numpy(value_of(self));
    const Ref method = Ref::checked(PyObject_GetAttrString(array.get(), "tobytes"));
    return PyObject_Call(method.get(), args, kwargs);
  });
}

// Methods of a buffer, not of the array: JaxRuntimeError says that it is gone.
void check_buffer(const Value& value, const char* method) {
  if (value->is_tracer() || !as_array(value).deleted()) return;
  const Ref module = Ref::checked(PyImport_ImportModule("shardax.errors"));
  const Ref type = Ref::checked(PyObject_GetAttrString(module.get(), "JaxRuntimeError"));
  PyErr_Format(type.get(),
               "INVALID_ARGUMENT: %s() called on deleted or donated buffer: Array has been deleted "
               "with shape=%s.",
               method, to_string(value->type()).c_str());
  throw PythonError();
}

PyObject* block_until_ready(PyObject* self, PyObject*) {
  return guarded([&] {
    needs_array(value_of(self), "'block_until_ready' method");
    check_buffer(value_of(self), "block_until_ready");
    return Py_NewRef(self);
  });
}
PyObject* check_if_deleted(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    check_not_deleted(value_of(self));
    Py_RETURN_NONE;
  });
}

PyObject* delete_array(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    needs_elements(value_of(self), "delete() method was called");
    as_array(value_of(self)).mark_deleted();
    Py_RETURN_NONE;
  });
}
PyObject* is_deleted(PyObject* self, PyObject*) {
  return guarded([&] {
    const Value& value = value_of(self);
    return PyBool_FromLong(!value->is_tracer() && as_array(value).deleted());
  });
}
PyObject* is_ready(PyObject*, PyObject*) { Py_RETURN_TRUE; }

PyObject* buffer_pointer(PyObject* self, PyObject*) {
  return guarded([&] {
    const Value& value = value_of(self);
    needs_elements(value, "unsafe_buffer_pointer() method was called");
    check_buffer(value, "unsafe_buffer_pointer");
    return PyLong_FromVoidPtr(as_array(value).data());
  });
}
PyObject* size_in_bytes(PyObject* self, PyObject*) {
  return guarded([&] {
    check_buffer(value_of(self), "on_device_size_in_bytes");
    return get_nbytes(self, nullptr);
  });
}

PyObject* dlpack_device(PyObject*, PyObject*) { return Py_BuildValue("(ii)", 1, 0); }

template <class F>
PyCFunction as_method(F* f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

PyMethodDef own_methods[] = {
    {"astype", as_method(astype), METH_VARARGS | METH_KEYWORDS,
     "astype($self, dtype=None, copy=False, device=None)\n--\n\n"
     "The elements converted to another dtype."},
    {"reshape", as_method(reshape), METH_FASTCALL | METH_KEYWORDS,
     "reshape($self, *shape, order='C', copy=None, out_sharding=None)\n--\n\n"
     "The elements in another shape; -1 is inferred."},
    {"transpose", as_method(transpose), METH_FASTCALL,
     "transpose($self, *axes)\n--\n\n"
     "Dimensions in another order."},
    {"ravel", as_method(ravel), METH_FASTCALL | METH_KEYWORDS,
     "ravel($self, order='C', out_sharding=None)\n--\n\n"
     "All elements in one dimension."},
    {"flatten", as_method(ravel), METH_FASTCALL | METH_KEYWORDS,
     "flatten($self, order='C', out_sharding=None)\n--\n\n"
     "All elements in one dimension."},
    {"copy", copy, METH_NOARGS, "copy($self)\n--\n\nThe same elements in a new array."},
    {"item", as_method(array_item), METH_FASTCALL,
     "item($self, *args)\n--\n\n"
     "One element as a Python scalar."},
    {"tolist", array_tolist, METH_NOARGS, "tolist($self)\n--\n\nNested lists of Python scalars."},
    {"tobytes", as_method(tobytes), METH_VARARGS | METH_KEYWORDS,
     "tobytes($self, order='C')\n--\n\nThe elements' bytes, row-major."},
    {"block_until_ready", block_until_ready, METH_NOARGS,
     "block_until_ready($self)\n--\n\n"
     "The array; results are always ready."},
    {"is_ready", is_ready, METH_NOARGS, "is_ready($self)\n--\n\nTrue."},
    {"copy_to_host_async", check_if_deleted, METH_NOARGS,
     "copy_to_host_async($self)\n--\n\n"
     "Nothing: all memory is the host's."},
    {"delete", delete_array, METH_NOARGS,
     "delete($self)\n--\n\n"
     "Releases the elements; later uses raise RuntimeError."},
    {"_check_if_deleted", check_if_deleted, METH_NOARGS, "Raises RuntimeError if it is deleted."},
    {"is_deleted", is_deleted, METH_NOARGS,
     "is_deleted($self)\n--\n\n"
     "Whether the elements have been released."},
    {"unsafe_buffer_pointer", buffer_pointer, METH_NOARGS,
     "unsafe_buffer_pointer($self)\n--\n\n"
     "The address of the first element."},
    {"on_device_size_in_bytes", size_in_bytes, METH_NOARGS,
     "on_device_size_in_bytes($self)\n--\n\n"
     "Bytes of all elements."},
    {"__array__", as_method(array_to_numpy), METH_VARARGS | METH_KEYWORDS,
     "A NumPy array of the elements."},
    {"__complex__", array_complex, METH_NOARGS, nullptr},
    {"__format__", array_format, METH_O, nullptr},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"__copy__", copy, METH_NOARGS, nullptr},
    {"__deepcopy__", copy, METH_O, nullptr},
    {"__dlpack__", as_method(export_dlpack), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, nullptr},
};

}  // namespace

PyMethodDef* array_methods() {
  static std::vector<PyMethodDef> table = [] {
    std::vector<PyMethodDef> all(std::begin(own_methods), std::end(own_methods));
    const std::vector<PyMethodDef> delegated = delegated_methods();
    all.insert(all.end(), delegated.begin(), delegated.end());
    all.push_back({nullptr, nullptr, 0, nullptr});
    return all;
  }();
  return table.data();
}

PyGetSetDef* array_properties() {
  static std::vector<PyGetSetDef> table = make_properties();
  return table.data();
}

}  // namespace shardax::objects
