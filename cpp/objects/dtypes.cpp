// objects/dtypes.cpp - NumPy dtypes of the element types, and the reverse look-up.
#include "objects/dtypes.h"

#include <array>
#include <cstring>
#include <string>
#include <unordered_map>

#include "base/index.h"
#include "numpy/promote.h"
#include "objects/array/convert.h"

namespace shardax::objects {
namespace {

std::array<PyObject*, dtype_count> known_dtypes{};

// An attribute of the package's module for dtypes, borrowed; it lives as long as the process.
PyObject* package_dtype(const char* name) {
  const Ref module = Ref::checked(PyImport_ImportModule("shardax._base.dtypes"));
  return Ref::checked(PyObject_GetAttrString(module.get(), name)).release();
}

PyObject* make_dtype_object(DType dtype) {
  if (is_key(dtype) || is_narrow(dtype) || dtype == DType::float0 || dtype == DType::bfloat16)
    return package_dtype(std::string(name(dtype)).c_str());
  const Ref made =
      Ref::checked(PyObject_CallMethod(numpy(), "dtype", "s", std::string(name(dtype)).c_str()));
  return Py_NewRef(made.get());
}

// Types and dtype objects seen before. They are kept alive, so that an address means one object.
std::unordered_map<PyObject*, DType>& seen() {
  static std::unordered_map<PyObject*, DType> table;
  return table;
}

std::optional<DType> dtype_of_builtin(PyObject* type) {
  if (type == reinterpret_cast<PyObject*>(&PyFloat_Type)) return numpy::default_float();
  if (type == reinterpret_cast<PyObject*>(&PyLong_Type)) return numpy::default_int();
  if (type == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::boolean;
  if (type == reinterpret_cast<PyObject*>(&PyComplex_Type)) return numpy::default_complex();
  return std::nullopt;
}

std::optional<DType> dtype_of_name_attribute(PyObject* object, const char* attribute) {
  const Ref text = Ref::steal(PyObject_GetAttrString(object, attribute));
  if (!text || !PyUnicode_Check(text.get())) {
    PyErr_Clear();
    return std::nullopt;
  }
  return dtype_named(pytree::text_of(text.get()));
}

// The dtype numpy.dtype(object).
std::optional<DType> dtype_by_numpy(PyObject* object) {
  const Ref made = Ref::steal(PyObject_CallMethod(numpy(), "dtype", "O", object));
  if (!made) {
    PyErr_Clear();
    return std::nullopt;
  }
  return dtype_of_name_attribute(made.get(), "name");
}

}  // namespace

PyObject* dtype_object(DType dtype) {
  PyObject*& object = known_dtypes[index(dtype)];
  if (!object) {
    object = make_dtype_object(dtype);
    seen().emplace(object, dtype);
  }
  return object;
}

std::optional<DType> dtype_named(std::string_view text) {
  for (int d = 0; d < dtype_count; ++d) {
    const auto dtype = static_cast<DType>(d);
    if (!is_defined_key(dtype) && name(dtype) == text) return dtype;
  }
  return std::nullopt;
}

namespace {

// With `attribute`, an object may have its dtype in an attribute of that name, as arrays do.
std::optional<DType> find_named(PyObject* object, bool attribute) {
  if (object == Py_None) return std::nullopt;
  if (const auto builtin = dtype_of_builtin(object)) return builtin;
  if (const auto it = seen().find(object); it != seen().end()) return it->second;
  if (PyUnicode_Check(object)) {
    const std::string text = pytree::text_of(object);
    if (text == "float") return numpy::default_float();
    if (text == "int") return numpy::default_int();
    if (text == "complex") return numpy::default_complex();
    const auto named = dtype_named(text);
    return named ? named : dtype_by_numpy(object);
  }
  std::optional<DType> found;
  if (PyType_Check(object)) {
    // A scalar type: jnp.float32 has `dtype`, np.float32 its name.
    found = dtype_of_name_attribute(object, "__name__");
    if (!found) found = dtype_by_numpy(object);
  } else if (const Ref dtype =
                 Ref::steal(attribute ? PyObject_GetAttrString(object, "dtype") : nullptr)) {
    return find_named(dtype.get(), false);
  } else {
    PyErr_Clear();
    found = dtype_of_name_attribute(object, "name");
  }
  if (found && (PyType_Check(object) || dtype_object(*found) == object)) {
    seen().emplace(Py_NewRef(object), *found);
  }
  return found;
}

}  // namespace

std::optional<DType> find_dtype(PyObject* object) { return find_named(object, true); }

DType to_dtype(PyObject* object) {
  const std::optional<DType> found = find_dtype(object);
  if (!found && PyUnicode_Check(object)) {
    type_error("data type ", pytree::repr(object),
               " not understood; expected the name of a bool, integer, floating or complex type.");
  }
  if (!found) {
    type_error("JAX only supports number, bool, and string dtypes, got dtype ",
               pytree::repr(object), "; expected a bool, integer, floating or complex type.");
  }
  return *found;
}

DType requested_dtype(PyObject* object, std::string_view function) {
  if (is_array_object(object)) {
    value_error(
        "Passing an array as a dtype argument is no longer supported; instead of dtype=arr use "
        "dtype=arr.dtype.");
  }
  const DType wanted = to_dtype(object);
  const DType available = numpy::canonical_dtype(wanted);
  if (wanted == available || dtype_of_builtin(object)) return available;
  const numpy::ExplicitX64 rule = numpy::explicit_x64();
  if (rule == numpy::ExplicitX64::allow) return wanted;
  const std::string asked =
      concat("Explicitly requested dtype ", name(wanted), " ",
             function.empty() ? std::string() : concat("requested in ", function, " "));
  if (rule == numpy::ExplicitX64::error) {
    value_error(asked,
                "is not available. To enable more dtypes, set the jax_enable_x64 or "
                "jax_explicit_x64_dtypes configuration options.");
  }
  const std::string text = concat(
      asked, "is not available, and will be truncated to dtype ", name(available),
      ". To enable more dtypes, set the jax_enable_x64 configuration option or the JAX_ENABLE_X64 "
      "shell environment variable. See https://github.com/jax-ml/jax#current-gotchas for more.");
  pytree::check(PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1));
  return available;
}

const char* buffer_format(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "?";
    case DType::int8: return "b";
    case DType::int16: return "h";
    case DType::int32: return "i";
    case DType::int64: return "q";
    case DType::uint8: return "B";
    case DType::uint16: return "H";
    case DType::uint32: return "I";
    case DType::uint64: return "Q";
    case DType::float16: return "e";
    case DType::float32: return "f";
    case DType::float64: return "d";
    case DType::complex64: return "Zf";
    case DType::complex128: return "Zd";
    default: return nullptr;
  }
}

