// objects/array/array_type.cpp - the heap types Array, ArrayImpl and Tracer, and their allocation.
#include "objects/array/array_type.h"

#include <structmember.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <string_view>
#include <vector>

#include "base/index.h"
#include "objects/array/array_methods.h"
#include "objects/array/buffer.h"
#include "objects/array/operators.h"
#include "objects/array/scalars.h"
#include "objects/indexing/index.h"
#include "objects/python_tracer.h"

namespace shardax::objects {

PyTypeObject* array_type = nullptr;
PyTypeObject* array_impl_type = nullptr;
PyTypeObject* tracer_type = nullptr;

namespace {

ArrayObject* as_object(PyObject* object) { return reinterpret_cast<ArrayObject*>(object); }

// Released ArrayImpl objects, kept for reuse. Guarded by the GIL.
struct FreeList {
  std::array<PyObject*, 256> objects;
  std::size_t count = 0;
};
FreeList free_list;

// The newest array that exists; older ones hang on it. Guarded by the GIL.
ArrayObject* newest = nullptr;

void link(ArrayObject* object) {
  object->older = newest;
  object->newer = nullptr;
  if (newest) newest->newer = object;
  newest = object;
}

void unlink(ArrayObject* object) {
  (object->newer ? object->newer->older : newest) = object->older;
  if (object->older) object->older->newer = object->newer;
}

// Free threads: another one may have dropped the last reference to an object in the list, and wait
// for the lock to take it out.
#if !defined(Py_GIL_DISABLED)
void enable_if_alive(PyObject*) {}
Ref if_alive(PyObject* object) { return Ref::borrow(object); }
#elif PY_VERSION_HEX >= 0x030E0000
void enable_if_alive(PyObject* object) { PyUnstable_EnableTryIncRef(object); }
Ref if_alive(PyObject* object) { return PyUnstable_TryIncRef(object) ? Ref::steal(object) : Ref(); }
#else  // as CPython 3.14 has it
void enable_if_alive(PyObject* object) {
  _Py_atomic_store_ssize_relaxed(&object->ob_ref_shared, _Py_REF_MAYBE_WEAKREF);
}
Ref if_alive(PyObject* object) {
  if (_Py_IsOwnedByCurrentThread(object)) return Ref::borrow(object);
  Py_ssize_t shared = _Py_atomic_load_ssize_relaxed(&object->ob_ref_shared);
  do {
    if (shared == 0 || shared == _Py_REF_MERGED) return {};
  } while (!_Py_atomic_compare_exchange_ssize(&object->ob_ref_shared, &shared,
                                              shared + (Py_ssize_t{1} << _Py_REF_SHARED_SHIFT)));
  return Ref::steal(object);
}
#endif

PyObject* allocate(PyTypeObject* type) {
  if (type == array_impl_type && free_list.count > 0) {
    PyObject* object = free_list.objects[--free_list.count];
    return PyObject_Init(object, type);
  }
  auto* memory = static_cast<PyObject*>(PyObject_Malloc(index(type->tp_basicsize)));
  if (!memory) throw std::bad_alloc();
  return PyObject_Init(memory, type);
}

void deallocate(PyObject* self) {
  const CoreLock lock;
  ArrayObject* object = as_object(self);
  PyTypeObject* type = Py_TYPE(self);
  if (type == array_impl_type) unlink(object);  // first: the rest may run Python
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  object->value.~Value();
  if (type == array_impl_type && free_list.count < free_list.objects.size()) {
    free_list.objects[free_list.count++] = self;
  } else if (PyType_IS_GC(type)) {  // a tracer whose class is written in Python
    Py_XDECREF(reinterpret_cast<TracerObject*>(self)->trace);
    Py_XDECREF(reinterpret_cast<TracerObject*>(self)->aval);
    PyObject_GC_Del(self);
  } else {
    PyObject_Free(self);
  }
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

constexpr const char* class_doc =
    R"(An immutable array, or a tracer that stands for one while a function is transformed.

Arrays come from `jnp.array` and every other function that returns one. Operators and methods are
those of NumPy's arrays; `x.at[i].set(y)` stands for `x[i] = y`, and returns a new array.

Example:
  >>> x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
  >>> x.shape, x.dtype, x.sum(axis=0)
  ((2, 2), dtype('float32'), Array([4., 6.], dtype=float32))
  >>> x.at[0, 1].set(9.0)
  Array([[1., 9.],
         [3., 4.]], dtype=float32))";

constexpr const char* tracer_name = "shardax.Tracer";

template <class F>
PyType_Slot slot(int id, F* function) {
  return {id, reinterpret_cast<void*>(function)};
}

PyTypeObject* make_type(const char* name, std::vector<PyType_Slot> slots, PyTypeObject* base,
                        unsigned long flags) {
  slots.push_back({0, nullptr});
  const bool traced = base == tracer_type && tracer_type;
  const std::size_t size =
      traced || name == tracer_name ? sizeof(TracerObject) : sizeof(ArrayObject);
  PyType_Spec spec{name, static_cast<int>(size), 0,
                   static_cast<unsigned int>(Py_TPFLAGS_DEFAULT | flags), slots.data()};
  PyObject* type = PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(base));
  if (!type) throw PythonError();
  return reinterpret_cast<PyTypeObject*>(type);
}

PyTypeObject* make_array_type() {
  std::vector<PyType_Slot> slots = number_slots();
  const std::vector<PyType_Slot> own{
      {Py_tp_doc, const_cast<char*>(class_doc)},
      {Py_tp_members, members},
      {Py_tp_methods, array_methods()},
      {Py_tp_getset, array_properties()},
      slot(Py_tp_dealloc, deallocate),
      slot(Py_tp_repr, array_repr),
      slot(Py_tp_str, array_str),
      slot(Py_tp_hash, PyObject_HashNotImplemented),
      slot(Py_tp_iter, array_iter),
      slot(Py_tp_richcompare, array_compare),
      slot(Py_nb_bool, array_bool),
      slot(Py_nb_int, array_int),
      slot(Py_nb_float, array_float),
      slot(Py_nb_index, array_index),
      slot(Py_mp_length, array_length),
      slot(Py_mp_subscript, array_getitem),
      slot(Py_mp_ass_subscript, array_setitem),
      slot(Py_sq_item, array_sequence_item),
      slot(Py_sq_length, array_length),
      slot(Py_sq_contains, array_contains),
  };
  slots.insert(slots.end(), own.begin(), own.end());
  return make_type("shardax.Array", slots, &PyBaseObject_Type,
                   Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);
}

// The types of tracers, by `Tracer::class_name`, and the modules that show them.
struct TracerClass {
  const char* name;
  const char* full;
  PyGetSetDef* properties = nullptr;
  PyTypeObject* type = nullptr;
};

template <Tracer::Part part>
PyObject* get_part(PyObject* self, void*) {
  return guarded([&] {
    Value value = static_cast<const Tracer&>(*value_of(self)).part(part);
    return value ? wrap(std::move(value)) : Py_NewRef(Py_None);
  });
}
PyObject* get_batch_dim(PyObject*, void*) { return PyLong_FromLong(0); }

PyGetSetDef differentiated_parts[] = {
    {"primal", get_part<Tracer::Part::primal>, nullptr, "The value.", nullptr},
    {"tangent", get_part<Tracer::Part::tangent>, nullptr, "Its tangent.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyGetSetDef batched_parts[] = {
    {"val", get_part<Tracer::Part::batch>, nullptr, "The batch of values.", nullptr},
    {"batch_dim", get_batch_dim, nullptr, "The dimension of `val` that lists them.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

TracerClass tracer_classes[] = {
    {"DynamicJaxprTracer", "shardax.interpreters.partial_eval.DynamicJaxprTracer"},
    {"JaxprTracer", "shardax.interpreters.partial_eval.JaxprTracer"},
    {"LinearizeTracer", "shardax.interpreters.ad.LinearizeTracer", differentiated_parts},
    {"JVPTracer", "shardax.interpreters.ad.JVPTracer", differentiated_parts},
    {"BatchTracer", "shardax.interpreters.batching.BatchTracer", batched_parts},
    {"DeviceTracer", "shardax.DeviceTracer"},
};

PyTypeObject* tracer_class(std::string_view name) {
  for (const TracerClass& known : tracer_classes) {
    if (name == known.name) return known.type;
  }
  return tracer_type;
}

}  // namespace

PyObject* wrap(Value value) {
  PyTypeObject* type = array_impl_type;
  if (const PythonTracer* tracer = python_tracer(value)) return Py_NewRef(tracer->object());
  if (value->is_tracer()) type = tracer_class(static_cast<const Tracer&>(*value).class_name());
  PyObject* object = allocate(type);
  new (&as_object(object)->value) Value(std::move(value));
  as_object(object)->weak_references = nullptr;
  if (type == array_impl_type) {
    enable_if_alive(object);
    link(as_object(object));
  } else {
    auto* tracer = reinterpret_cast<TracerObject*>(object);
    tracer->trace = tracer->aval = nullptr;
  }
  return object;
}

PyObject* live_arrays() {
  std::vector<Ref> alive;  // first: a longer list may let other threads make and drop arrays
  for (ArrayObject* object = newest; object; object = object->older) {
    if (as_array(object->value).deleted()) continue;
    Ref array = if_alive(reinterpret_cast<PyObject*>(object));
    if (array) alive.push_back(std::move(array));
  }
  std::reverse(alive.begin(), alive.end());
  Ref list = Ref::checked(PyList_New(0));
  for (const Ref& array : alive) pytree::check(PyList_Append(list.get(), array.get()));
  return list.release();
}

PyObject* wrap_tuple(const Values& values) {
  Ref tuple = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (std::size_t i = 0; i < values.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(values[i]));
  }
  return tuple.release();
}

Value unwrap(PyObject* object) {
  if (!is_array_object(object)) {
    type_error("expected an Array, got ", pytree::repr(object), " of type ",
               pytree::repr(reinterpret_cast<PyObject*>(Py_TYPE(object))), ".");
  }
  return value_of(object);
}

void init_array(PyObject* module) {
  array_type = make_array_type();
  // NumPy leaves mixed operations to the operand of higher priority.
  const Ref priority = Ref::checked(PyLong_FromLong(100));
  pytree::check(PyObject_SetAttrString(reinterpret_cast<PyObject*>(array_type),
                                       "__array_priority__", priority.get()));
  array_impl_type =
      make_type("shardax.ArrayImpl", buffer_slots(), array_type, Py_TPFLAGS_DISALLOW_INSTANTIATION);
  tracer_type = make_type(tracer_name, tracer_slots(), array_type, Py_TPFLAGS_BASETYPE);
  const auto add = [&](const char* name, PyTypeObject* type) {
    pytree::check(PyModule_AddObjectRef(module, name, reinterpret_cast<PyObject*>(type)));
  };
  add("Array", array_type);
  add("ArrayImpl", array_impl_type);
  add("Tracer", tracer_type);
  for (TracerClass& c : tracer_classes) {
    std::vector<PyType_Slot> own;
    if (c.properties) own.push_back({Py_tp_getset, c.properties});
    c.type = make_type(c.full, own, tracer_type, Py_TPFLAGS_DISALLOW_INSTANTIATION);
    add(c.name, c.type);
  }
}

}  // namespace shardax::objects
