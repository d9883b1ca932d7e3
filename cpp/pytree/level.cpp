// pytree/level.cpp - the parts of each kind of node.
#include "pytree/level.h"

#include <algorithm>

#include "base/index.h"
#include "pytree/core_lock.h"
#include "pytree/keys.h"

namespace shardax::pytree {
namespace {

void take_sequence(PyObject* value, bool with_keys, Level& level) {
  const Ref fast = checked_sequence(value, "a node's children must be iterable");
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    level.children.push_back(Ref::borrow(PySequence_Fast_GET_ITEM(fast.get(), i)));
    if (with_keys) {
      level.keys.push_back(make_key(KeyKind::sequence, index(i)));
    }
  }
}

void take_sorted(PyObject* dict, bool with_keys, Level& level) {
  const SortedItems items(dict);
  for (std::size_t i = 0; i < items.size(); ++i) {
    level.children.push_back(Ref::borrow(items.value(i)));
    level.objects.push_back(Ref::borrow(items.key(i)));
    if (with_keys) level.keys.push_back(make_key(KeyKind::dict, items.key(i)));
  }
}

// Iterating an OrderedDict follows its order; PyDict_Next does not after move_to_end.
void take_ordered(PyObject* dict, bool with_keys, Level& level) {
  const Ref keys = Ref::checked(PySequence_List(dict));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys.get()); ++i) {
    PyObject* key = PyList_GET_ITEM(keys.get(), i);
    level.children.push_back(Ref::checked(PyObject_GetItem(dict, key)));
    level.objects.push_back(Ref::borrow(key));
    if (with_keys) level.keys.push_back(make_key(KeyKind::dict, key));
  }
}

void take_named_tuple(PyObject* value, bool with_keys, Level& level) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(value));
  level.objects.push_back(Ref::borrow(type));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
    level.children.push_back(Ref::borrow(PyTuple_GET_ITEM(value, i)));
  }
  if (!with_keys) return;
  const Ref fields = Ref::checked(PyObject_GetAttrString(type, "_fields"));
  const Ref names = checked_sequence(fields.get(), "_fields must be a sequence");
  if (PySequence_Fast_GET_SIZE(names.get()) != PyTuple_GET_SIZE(value)) {
    raise_error(PyExc_ValueError, "The _fields of the named tuple type " + repr(type) +
                                      " must be as many as its values.");
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
    level.keys.push_back(make_key(KeyKind::attribute, PySequence_Fast_GET_ITEM(names.get(), i)));
  }
}

[[noreturn]] void bad_result(const char* expected, PyObject* result) {
  raise_error(PyExc_ValueError, std::string("The to_iterable function for a custom PyTree node "
                                            "should return a (children, aux_data) tuple") +
                                    expected + ", got " + repr(result));
}

// The iterable as a list or tuple; its TypeError becomes the error about to_iterable's result.
Ref as_sequence(PyObject* iterable, PyObject* result) {
  Ref sequence = fast_sequence(iterable, "");
  if (sequence) return sequence;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError();
  PyErr_Clear();
  bad_result(" where 'children' is iterable", result);
}

void take_custom(PyObject* value, bool with_keys, Level& level) {
  const Registration& record = registration(level.type.id);
  const bool pairs = with_keys && record.flatten_with_keys;
  const Ref& function = pairs ? record.flatten_with_keys : record.flatten;
  const Ref result = Ref::checked(PyObject_CallOneArg(function.get(), value));
  if (!PyTuple_Check(result.get()) || PyTuple_GET_SIZE(result.get()) != 2) {
    bad_result("", result.get());
  }
  const Ref children = as_sequence(PyTuple_GET_ITEM(result.get(), 0), result.get());
  level.objects.push_back(Ref::borrow(PyTuple_GET_ITEM(result.get(), 1)));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(children.get()); ++i) {
    PyObject* child = PySequence_Fast_GET_ITEM(children.get(), i);
    if (pairs) {
      const Ref pair = as_sequence(child, result.get());
      if (PySequence_Fast_GET_SIZE(pair.get()) != 2) {
        bad_result(" where each child is a (key, child) pair", result.get());
      }
      level.keys.push_back(Ref::borrow(PySequence_Fast_GET_ITEM(pair.get(), 0)));
      level.children.push_back(Ref::borrow(PySequence_Fast_GET_ITEM(pair.get(), 1)));
    } else {
      level.children.push_back(Ref::borrow(child));
      if (with_keys) {
        level.keys.push_back(make_key(KeyKind::flat_index, index(i)));
      }
    }
  }
}

