// callables/program_retention.cpp - an attribute of Python functions that owns what was compiled
// from them.
#include "callables/program_retention.h"

#include <algorithm>
#include <vector>

#include "callables/function.h"
#include "callables/python.h"

namespace shardax::callables {
namespace {

constexpr const char* attribute = "__shardax_programs__";

struct RetainedProgram {
  const void* programs;
  std::unique_ptr<Transform> behaviour;
};

struct LeftObject {
  PyObject_HEAD std::vector<RetainedProgram>* left;
  PyObject* fun;  // borrowed: wrappers of it get its attributes too
};

LeftObject* as_left(PyObject* object) { return reinterpret_cast<LeftObject*>(object); }

int left_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  for (const RetainedProgram& left : *as_left(self)->left) {
    if (const int stop = left.behaviour->traverse(visit, arg)) return stop;
  }
  return 0;
}

int left_clear(PyObject* self) {
  const CoreLock lock;
  for (const RetainedProgram& left : *as_left(self)->left) left.behaviour->clear();
  return 0;
}

void left_deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);  // before the lock: pytree/core_lock.h
  const CoreLock lock;
  Py_TRASHCAN_BEGIN(self, left_deallocate);
  delete as_left(self)->left;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
  Py_TRASHCAN_END;
}

// Copies of a function's attributes, in other processes say, have None for it.
PyObject* left_reduce(PyObject*, PyObject*) {
  return Py_BuildValue("O()", reinterpret_cast<PyObject*>(Py_TYPE(Py_None)));
}

PyTypeObject* left_type() {
  static PyMethodDef methods[] = {{"__reduce__", left_reduce, METH_NOARGS, nullptr}, {}};
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(left_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(left_clear)},
      {Py_tp_dealloc, reinterpret_cast<void*>(left_deallocate)},
      {Py_tp_methods, methods},
      {Py_tp_doc, const_cast<char*>("Programs compiled from a function, for its next calls.")},
      {0, nullptr},
  };
  static PyType_Spec spec{
      "shardax.Programs", sizeof(LeftObject), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  static PyTypeObject* type = nullptr;
  return made_once(type, [] { return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)); });
}

// The programs kept in an attribute of `fun`; null: none.
Ref left_with(PyObject* fun) {
  if (!PyFunction_Check(fun)) return {};
  PyObject* attributes = reinterpret_cast<PyFunctionObject*>(fun)->func_dict;
  Ref found = attributes ? pytree::dict_item(attributes, attribute) : Ref();
  if (!found || Py_TYPE(found.get()) != left_type() || as_left(found.get())->fun != fun) return {};
  return found;
}

// A new one, which `fun` owns; null where that fails.
Ref new_left(PyObject* fun) {
  PyTypeObject* type = left_type();
  Ref object = Ref::steal(type ? type->tp_alloc(type, 0) : nullptr);
  if (!object) return {};
  as_left(object.get())->left = new std::vector<RetainedProgram>;
  as_left(object.get())->fun = fun;
  if (PyObject_SetAttrString(fun, attribute, object.get()) < 0) return {};
  return object;
}

}  // namespace

void retain_programs(PyObject* fun, std::unique_ptr<Transform>& behaviour) {
  if (!behaviour || !PyFunction_Check(fun) || Py_REFCNT(fun) < 2) return;
  const void* programs = behaviour->leaves();
  if (!programs) return;
  PyObject *type, *value, *traceback;  // the exception under way while a function goes
  PyErr_Fetch(&type, &value, &traceback);
  Ref object = left_with(fun);
  if (!object) object = new_left(fun);
  if (object) as_left(object.get())->left->push_back({programs, std::move(behaviour)});
  PyErr_Clear();
  PyErr_Restore(type, value, traceback);
}

void reuse_programs(PyObject* fun, const void* programs) {
  const Ref object = left_with(fun);
  if (!object) return;
  auto& all = *as_left(object.get())->left;
  const auto found = std::find_if(all.begin(), all.end(), [&](const RetainedProgram& left) {
    return left.programs == programs;
  });
  if (found == all.end()) return;
  const RetainedProgram gone = std::move(*found);  // dropped last: that may run Python
  all.erase(found);
}

}  // namespace shardax::callables
