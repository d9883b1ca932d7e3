// objects/functions/functions.cpp - the type of elementwise functions: parse, promote, bind.
#include "objects/functions/functions.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>

#include "base/index.h"
#include "objects/array/array_methods.h"
#include "objects/array/buffer.h"
#include "objects/array/convert.h"
#include "objects/array/operators.h"
#include "objects/functions/bind.h"
#include "objects/functions/function_table.h"

namespace shardax::objects {
namespace {

struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  const FunctionRow* row;
  const Op* op;
  const char* module;
  int arity;
  bool strict;
};

FunctionObject* as_function(PyObject* object) { return reinterpret_cast<FunctionObject*>(object); }

// The parameter names of a row, in order.
std::vector<std::string> parameters(const FunctionRow& row) {
  std::vector<std::string> names;
  std::string text = row.parameters;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(", ", at), text.size());
    names.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i) text += i + 1 == names.size() ? " and " : ", ";
    text += "'" + names[i] + "'";
  }
  return text;
}

// Throws, in the words of a Python function, where an argument that is given by name is unknown.
void check_name(const FunctionRow& row, const std::string& name) {
  const std::vector<std::string> own = parameters(row);
  const bool known = std::find(own.begin(), own.end(), name) != own.end();
  if (known && !row.by_name) {
    type_error(row.name, "() got some positional-only arguments passed as keyword arguments: '",
               name, "'");
  }
  if (!known && (!row.option || name != row.option))
    type_error(row.name, "() got an unexpected keyword argument '", name, "'");
}

// The arguments in the order of the parameters, and the one that the row's option names.
struct Given {
  std::vector<PyObject*> args;
  PyObject* option = nullptr;
};

Given given(const FunctionObject& f, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const FunctionRow& row = *f.row;
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i)
    check_name(row, pytree::text_of(PyTuple_GET_ITEM(names, i)));
  if (count > f.arity) {
    type_error(row.name, "() takes ", f.arity, " positional argument", f.arity == 1 ? "" : "s",
               " but ", count, count == 1 ? " was given" : " were given");
  }
  const std::vector<std::string> own = parameters(row);
  Given out{std::vector<PyObject*>(own.size()), nullptr};
  std::copy(args, args + count, out.args.begin());
  for (Py_ssize_t i = 0; i < named; ++i) {
    const std::string name = pytree::text_of(PyTuple_GET_ITEM(names, i));
    const auto at = std::find(own.begin(), own.end(), name) - own.begin();
    PyObject*& place = at < f.arity ? out.args[index(at)] : out.option;
    if (place) type_error(row.name, "() got multiple values for argument '", name, "'");
    place = args[count + i];
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!out.args[i]) missing.push_back(own[i]);
  }
  if (!missing.empty()) {
    type_error(row.name, "() missing ", missing.size(), " required positional argument",
               missing.size() == 1 ? "" : "s", ": ", listed(missing));
  }
  return out;
}

const Op& op_of(FunctionObject& f) {
  if (!f.op) f.op = find_op(f.row->record);
  if (!f.op) {
    fail(ErrorKind::not_implemented_error, f.row->name, ": the op '", f.row->record,
         "' does not exist.");
  }
  return *f.op;
}

Value call_promoting(FunctionObject& f, PyObject* const* args) {
  const FunctionRow& row = *f.row;
  const auto count = index(f.arity);
  std::vector<Operand> operands(count);
  for (std::size_t i = 0; i < count; ++i) {
    operands[i] = parse_operand(args[i]);
    if (operands[i].kind == Operand::Kind::none)
      argument_error(args[i], row.name, static_cast<int>(i));
  }
  if (row.compose == power_marker) return power_of(operands[0], args[1], operands[1]);
  Values in;
  in.reserve(count);
  if (!row.record) {
    for (const Operand& operand : operands) in.push_back(materialise(operand));
    return row.compose(in);
  }
  SmallVector<WeakDType, 6> types;
  for (const Operand& operand : operands) types.push_back(operand.lattice_type());
  const WeakDType type =
      numpy::adjusted(numpy::join_types({types.data(), types.size()}, row.name), row.promote);
  for (const Operand& operand : operands) in.push_back(materialise(operand, type));
  if (row.compose && is_complex(type.dtype)) return row.compose(in);
  const Op& op = op_of(f);
  return bind1(op, {}, count > 1 ? numpy::promote_ranks(in, op.name) : in);
}

Value call_strict(FunctionObject& f, PyObject* const* args) {
  Values in;
  for (int i = 0; i < f.arity; ++i) in.push_back(to_argument(args[i], f.row->name, i));
  if (f.row->compose) return f.row->compose(in);
  return bind1(op_of(f), {}, in);
}

PyObject* compute(FunctionObject& f, PyObject* const* args) {
  Value out = f.strict ? call_strict(f, args) : call_promoting(f, args);
  for (int i = 0; i < f.arity; ++i) {
    if (is_array_object(args[i]) && value_of(args[i]) == out) return wrap(another(out));
  }
  return wrap(std::move(out));
}

// Python checks the option and may change the operands.
PyObject* compute_with_option(FunctionObject& f, const Given& in) {
  const Ref tuple = Ref::checked(PyTuple_New(f.arity));
  for (Py_ssize_t i = 0; i < f.arity; ++i)
    PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(in.args[index(i)]));
  PyObject* args[] = {tuple.get(), in.option};
  const Ref changed =
      Ref::checked(call_package_function("lax._options", f.row->option, args, 2, nullptr));
  return compute(f, &PyTuple_GET_ITEM(changed.get(), 0));
}

