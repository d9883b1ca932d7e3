// pytree/registry.cpp - a hash table from type pointers to registrations.
#include "pytree/registry.h"

#include <memory>

#include "base/hash.h"
#include "pytree/core_lock.h"

namespace shardax::pytree {
namespace {

// Open addressing with linear probing over type pointers: the look-up is on the path of every leaf
// whose type differs from the one before. Keys are kept alive by their registration.
class Registry {
 public:
  Registry() : slots_(64), registrations_(1) {
    default_dict_ = import("defaultdict");
    add_builtin(reinterpret_cast<PyObject*>(Py_TYPE(Py_None)), Kind::none);
    add_builtin(reinterpret_cast<PyObject*>(&PyTuple_Type), Kind::tuple);
    add_builtin(reinterpret_cast<PyObject*>(&PyList_Type), Kind::list);
    add_builtin(reinterpret_cast<PyObject*>(&PyDict_Type), Kind::dict);
    add_builtin(reinterpret_cast<PyObject*>(&PyODict_Type), Kind::ordered_dict);
    add_builtin(default_dict_.get(), Kind::default_dict);
  }

  const NodeType* find(PyObject* type) const {
    for (std::size_t i = start(type);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].type == type) return &slots_[i].node;
      if (slots_[i].type == nullptr) return nullptr;
    }
  }

  void add(std::unique_ptr<Registration> record) {
    const auto id = static_cast<std::uint32_t>(registrations_.size());
    insert(record->type.get(), {record->kind, id, record->calls_only});
    registrations_.push_back(std::move(record));
  }

  // Makes `type`, which is kept alive, a node of an earlier registration that only calls open and
  // that has these functions. False if there is none.
  bool join(PyObject* type, PyObject* flatten, PyObject* unflatten) {
    for (std::uint32_t id = 1; id < registrations_.size(); ++id) {
      const Registration& record = *registrations_[id];
      if (!record.calls_only || record.flatten.get() != flatten ||
          record.unflatten.get() != unflatten)
        continue;
      insert(Py_NewRef(type), {record.kind, id, true});
      return true;
    }
    return false;
  }

  const Registration& at(std::uint32_t id) const { return *registrations_[id]; }
  PyObject* default_dict() const { return default_dict_.get(); }

 private:
  struct Slot {
    PyObject* type = nullptr;
    NodeType node;
  };

  static Ref import(const char* name) {
    const Ref module = Ref::checked(PyImport_ImportModule("collections"));
    return Ref::checked(PyObject_GetAttrString(module.get(), name));
  }

  std::size_t start(PyObject* type) const {
    // Types are 16-byte aligned heap blocks; the multiplication spreads the remaining bits.
    const auto bits = reinterpret_cast<std::uintptr_t>(type) >> 4;
    return (bits * 0x9e3779b97f4a7c15ULL >> 32) & (slots_.size() - 1);
  }

  void add_builtin(PyObject* type, Kind kind) { insert(type, {kind, 0, false}); }

  void insert(PyObject* type, NodeType node) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    place(type, node);
    ++used_;
  }

  void place(PyObject* type, NodeType node) {
    std::size_t i = start(type);
    while (slots_[i].type != nullptr) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {type, node};
  }

  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
    for (const Slot& slot : old) {
      if (slot.type != nullptr) place(slot.type, slot.node);
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<Registration>> registrations_;  // number 0 is unused
  Ref default_dict_;
};

// Never destroyed: its references must not be dropped after the interpreter has gone.
Registry& registry() {
  static Registry* instance = nullptr;
  return *made_once(instance, [] { return new Registry(); });
}

bool is_named_tuple_type(PyTypeObject* type) {
  if (!PyType_HasFeature(type, Py_TPFLAGS_TUPLE_SUBCLASS)) return false;
  static PyObject* fields = nullptr;
  made_once(fields, [] { return Ref::checked(PyUnicode_InternFromString("_fields")).release(); });
  PyObject* found = PyObject_GetAttr(reinterpret_cast<PyObject*>(type), fields);
  if (found == nullptr) {
    PyErr_Clear();
    return false;
  }
  Py_DECREF(found);
  return true;
}

std::vector<Ref> names(PyObject* fields) {
  const Ref sequence = checked_sequence(fields, "field names must be a sequence");
  std::vector<Ref> result;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence.get()); ++i) {
    PyObject* name = PySequence_Fast_GET_ITEM(sequence.get(), i);
    if (!PyUnicode_Check(name)) {
      raise_error(PyExc_TypeError,
                  "register_dataclass: field names must be strings, got " + repr(name) + ".");
    }
    PyObject* interned = name;
    Py_INCREF(interned);
    PyUnicode_InternInPlace(&interned);
    result.push_back(Ref::steal(interned));
  }
  return result;
}

void refuse_duplicate(PyObject* type, const char* what) {
  if (registry().find(type) != nullptr) {
    raise_error(PyExc_ValueError, std::string("Duplicate custom ") + what +
                                      "PyTreeDef type registration for " + repr(type) + ".");
  }
}

}  // namespace

NodeType node_type(PyTypeObject* type, Opening opening) {
  const NodeType* found = registry().find(reinterpret_cast<PyObject*>(type));
  if (found != nullptr) return found->calls_only && opening == Opening::trees ? NodeType{} : *found;
  if (is_named_tuple_type(type)) return {Kind::named_tuple, 0};
  return {};
}

bool is_registered(PyObject* type) {
  if (PyType_Check(type)) {
    return node_type(reinterpret_cast<PyTypeObject*>(type)).kind != Kind::leaf;
  }
  return registry().find(type) != nullptr;
}

const Registration& registration(std::uint32_t id) { return registry().at(id); }

void register_custom(PyObject* type, PyObject* flatten, PyObject* unflatten,
                     PyObject* flatten_with_keys, Opening opening) {
  refuse_duplicate(type, "");
  if (opening == Opening::calls && registry().join(type, flatten, unflatten)) return;
  auto record = std::make_unique<Registration>();
  record->kind = Kind::custom;
  record->calls_only = opening == Opening::calls;
  record->type = Ref::borrow(type);
  record->flatten = Ref::borrow(flatten);
  record->unflatten = Ref::borrow(unflatten);
  if (flatten_with_keys != Py_None) record->flatten_with_keys = Ref::borrow(flatten_with_keys);
  registry().add(std::move(record));
}

void register_dataclass(PyObject* type, PyObject* data_fields, PyObject* meta_fields) {
  refuse_duplicate(type, "dataclass ");
  auto record = std::make_unique<Registration>();
  record->kind = Kind::dataclass;
  record->type = Ref::borrow(type);
  record->data_fields = names(data_fields);
  record->meta_fields = names(meta_fields);
  const std::size_t data_count = record->data_fields.size();
  const std::size_t count = data_count + record->meta_fields.size();
  record->keyword_names = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (std::size_t i = 0; i < count; ++i) {
    Ref name = i < data_count ? record->data_fields[i] : record->meta_fields[i - data_count];
    PyTuple_SET_ITEM(record->keyword_names.get(), static_cast<Py_ssize_t>(i), name.release());
  }
  registry().add(std::move(record));
}

PyTypeObject* ordered_dict_type() { return &PyODict_Type; }

PyTypeObject* default_dict_type() {
  return reinterpret_cast<PyTypeObject*>(registry().default_dict());
}

}  // namespace shardax::pytree
