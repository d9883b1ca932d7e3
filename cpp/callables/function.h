// callables/function.h - the Python type of transformed functions: jit, pmap, vmap, grad.
//
// A transformed function is a callable heap object: vectorcall reaches it without a Python frame,
// and it binds as a method. It has a `__dict__` (with `__wrapped__`, `__name__`, `__doc__`), can be
// weakly referenced and takes part in garbage collection. Its Transform defines the effect of a
// call.
#pragma once

#include <Python.h>

#include <memory>
#include <vector>

#include "callables/python.h"

namespace shardax::callables {

// The arguments of a vectorcall: `count` positional ones, then a value per name in `names`.
struct CallArguments {
  PyObject* const* values;
  Py_ssize_t count;
  PyObject* names;  // a tuple, or null

  Py_ssize_t keyword_count() const { return names ? PyTuple_GET_SIZE(names) : 0; }
};

// The static arguments: positions (negative ones count from the end) and keyword names.
struct StaticSpec {
  std::vector<int> positions;
  std::vector<Ref> names;
  bool positional_only = false;  // pmap: a static position must be passed positionally

  bool empty() const { return positions.empty() && names.empty(); }
};

// The behaviour of a transformed function. Called with the interpreter's lock held.
class Transform {
 public:
  virtual ~Transform() = default;
  // A new reference; throws for errors.
  virtual PyObject* call(PyObject* function, const CallArguments& arguments) = 0;
  // Visits the Python objects that it owns, as tp_traverse does, and drops them.
  virtual int traverse(visitproc visit, void* arg);
  virtual void clear() {}
  // The function that a call of the user's function stages; null: the transformed function itself.
  virtual Ref staged(PyObject* fun) const { return Ref::borrow(fun); }
  // Its static arguments.
  virtual const StaticSpec& statics() const;
  // The arguments that a call donates.
  virtual StaticSpec donated() const { return {}; }
  // Its pickled form: the name of the function of shardax._core.api that makes it of the user's,
  // and the other arguments of that. Null: it is pickled by its name alone.
  virtual Ref recipe(PyObject*) const { return {}; }
  // The programs that later functions made from the same one can reuse
  // (callables/program_retention.h); null: none.
  virtual const void* leaves() const { return nullptr; }
};

// One Python type per kind of transformed function. `name` is dotted; `methods` may be null.
// Both must outlive the interpreter.
PyTypeObject* make_function_type(const char* name, const char* doc, PyMethodDef* methods);

// A new object of such a type around `fun`, with the attributes that functools.wraps copies.
// `doc`, where given, replaces the docstring.
Ref make_function(PyTypeObject* type, PyObject* fun, std::unique_ptr<Transform> behaviour,
                  PyObject* doc = nullptr);

// The behaviour of an object of such a type.
Transform& behaviour_of(PyObject* function);
// The user's function inside it, borrowed.
PyObject* wrapped_function(PyObject* function);

// A table for make_function_type: lower, trace and eval_shape, and `more`.
PyMethodDef* staging_methods(std::vector<PyMethodDef> more = {});

// Throws TypeError unless `fun` is callable.
void check_callable(PyObject* fun);

}  // namespace shardax::callables
