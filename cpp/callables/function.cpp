// callables/function.cpp - the slots of transformed functions.
#include "callables/function.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>

#include "base/stack.h"
#include "callables/program_retention.h"
#include "callables/staging/locate.h"
#include "objects/config.h"

namespace shardax::callables {
namespace {

struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* dict;
  PyObject* weak_references;
  PyObject* wrapped;
  Transform* behaviour;
};

FunctionObject* as_function(PyObject* object) { return reinterpret_cast<FunctionObject*>(object); }

// Shortens the traceback of the current exception as jax_traceback_filtering asks.
void shorten_traceback() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  guarded([&] { return call_python("_base.tracebacks", "leave", value).release(); });
  PyErr_Clear();
  Py_XDECREF(traceback);
  PyErr_Restore(type, value, PyException_GetTraceback(value));
}

PyObject* call(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* names) {
  const CoreLock lock;
  PyObject* result = guarded([&] {
    check_stack("functions within functions");
    if (!as_function(self)->wrapped) type_error("a function that is being destroyed was called");
    return as_function(self)->behaviour->call(self, {args, PyVectorcall_NARGS(flags), names});
  });
  if (!result && objects::call_flags.shorten_tracebacks) shorten_traceback();
  return result;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  FunctionObject* function = as_function(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(function->dict);
  Py_VISIT(function->wrapped);
  return function->behaviour ? function->behaviour->traverse(visit, arg) : 0;
}

void drop_attributes(FunctionObject* function) {
  Py_CLEAR(function->dict);
  Py_CLEAR(function->wrapped);
}

// Called for objects that nothing but each other refers to.
int clear(PyObject* self) {
  const CoreLock lock;
  FunctionObject* function = as_function(self);
  drop_attributes(function);
  if (function->behaviour) function->behaviour->clear();
  return 0;
}

// The functions within may be a chain of any length, which Python's trashcan takes apart.
void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);  // before the lock: pytree/core_lock.h
  const CoreLock lock;
  Py_TRASHCAN_BEGIN(self, deallocate);
  FunctionObject* function = as_function(self);
  if (function->weak_references) PyObject_ClearWeakRefs(self);
  std::unique_ptr<Transform> behaviour(function->behaviour);
  function->behaviour = nullptr;
  if (function->wrapped) retain_programs(function->wrapped, behaviour);
  drop_attributes(function);
  behaviour.reset();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
  Py_TRASHCAN_END;
}

PyObject* represent(PyObject* self) {
  const CoreLock lock;
  if (stack_is_low()) {
    PyErr_Format(PyExc_RecursionError, "repr of functions within functions: %s.", stack_advice());
    return nullptr;
  }
  const char* name = Py_TYPE(self)->tp_name;
  if (const char* dot = std::strrchr(name, '.')) name = dot + 1;
  // To its users, a function compiled only for speed is the function itself.
  PyObject* text = std::strcmp(name, "CompositionFunction") == 0
                       ? PyObject_Repr(as_function(self)->wrapped)
                       : PyUnicode_FromFormat("<%s of %R>", name, as_function(self)->wrapped);
  if (text || !PyErr_ExceptionMatches(PyExc_Exception)) return text;
  PyErr_Clear();  // the function has no text
  return PyUnicode_FromFormat("<%s>", name);
}

PyObject* bind_method(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || instance == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

// The signature of the user's function, as inspect finds it. AttributeError where there is none.
// For functions of functions it is the innermost one's: inspect asks each of them for its own, and
// more than once.
PyObject* get_signature(PyObject* self, void*) {
  return guarded([&] {
    PyObject* function = as_function(self)->wrapped;
    while (Py_TYPE(function)->tp_descr_get == bind_method)
      function = as_function(function)->wrapped;
    const Ref inspect = checked(PyImport_ImportModule("inspect"));
    const Ref signature =
        Ref::steal(PyObject_CallMethod(inspect.get(), "signature", "O", function));
    if (!signature) {
      PyErr_Clear();
      fail(ErrorKind::attribute_error, "'", Py_TYPE(self)->tp_name,
           "' object has no attribute '__signature__'");
    }
    return Py_NewRef(signature.get());
  });
}

PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"__signature__", get_signature, nullptr, "The user's function's.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

// A method `name` that calls shardax._transform.stages.<name>(self, args, kwargs). Rare operations
// (lowering, inspection) are written in Python and imported when first used.
template <std::size_t n>
struct MethodName {
  constexpr MethodName(const char (&name)[n]) { std::copy_n(name, n, text); }  // NOLINT: implicit
  char text[n];
};
template <MethodName name>
PyCFunction stage_method() {
  const PyCFunctionWithKeywords call = [](PyObject* self, PyObject* args, PyObject* kwargs) {
    return guarded([&] {
      return call_python("_transform.stages", name.text, self, args, kwargs ? kwargs : Py_None)
          .release();
    });
  };
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call));
}

PyMethodDef no_methods[] = {{nullptr, nullptr, 0, nullptr}};