void take_dataclass(PyObject* value, bool with_keys, Level& level) {
  const Registration& record = registration(level.type.id);
  for (const Ref& name : record.data_fields) {
    level.children.push_back(Ref::checked(PyObject_GetAttr(value, name.get())));
    if (with_keys) level.keys.push_back(make_key(KeyKind::attribute, name.get()));
  }
  Ref meta = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(record.meta_fields.size())));
  for (std::size_t i = 0; i < record.meta_fields.size(); ++i) {
    Ref field = Ref::checked(PyObject_GetAttr(value, record.meta_fields[i].get()));
    PyTuple_SET_ITEM(meta.get(), static_cast<Py_ssize_t>(i), field.release());
  }
  level.objects.push_back(std::move(meta));
}

// PyUnicode_Compare, with the comparison of short ASCII keys inline.
int compare_strings(PyObject* a, PyObject* b) {
  if (PyUnicode_IS_COMPACT_ASCII(a) && PyUnicode_IS_COMPACT_ASCII(b)) {
    const Py_ssize_t a_size = PyUnicode_GET_LENGTH(a), b_size = PyUnicode_GET_LENGTH(b);
    const auto* a_text = PyUnicode_1BYTE_DATA(a);
    const auto* b_text = PyUnicode_1BYTE_DATA(b);
    const Py_ssize_t size = std::min(a_size, b_size);
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (a_text[i] != b_text[i]) return a_text[i] < b_text[i] ? -1 : 1;
    }
    return a_size < b_size ? -1 : a_size > b_size;
  }
  return PyUnicode_Compare(a, b);
}

Ref make_tuple(std::span<PyObject* const> children) {
  Ref tuple = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(children.size())));
  for (std::size_t i = 0; i < children.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), Ref::borrow(children[i]).release());
  }
  return tuple;
}

Ref make_dataclass(const Registration& record, PyObject* meta,
                   std::span<PyObject* const> children) {
  SmallVector<PyObject*, 16> args(children.begin(), children.end());
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(meta); ++i) {
    args.push_back(PyTuple_GET_ITEM(meta, i));
  }
  return Ref::checked(
      PyObject_Vectorcall(record.type.get(), args.data(), 0, record.keyword_names.get()));
}

}  // namespace

Ref Level::metadata() const {
  const Node node{type.kind, static_cast<std::uint32_t>(children.size()), 0, 1, 0, type.id};
  return metadata_of({{&node, 1}, pointers(objects).data()}, node);
}

std::size_t Level::open(TreeBuilder& tree) const {
  const std::size_t index = tree.open(type.kind, children.size(), type.id);
  for (const Ref& object : objects) tree.add_object(object.get());
  return index;
}

bool take_apart(PyObject* value, bool with_keys, Level& level, Opening opening) {
  level.type = node_type(Py_TYPE(value), opening);
  switch (level.type.kind) {
    case Kind::leaf: return false;
    case Kind::none: break;
    case Kind::tuple:
    case Kind::list: take_sequence(value, with_keys, level); break;
    case Kind::dict: take_sorted(value, with_keys, level); break;
    case Kind::named_tuple: take_named_tuple(value, with_keys, level); break;
    case Kind::ordered_dict: take_ordered(value, with_keys, level); break;
    case Kind::default_dict:
      level.objects.push_back(Ref::checked(PyObject_GetAttrString(value, "default_factory")));
      take_sorted(value, with_keys, level);
      break;
    case Kind::custom: take_custom(value, with_keys, level); break;
    case Kind::dataclass: take_dataclass(value, with_keys, level); break;
  }
  return true;
}