PyObject* call(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* names) {
  return guarded([&] {
    FunctionObject& f = *as_function(self);
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (count == f.arity && !names) return compute(f, args);
    const Given in = given(f, args, count, names);
    return in.option ? compute_with_option(f, in) : compute(f, in.args.data());
  });
}

void deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* get_name(PyObject* self, void*) {
  return PyUnicode_FromString(as_function(self)->row->name);
}
PyObject* get_module(PyObject* self, void*) {
  return PyUnicode_FromString(as_function(self)->module);
}
PyObject* get_arity(PyObject* self, void*) { return PyLong_FromLong(as_function(self)->arity); }

std::string_view doc_of(const FunctionObject& f) {
  if (f.row->doc) return f.row->doc;
  const Op* op = f.row->record ? find_op(f.row->record) : nullptr;
  return op ? op->doc : std::string_view();
}

// The record's line, or the text of Python's tables, which has operands, errors and an example.
PyObject* get_doc(PyObject* self, void*) {
  return guarded([&] {
    const FunctionObject& f = *as_function(self);
    const std::string_view text = doc_of(f);
    const auto size = static_cast<Py_ssize_t>(text.size());
    const Ref package = Ref::checked(PyUnicode_FromString(f.strict ? "lax" : "numpy"));
    const Ref name = Ref::checked(PyUnicode_FromString(f.row->name));
    const Ref names = Ref::checked(PyUnicode_FromString(f.row->parameters));
    const Ref line = Ref::checked(PyUnicode_FromStringAndSize(text.data(), size));
    PyObject* args[] = {package.get(), name.get(), names.get(), line.get()};
    return call_package_function("_base.function_docs", "doc_of", args, 4, nullptr);
  });
}

PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("<function %s>", as_function(self)->row->name);
}

// Bound to a class, it behaves as a function: instances pass themselves first.
PyObject* describe(PyObject* self, PyObject* instance, PyObject*) {
  return instance && instance != Py_None ? PyMethod_New(self, instance) : Py_NewRef(self);
}

// A pickle refers to it by its module and name.
PyObject* reduce(PyObject* self, PyObject*) { return get_name(self, nullptr); }

PyObject* get_signature(PyObject* self, void*) {
  return guarded([&] {
    const FunctionRow& row = *as_function(self)->row;
    const Ref text = Ref::checked(PyUnicode_FromString(row.parameters));
    const Ref option = Ref::checked(PyUnicode_FromString(row.option ? row.option : ""));
    PyObject* args[] = {text.get(), row.by_name ? Py_True : Py_False, option.get()};
    return call_package_function("_base.printing", "signature", args, 3, nullptr);
  });
}

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef properties[] = {
    {"__name__", get_name, nullptr, nullptr, nullptr},
    {"__qualname__", get_name, nullptr, nullptr, nullptr},
    {"__module__", get_module, nullptr, nullptr, nullptr},
    {"__doc__", get_doc, nullptr, nullptr, nullptr},
    {"__signature__", get_signature, nullptr, nullptr, nullptr},
    {"nin", get_arity, nullptr, "The number of operands.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyTypeObject* function_type() {
  static PyTypeObject* type = nullptr;
  made_once(type, [] {
    PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                           {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                           {Py_tp_repr, reinterpret_cast<void*>(repr)},
                           {Py_tp_descr_get, reinterpret_cast<void*>(describe)},
                           {Py_tp_methods, methods},
                           {Py_tp_getset, properties},
                           {Py_tp_members, members},
                           {0, nullptr}};
    PyType_Spec spec{"shardax.Function", sizeof(FunctionObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                         Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
                     slots};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  });
  if (!type) throw PythonError();
  return type;
}

}  // namespace

PyObject* make_function(const FunctionRow& row, const char* module, bool strict) {
  PyTypeObject* type = function_type();
  auto* memory = static_cast<PyObject*>(PyObject_Malloc(sizeof(FunctionObject)));
  if (!memory) throw std::bad_alloc();
  PyObject* object = PyObject_Init(memory, type);
  FunctionObject& f = *as_function(object);
  f.vectorcall = call;
  f.row = &row;
  f.op = nullptr;
  f.module = module;
  f.arity = 1 + static_cast<int>(
                    std::count(row.parameters, row.parameters + std::strlen(row.parameters), ','));
  f.strict = strict;
  return object;
}

namespace {

void add_submodule(PyObject* module, const char* name, const char* full_name,
                   std::span<const FunctionRow> rows, bool strict) {
  const Ref submodule = Ref::checked(PyModule_New(full_name));
  for (const FunctionRow& row : rows) {
    const Ref function = Ref::steal(make_function(row, full_name, strict));
    pytree::check(PyModule_AddObjectRef(submodule.get(), row.name, function.get()));
  }
  pytree::check(PyModule_AddObjectRef(module, name, submodule.get()));
}

}  // namespace

void init_functions(PyObject* module) {
  add_submodule(module, "functions", "shardax.numpy", numpy_rows(), false);
  add_submodule(module, "lax", "shardax.lax", lax_rows(), true);
  init_bind(module);
}

}  // namespace shardax::objects