std::optional<DType> dtype_of_format(const char* format, Py_ssize_t itemsize) {
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (std::strcmp(format, "Zf") == 0) return DType::complex64;
  if (std::strcmp(format, "Zd") == 0) return DType::complex128;
  if (std::strlen(format) != 1) return std::nullopt;
  const auto sized = [&](DType one, DType two, DType four, DType eight) -> std::optional<DType> {
    switch (itemsize) {
      case 1: return one;
      case 2: return two;
      case 4: return four;
      case 8: return eight;
      default: return std::nullopt;
    }
  };
  switch (*format) {
    case '?': return DType::boolean;
    case 'e': return DType::float16;
    case 'f': return DType::float32;
    case 'd': return DType::float64;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n': return sized(DType::int8, DType::int16, DType::int32, DType::int64);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N': return sized(DType::uint8, DType::uint16, DType::uint32, DType::uint64);
    default: return std::nullopt;
  }
}

namespace {

PyObject* canonical_dtype_of(PyObject*, PyObject* object) {
  return guarded([&] { return Py_NewRef(dtype_object(numpy::canonical_dtype(to_dtype(object)))); });
}

PyObject* dtype_of(PyObject*, PyObject* object) {
  return guarded([&] { return Py_NewRef(dtype_object(to_dtype(object))); });
}

PyObject* requested(PyObject*, PyObject* args) {
  PyObject* object;
  const char* function;
  if (!PyArg_ParseTuple(args, "Os", &object, &function)) return nullptr;
  return guarded([&] { return Py_NewRef(dtype_object(requested_dtype(object, function))); });
}

// result_type(*args): (dtype, weak), canonical but for arrays of one dtype. Arguments are arrays,
// scalars or dtypes.
PyObject* result_type(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    const numpy::UserOperands operands;
    SmallVector<WeakDType, 6> types;
    for (Py_ssize_t i = 0; i < count; ++i) {
      const bool is_type = PyType_Check(args[i]) || PyUnicode_Check(args[i]);
      const Operand operand = is_type ? Operand{} : parse_operand(args[i]);
      if (operand.kind != Operand::Kind::none) {
        types.push_back(operand.lattice_type());
      } else {
        const auto builtin = dtype_of_builtin(args[i]);
        const bool weak = builtin && *builtin != DType::boolean;
        const DType dtype = to_dtype(args[i]);
        const bool kept = weak || numpy::explicit_x64() == numpy::ExplicitX64::allow;
        types.push_back({kept ? dtype : numpy::canonical_dtype(dtype), weak});
      }
    }
    if (types.empty()) value_error("at least one array or dtype is required");
    const WeakDType type = numpy::join_types({types.data(), types.size()});
    return Py_BuildValue("(OO)", dtype_object(type.dtype), type.weak ? Py_True : Py_False);
  });
}