Ref put_together(TreeView tree, const Node& node, std::span<PyObject* const> children) {
  switch (node.kind) {
    case Kind::leaf: return Ref::borrow(children[0]);
    case Kind::none: return Ref::borrow(Py_None);
    case Kind::tuple: return make_tuple(children);
    case Kind::list: {
      Ref list = Ref::checked(PyList_New(static_cast<Py_ssize_t>(children.size())));
      for (std::size_t i = 0; i < children.size(); ++i) {
        PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), Ref::borrow(children[i]).release());
      }
      return list;
    }
    case Kind::dict:
    case Kind::ordered_dict:
    case Kind::default_dict: {
      const std::size_t first_key = node.kind == Kind::default_dict ? 1 : 0;
      PyObject* type = type_of(tree, node);
      Ref dict = Ref::checked(node.kind == Kind::dict ? PyDict_New()
                              : first_key == 1        ? PyObject_CallOneArg(type, tree.object(node))
                                                      : PyODict_New());
      const auto set = node.kind == Kind::ordered_dict ? PyODict_SetItem : PyDict_SetItem;
      for (std::size_t i = 0; i < children.size(); ++i) {
        check(set(dict.get(), tree.object(node, first_key + i), children[i]));
      }
      return dict;
    }
    case Kind::named_tuple:
      return Ref::checked(
          PyObject_Vectorcall(tree.object(node), children.data(), children.size(), nullptr));
    case Kind::custom: {
      PyObject* unflatten = registration(node.type_id).unflatten.get();
      const Ref tuple = make_tuple(children);
      PyObject* args[] = {tree.object(node), tuple.get()};
      return Ref::checked(PyObject_Vectorcall(unflatten, args, 2, nullptr));
    }
    case Kind::dataclass:
      return make_dataclass(registration(node.type_id), tree.object(node), children);
  }
  return nullptr;
}

SortedItems::SortedItems(PyObject* dict) {
  bool strings = true;
  bool sorted = true;
  {
    const ObjectLock lock(dict);
    Py_ssize_t position = 0;
    PyObject *key, *value;
    items_.reserve(index(PyDict_GET_SIZE(dict)));
    while (PyDict_Next(dict, &position, &key, &value)) {
      strings = strings && PyUnicode_CheckExact(key);
      sorted =
          sorted && strings && (items_.empty() || compare_strings(items_.back().key, key) <= 0);
      Py_INCREF(key);
      Py_INCREF(value);
      items_.push_back({key, value});
    }
  }
  if (sorted || items_.size() < 2) return;
  try {
    if (strings) {
      sort_strings();
    } else {
      sort_any();
    }
  } catch (...) {
    release();
    throw;
  }
}

SortedItems::~SortedItems() { release(); }

void SortedItems::release() {
  for (const Item& item : items_) {
    Py_DECREF(item.key);
    Py_DECREF(item.value);
  }
  items_.clear();
}

void SortedItems::sort_strings() {
  const auto before = [](const Item& a, const Item& b) {
    return compare_strings(a.key, b.key) < 0;
  };
  if (items_.size() > 16) {
    std::sort(items_.begin(), items_.end(), before);
    return;
  }
  for (Item* item = items_.begin() + 1; item < items_.end(); ++item) {
    const Item moving = *item;
    Item* place = item;
    for (; place > items_.begin() && before(moving, place[-1]); --place) *place = place[-1];
    *place = moving;
  }
}

// Python's sort survives comparisons that raise or contradict each other; std::sort does not.
void SortedItems::sort_any() {
  const Ref keys = Ref::checked(PyList_New(static_cast<Py_ssize_t>(items_.size())));
  const Ref values = Ref::checked(PyDict_New());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    PyList_SET_ITEM(keys.get(), static_cast<Py_ssize_t>(i), Ref::borrow(items_[i].key).release());
    check(PyDict_SetItem(values.get(), items_[i].key, items_[i].value));
  }
  if (PyList_Sort(keys.get()) != 0) {
    raise_from(PyExc_ValueError,
               "Comparator raised exception while sorting pytree dictionary keys.");
  }
  SmallVector<Item, 16> sorted;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys.get()); ++i) {
    PyObject* key = PyList_GET_ITEM(keys.get(), i);
    PyObject* value = PyDict_GetItemWithError(values.get(), key);
    if (value == nullptr) throw PythonError();
    sorted.push_back({key, value});
  }
  for (const Item& item : sorted) {
    Py_INCREF(item.key);
    Py_INCREF(item.value);
  }
  release();
  items_ = std::move(sorted);
}

}  // namespace shardax::pytree
