// objects/functions/bind.cpp - parameters from Python, and binding by name.
#include "objects/functions/bind.h"

#include <unordered_map>
#include <unordered_set>

#include "base/index.h"
#include "ir/param_name.h"
#include "objects/array/convert.h"
#include "objects/dtypes.h"
#include "objects/functions/shape_args.h"

namespace shardax::objects {
namespace {

bool is_int(PyObject* object) { return PyLong_Check(object) && !PyBool_Check(object); }

bool all_ints(PyObject* sequence) {
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(sequence);
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!PyIndex_Check(PySequence_Fast_GET_ITEM(sequence, i))) return false;
  }
  return true;
}

// Objects found by names that Python has interned. It keeps those alive.
template <class T>
class ByName {
 public:
  template <class Find>
  T of(PyObject* name, const Find& find) {
    const auto known = found_.find(name);
    if (known != found_.end()) return known->second;
    const T value = find(pytree::text_of(name));
    if (PyUnicode_CHECK_INTERNED(name)) found_.emplace(Py_NewRef(name), value);
    return value;
  }

 private:
  std::unordered_map<PyObject*, T> found_;
};

// A sequence of ints; false where it holds anything else.
bool plain_ints(PyObject* sequence, Ints& out) {
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(sequence, i);
    int overflow = 0;
    if (!PyLong_CheckExact(item)) return false;
    out.push_back(PyLong_AsLongLongAndOverflow(item, &overflow));
    if (overflow != 0) return false;
  }
  return true;
}

AxisNames axis_names(PyObject* object) {
  AxisNames out;
  if (!PyTuple_Check(object)) {
    out.names.push_back(to_axis_name(object));
    return out;
  }
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  for (Py_ssize_t i = 0; i < n; ++i) {
    out.names.push_back(to_axis_name(PySequence_Fast_GET_ITEM(object, i)));
  }
  return out;
}

}  // namespace

AxisName to_axis_name(PyObject* object) {
  return intern_axis(PyUnicode_Check(object) ? pytree::text_of(object) : pytree::repr(object));
}

ParamValue to_param(std::string_view name, PyObject* object) {
  if (object == Py_None) return std::monostate{};
  if (PyList_Check(object)) return to_param(name, Ref::checked(PyList_AsTuple(object)).get());
  const bool sequence = PyTuple_Check(object);
  if (name == "axis_name" ||
      (name == "axes" && !is_int(object) && !(sequence && all_ints(object)))) {
    return axis_names(object);
  }
  if (PyBool_Check(object)) return object == Py_True;
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  if (PyUnicode_Check(object)) {
    const bool names_dtype = name.ends_with("dtype");
    if (names_dtype) return to_dtype(object);
    return pytree::text_of(object);
  }
  if (sequence) {
    Ints ints;
    return plain_ints(object, ints) ? ints : parse_ints(object, concat("Parameter ", name));
  }
  if (PyIndex_Check(object) && !is_array_object(object)) {
    return static_cast<std::int64_t>(parse_ints(object, concat("Parameter ", name))[0]);
  }
  if (const std::optional<DType> dtype = find_dtype(object)) return *dtype;
  type_error("parameter ", name, " has the value ", pytree::repr(object), " of type ",
             pytree::repr(reinterpret_cast<PyObject*>(Py_TYPE(object))),
             "; bool, int, float, str, dtype or a tuple of ints was expected.");
}

namespace {

// The rules of an op ask for its params; which op it is, they do not know.
Values bound(const Op& op, const Params& params, const Values& in) {
  try {
    return shardax::bind(op, params, in);
  } catch (const ParamError& e) {
    type_error(op.name, ": ", e.what());
  }
}

ParamName interned_param(PyObject* name) {
  static auto* known = new ByName<ParamName>;
  return known->of(name, ParamName::from_outside);
}

const Op& op_named(PyObject* name) {
  static auto* known = new ByName<const Op*>;
  if (!PyUnicode_Check(name)) type_error("the name of an op is a str, got ", pytree::repr(name));
  return *known->of(name, [&](const std::string& text) {
    const Op* op = find_op(text);
    if (!op) fail(ErrorKind::not_implemented_error, "no op is named ", pytree::repr(name));
    return op;
  });
}

PyObject* bind_by_name(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    if (count != 2) type_error("bind takes the name of an op and its operands, got ", count);
    const Op& op = op_named(args[0]);
    const Ref items = pytree::checked_sequence(args[1], "operands must be a sequence");
    Values in;
    in.reserve(index(PySequence_Fast_GET_SIZE(items.get())));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
      in.push_back(
          to_argument(PySequence_Fast_GET_ITEM(items.get(), i), op.name, static_cast<int>(i)));
    }
    Params params;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i) {
      const ParamName name = interned_param(PyTuple_GET_ITEM(names, i));
      params.set(name, to_param(name, args[count + i]));
    }
    const Values out = bound(op, params, in);
    return out.size() == 1 ? wrap(out[0]) : wrap_tuple(out);
  });
}

PyObject* op_names(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref list = Ref::checked(PyList_New(0));
    for (const Op* op : all_ops()) {
      const Ref name = Ref::checked(
          PyUnicode_FromStringAndSize(op->name.data(), static_cast<Py_ssize_t>(op->name.size())));
      pytree::check(PyList_Append(list.get(), name.get()));
    }
    return list.release();
  });
}

// The fields of a record, for tests and docs.
PyObject* op_record(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    const Op* op = find_op(pytree::text_of(name));
    if (!op) fail(ErrorKind::not_implemented_error, "no op is named ", pytree::repr(name));
    const bool derivative = op->jvp || op->jvp_body || op->linearize;
    return Py_BuildValue(
        "{s:N,s:O,s:O,s:O,s:O,s:O}", "doc",
        PyUnicode_FromStringAndSize(op->doc.data(), static_cast<Py_ssize_t>(op->doc.size())),
        "derivative", derivative ? Py_True : Py_False, "no_gradient",
        op->no_gradient ? Py_True : Py_False, "transpose", op->transpose ? Py_True : Py_False,
        "batch", op->batch ? Py_True : Py_False, "effects",
        op->effect.empty() ? Py_False : Py_True);
  });
}

PyMethodDef bind_functions[] = {
    {"bind", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(bind_by_name)),
     METH_FASTCALL | METH_KEYWORDS,
     "bind(name, operands, **params): the op's outputs (a tuple if several)."},
    {"op_names", op_names, METH_NOARGS, "The names of all ops."},
    {"op_record", op_record, METH_O,
     "What the record of an op says: its doc, and which rules it has."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_bind(PyObject* module) { pytree::check(PyModule_AddFunctions(module, bind_functions)); }

}  // namespace shardax::objects