// promote_types(a, b): the join of two dtypes, as if x64 were on.
PyObject* promote_types(PyObject*, PyObject* args) {
  PyObject *a, *b;
  if (!PyArg_ParseTuple(args, "OO", &a, &b)) return nullptr;
  return guarded([&] {
    const auto type = [](PyObject* object) -> WeakDType {
      const auto builtin = dtype_of_builtin(object);
      return {to_dtype(object), builtin && *builtin != DType::boolean};
    };
    WeakDType joined = promote(type(a), type(b));
    if (joined.weak) joined.dtype = numpy::canonical_dtype(joined.dtype);
    return Py_NewRef(dtype_object(joined.dtype));
  });
}

// define_key(tag, object): `object` is the dtype of keys of a new generator.
PyObject* define_key_dtype(PyObject*, PyObject* args) {
  const char* tag;
  PyObject* object;
  if (!PyArg_ParseTuple(args, "sO", &tag, &object)) return nullptr;
  return guarded([&] {
    const DType dtype = define_key(tag);
    known_dtypes[index(dtype)] = Py_NewRef(object);
    seen().emplace(object, dtype);
    return Py_NewRef(Py_None);
  });
}

PyMethodDef dtypes_functions[] = {
    {"define_key", define_key_dtype, METH_VARARGS,
     "Makes an object the dtype of keys of a generator that a user defines, of four words."},
    {"promote_types", promote_types, METH_VARARGS, "The join of two dtypes in the lattice."},
    {"dtype_of", dtype_of, METH_O, "The numpy.dtype that an object stands for."},
    {"canonical_dtype", canonical_dtype_of, METH_O, "The same, as it is while x64 is on or off."},
    {"requested_dtype", requested, METH_VARARGS,
     "The canonical dtype of an explicit request; warns when that is a narrower one."},
    {"result_type", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(result_type)),
     METH_FASTCALL, "(dtype, weak_type) to which arguments are promoted together."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_dtypes(PyObject* module) {
  pytree::check(PyModule_AddFunctions(module, dtypes_functions));
}

}  // namespace shardax::objects
