// pytree/keys.cpp - DictKey, SequenceKey, GetAttrKey and FlattenedIndexKey as Python types.
#include "pytree/keys.h"

#include <array>
#include <cstddef>

#include "base/hash.h"
#include "pytree/core_lock.h"

namespace shardax::pytree {
namespace {

struct KeyObject {
  PyObject ob_base;
  PyObject* value;
};

PyObject* value_of(PyObject* self) { return reinterpret_cast<KeyObject*>(self)->value; }

struct KeySpec {
  const char* name;   // of the type
  const char* field;  // of its value
  const char *before, *after;
  const char* signature;
};
constexpr std::array<KeySpec, 4> specs{{
    {"shardax.tree_util.DictKey", "key", "[", "]", "DictKey(key)\n--\n\nA dict's child."},
    {"shardax.tree_util.SequenceKey", "idx", "[", "]",
     "SequenceKey(idx)\n--\n\nA list's or tuple's child."},
    {"shardax.tree_util.GetAttrKey", "name", ".", "",
     "GetAttrKey(name)\n--\n\nA child that is an attribute."},
    {"shardax.tree_util.FlattenedIndexKey", "key", "[<flat index ", ">]",
     "FlattenedIndexKey(key)\n--\n\nA custom node's child, by its position."},
}};

std::array<PyObject*, 4> types{};

int kind_of(PyObject* object) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(object)) == types[i]) return static_cast<int>(i);
  }
  return -1;
}

PyObject* allocate(PyTypeObject* type, PyObject* value) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  Py_INCREF(value);
  reinterpret_cast<KeyObject*>(self)->value = value;
  return self;
}

template <std::size_t kind>
PyObject* key_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {const_cast<char*>(specs[kind].field), nullptr};
  PyObject* value = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", names, &value)) return nullptr;
  constexpr bool is_index =
      kind == std::size_t(KeyKind::sequence) || kind == std::size_t(KeyKind::flat_index);
  constexpr bool is_name = kind == std::size_t(KeyKind::attribute);
  if ((is_index && !PyLong_Check(value)) || (is_name && !PyUnicode_Check(value))) {
    return PyErr_Format(PyExc_TypeError, "%s: %s is a %s; expected %s.",
                        specs[kind].name + sizeof("shardax.tree_util"), specs[kind].field,
                        Py_TYPE(value)->tp_name, is_name ? "a str" : "an int");
  }
  return allocate(type, value);
}

int key_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(value_of(self));
  Py_VISIT(Py_TYPE(self));
  return 0;
}

void key_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_XDECREF(value_of(self));
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* key_str(PyObject* self) {
  const KeySpec& spec = specs[static_cast<std::size_t>(kind_of(self))];
  const char* format = kind_of(self) == int(KeyKind::attribute) ? "%s%S%s" : "%s%R%s";
  return PyUnicode_FromFormat(format, spec.before, value_of(self), spec.after);
}

PyObject* key_repr(PyObject* self) {
  const KeySpec& spec = specs[static_cast<std::size_t>(kind_of(self))];
  return PyUnicode_FromFormat("%s(%s=%R)", spec.name + sizeof("shardax.tree_util"), spec.field,
                              value_of(self));
}

Py_hash_t key_hash(PyObject* self) {
  const Py_hash_t value = PyObject_Hash(value_of(self));
  if (value == -1) return -1;
  const auto seed = static_cast<std::size_t>(kind_of(self));
  const auto hash = static_cast<Py_hash_t>(mix(seed, static_cast<std::size_t>(value)));
  return hash == -1 ? -2 : hash;
}

PyObject* key_compare(PyObject* self, PyObject* other, int op) {
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  if (Py_TYPE(self) != Py_TYPE(other)) return PyBool_FromLong(op == Py_NE);
  return PyObject_RichCompare(value_of(self), value_of(other), op);
}

PyObject* key_reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("O(O)", Py_TYPE(self), value_of(self));
}

PyObject* key_get(PyObject* self, void*) {
  Py_INCREF(value_of(self));
  return value_of(self);
}

template <std::size_t kind>
PyObject* make_type() {
  static PyMethodDef methods[] = {{"__reduce__", key_reduce, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef fields[] = {{specs[kind].field, key_get, nullptr, nullptr, nullptr},
                                 {nullptr, nullptr, nullptr, nullptr, nullptr}};
  PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(key_new<kind>)},
      {Py_tp_dealloc, reinterpret_cast<void*>(key_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(key_traverse)},
      {Py_tp_str, reinterpret_cast<void*>(key_str)},
      {Py_tp_repr, reinterpret_cast<void*>(key_repr)},
      {Py_tp_hash, reinterpret_cast<void*>(key_hash)},
      {Py_tp_richcompare, reinterpret_cast<void*>(key_compare)},
      {Py_tp_methods, methods},
      {Py_tp_getset, fields},
      {Py_tp_doc, const_cast<char*>(specs[kind].signature)},
      {0, nullptr},
  };
  PyType_Spec spec{specs[kind].name, sizeof(KeyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                   slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) return nullptr;
  const Ref match = Ref::steal(Py_BuildValue("(s)", specs[kind].field));
  if (!match || PyObject_SetAttrString(type, "__match_args__", match.get()) != 0) return nullptr;
  return type;
}

}  // namespace

PyObject* key_type(KeyKind kind) {
  return made_once(types[static_cast<std::size_t>(kind)], [&]() -> PyObject* {
    switch (kind) {
      case KeyKind::dict: return make_type<0>();
      case KeyKind::sequence: return make_type<1>();
      case KeyKind::attribute: return make_type<2>();
      case KeyKind::flat_index: return make_type<3>();
    }
    return nullptr;
  });
}

Ref make_key(KeyKind kind, PyObject* value) {
  auto* type = reinterpret_cast<PyTypeObject*>(key_type(kind));
  if (type == nullptr) throw PythonError();
  return Ref::checked(allocate(type, value));
}

Ref make_key(KeyKind kind, std::size_t index) {
  return make_key(kind, Ref::checked(PyLong_FromSize_t(index)).get());
}

PyObject* key_value(PyObject* key) { return kind_of(key) < 0 ? key : value_of(key); }

std::string key_string(std::span<PyObject* const> path, bool simple, const std::string& separator) {
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i != 0) text += separator;
    text += str(simple ? key_value(path[i]) : path[i]);
  }
  return text;
}

}  // namespace shardax::pytree