// Functions do not change, so that a copy is the function itself.
PyObject* itself(PyObject* self, PyObject*) { return Py_NewRef(self); }

// A pickle has its module and name, or the function in it and the recipe of the transformation.
PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const Ref recipe = behaviour_of(self).recipe(self);
    return call_python("_base.pickles", "reduced", self, recipe ? recipe.get() : Py_None).release();
  });
}

PyMethodDef common_methods[] = {
    {"__copy__", itself, METH_NOARGS, nullptr},
    {"__deepcopy__", itself, METH_O, nullptr},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
};

void add_common_methods(PyTypeObject* type) {
  for (PyMethodDef& method : common_methods) {
    if (PyDict_GetItemString(type->tp_dict, method.ml_name)) continue;
    const Ref descriptor = checked(PyDescr_NewMethod(type, &method));
    check(PyObject_SetAttrString(reinterpret_cast<PyObject*>(type), method.ml_name,
                                 descriptor.get()));
  }
}

void set_item(PyObject* dict, const char* key, PyObject* value) {
  if (PyDict_SetItemString(dict, key, value) < 0) throw PythonError();
}

// Copies attribute `name` where `fun` has it; other objects (partials) lack some.
void copy_attribute(PyObject* dict, PyObject* fun, const char* name) {
  const Ref value = Ref::steal(PyObject_GetAttrString(fun, name));
  if (value) {
    set_item(dict, name, value.get());
  } else {
    PyErr_Clear();
  }
}

}  // namespace

int Transform::traverse(visitproc, void*) { return 0; }

const StaticSpec& Transform::statics() const {
  static const StaticSpec none;
  return none;
}

PyMethodDef* staging_methods(std::vector<PyMethodDef> more) {
  static std::deque<std::vector<PyMethodDef>> tables;  // Python keeps the pointers
  std::vector<PyMethodDef>& table = tables.emplace_back(std::move(more));
  table.push_back({"lower", stage_method<"lower">(), METH_VARARGS | METH_KEYWORDS,
                   "Stages the function; .compile() makes it callable."});
  table.push_back({"trace", stage_method<"trace">(), METH_VARARGS | METH_KEYWORDS,
                   "Stages the function and shows its program."});
  table.push_back({"eval_shape", stage_method<"eval_shape">(), METH_VARARGS | METH_KEYWORDS,
                   "The result's shapes and dtypes."});
  table.push_back({nullptr, nullptr, 0, nullptr});
  return table.data();
}

PyTypeObject* make_function_type(const char* name, const char* doc, PyMethodDef* methods) {
  PyType_Slot slots[] = {
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_repr, reinterpret_cast<void*>(represent)},
      {Py_tp_descr_get, reinterpret_cast<void*>(bind_method)},
      {Py_tp_members, members},
      {Py_tp_getset, attributes},
      {Py_tp_methods, methods ? methods : no_methods},
      {Py_tp_doc, const_cast<char*>(doc)},
      {0, nullptr},
  };
  PyType_Spec spec{name, sizeof(FunctionObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                       Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw PythonError();
  add_common_methods(reinterpret_cast<PyTypeObject*>(type));
  return reinterpret_cast<PyTypeObject*>(type);
}

Ref make_function(PyTypeObject* type, PyObject* fun, std::unique_ptr<Transform> behaviour,
                  PyObject* doc) {
  PyObject* self = type->tp_alloc(type, 0);
  if (!self) throw PythonError();
  Ref result = Ref::steal(self);
  FunctionObject* function = as_function(self);
  function->vectorcall = call;
  function->behaviour = behaviour.release();
  function->wrapped = Py_NewRef(fun);
  function->dict = PyDict_New();
  if (!function->dict) throw PythonError();
  const Ref inner = Ref::steal(PyObject_GetAttrString(fun, "__dict__"));
  if (!inner) {
    PyErr_Clear();
  } else if (PyDict_Check(inner.get())) {
    if (PyDict_Update(function->dict, inner.get()) < 0) throw PythonError();
  }
  for (const char* name :
       {"__module__", "__name__", "__qualname__", "__doc__", "__annotations__"}) {
    copy_attribute(function->dict, fun, name);
  }
  for (const char* attribute : {"__name__", "__qualname__"}) {
    if (pytree::dict_item(function->dict, attribute)) continue;
    const std::string name = given_name(fun, attribute);
    const Ref text = Ref::checked(
        PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
    set_item(function->dict, attribute, text.get());
  }
  if (doc) set_item(function->dict, "__doc__", doc);
  set_item(function->dict, "__wrapped__", fun);
  return result;
}

Transform& behaviour_of(PyObject* function) { return *as_function(function)->behaviour; }

PyObject* wrapped_function(PyObject* function) { return as_function(function)->wrapped; }

void check_callable(PyObject* fun) {
  if (!PyCallable_Check(fun)) type_error("Expected a callable value, got ", repr(fun));
}

}  // namespace shardax::callables
