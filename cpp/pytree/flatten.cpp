// pytree/flatten.cpp - the walks over trees. Tuples, lists and dicts have paths of their own; other
// kinds go through Level.
#include "pytree/flatten.h"

#include <algorithm>

#include "base/small_vector.h"
#include "pytree/level.h"

namespace shardax::pytree {
namespace {

constexpr const char* in_flatten = " in flatten; PyTree may have cyclical node references.";

bool is_true(PyObject* result) {
  if (result == Py_True) return true;
  if (result == Py_False || result == Py_None) return false;
  raise_error(PyExc_ValueError, "is_leaf predicate returned a non-boolean value " + repr(result) +
                                    "; expected a boolean");
}

[[noreturn]] void list_changed() {
  raise_error(PyExc_RuntimeError, "list changed size while it was flattened");
}

class Flattener {
 public:
  Flattener(std::vector<Ref>& leaves, TreeBuilder& tree, PyObject* is_leaf, Opening opening)
      : leaves_(leaves), tree_(tree), is_leaf_(is_leaf), opening_(opening) {}

  void visit(PyObject* value) {
    if (is_leaf_ != nullptr && is_true(Ref::checked(PyObject_CallOneArg(is_leaf_, value)).get())) {
      return leaf(value);
    }
    PyTypeObject* type = Py_TYPE(value);
    // Leaves come in runs of one type: the registry is asked once a run.
    if (type == leaf_type_) return leaf(value);
    if (type == &PyTuple_Type) return tuple(value);
    if (type == &PyList_Type) return list(value);
    if (type == &PyDict_Type) return dict(value);
    switch (node_type(type, opening_).kind) {
      case Kind::leaf: leaf_type_ = type; return leaf(value);
      case Kind::none: tree_.close(tree_.open(Kind::none, 0), 0); return;
      default: return other(value);
    }
  }

 private:
  void leaf(PyObject* value) {
    tree_.add_leaf();
    leaves_.push_back(Ref::borrow(value));
  }

  void tuple(PyObject* value) {
    const RecursionGuard guard(in_flatten);
    const Py_ssize_t size = PyTuple_GET_SIZE(value);
    const std::size_t before = leaves_.size();
    const std::size_t index = tree_.open(Kind::tuple, static_cast<std::size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) visit(PyTuple_GET_ITEM(value, i));
    tree_.close(index, leaves_.size() - before);
  }

  // User code (is_leaf, flatten functions) and other threads may change the list meanwhile.
  void list(PyObject* value) {
    const RecursionGuard guard(in_flatten);
    const Py_ssize_t size = PyList_GET_SIZE(value);
    const std::size_t before = leaves_.size();
    const std::size_t index = tree_.open(Kind::list, static_cast<std::size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (PyList_GET_SIZE(value) != size) list_changed();
      const Ref item = item_of(value, i);
      if (!item) list_changed();
      visit(item.get());
    }
    tree_.close(index, leaves_.size() - before);
  }

  void dict(PyObject* value) {
    const RecursionGuard guard(in_flatten);
    const SortedItems items(value);
    const std::size_t before = leaves_.size();
    const std::size_t index = tree_.open(Kind::dict, items.size());
    for (std::size_t i = 0; i < items.size(); ++i) tree_.add_object(items.key(i));
    for (std::size_t i = 0; i < items.size(); ++i) visit(items.value(i));
    tree_.close(index, leaves_.size() - before);
  }

  void other(PyObject* value) {
    const RecursionGuard guard(in_flatten);
    Level level;
    take_apart(value, false, level, opening_);
    const std::size_t before = leaves_.size();
    const std::size_t index = level.open(tree_);
    for (const Ref& child : level.children) visit(child.get());
    tree_.close(index, leaves_.size() - before);
  }

  std::vector<Ref>& leaves_;
  TreeBuilder& tree_;
  PyObject* is_leaf_;
  Opening opening_;
  PyTypeObject* leaf_type_ = nullptr;
};

class PathFlattener {
 public:
  PathFlattener(std::vector<Ref>& paths, std::vector<Ref>& leaves, TreeBuilder& tree,
                PyObject* is_leaf, bool takes_path)
      : paths_(paths), leaves_(leaves), tree_(tree), is_leaf_(is_leaf), takes_path_(takes_path) {}

  void visit(PyObject* value) {
    const RecursionGuard guard(in_flatten);
    if (stops_at(value)) return leaf(value);
    Level level;
    if (!take_apart(value, true, level)) return leaf(value);
    const std::size_t before = leaves_.size();
    const std::size_t index = level.open(tree_);
    for (std::size_t i = 0; i < level.children.size(); ++i) {
      keys_.push_back(level.keys[i]);
      visit(level.children[i].get());
      keys_.pop_back();
    }
    tree_.close(index, leaves_.size() - before);
  }

 private:
  bool stops_at(PyObject* value) {
    if (is_leaf_ == nullptr) return false;
    if (!takes_path_) return is_true(Ref::checked(PyObject_CallOneArg(is_leaf_, value)).get());
    const Ref path = current_path();
    PyObject* args[] = {path.get(), value};
    return is_true(Ref::checked(PyObject_Vectorcall(is_leaf_, args, 2, nullptr)).get());
  }

  void leaf(PyObject* value) {
    tree_.add_leaf();
    leaves_.push_back(Ref::borrow(value));
    paths_.push_back(current_path());
  }

  Ref current_path() const {
    Ref path = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(keys_.size())));
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      PyTuple_SET_ITEM(path.get(), static_cast<Py_ssize_t>(i), Ref(keys_[i]).release());
    }
    return path;
  }

  std::vector<Ref>& paths_;
  std::vector<Ref>& leaves_;
  TreeBuilder& tree_;
  PyObject* is_leaf_;
  bool takes_path_;
  std::vector<Ref> keys_;
};

class Unflattener {
 public:
  Unflattener(TreeView tree, PyObject* const* leaf) : tree_(tree), leaf_(leaf) {}

  Ref build() {
    const Node& node = tree_.nodes[at_++];
    if (node.kind == Kind::leaf) return Ref::borrow(*leaf_++);
    const RecursionGuard guard(" in unflatten");
    if (node.kind == Kind::tuple) return fill(Ref::checked(PyTuple_New(node.arity)), node);
    if (node.kind == Kind::list) return fill(Ref::checked(PyList_New(node.arity)), node);
    if (node.kind == Kind::dict) return dict(node);
    std::vector<Ref> children;
    for (std::uint32_t i = 0; i < node.arity; ++i) children.push_back(build());
    return put_together(tree_, node, pointers(children));
  }

 private:
  Ref fill(Ref sequence, const Node& node) {
    for (std::uint32_t i = 0; i < node.arity; ++i) {
      PyObject* child = build().release();
      if (node.kind == Kind::tuple) {
        PyTuple_SET_ITEM(sequence.get(), i, child);
      } else {
        PyList_SET_ITEM(sequence.get(), i, child);
      }
    }
    return sequence;
  }

  Ref dict(const Node& node) {
    Ref result = Ref::checked(PyDict_New());
    for (std::uint32_t i = 0; i < node.arity; ++i) {
      check(PyDict_SetItem(result.get(), tree_.object(node, i), build().get()));
    }
    return result;
  }

  TreeView tree_;
  PyObject* const* leaf_;
  std::size_t at_ = 0;
};

}  // namespace

void flatten(PyObject* tree, std::vector<Ref>& leaves, TreeBuilder& structure, PyObject* is_leaf,
             Opening opening) {
  Flattener(leaves, structure, is_leaf, opening).visit(tree);
}

void flatten_args(PyObject* const* args, std::size_t num_positional, PyObject* names,
                  std::vector<Ref>& leaves, TreeBuilder& structure) {
  Flattener flattener(leaves, structure, nullptr, Opening::calls);
  const std::size_t first = leaves.size();
  const std::size_t root = structure.open(Kind::tuple, 2);
  const std::size_t positional = structure.open(Kind::tuple, num_positional);
  for (std::size_t i = 0; i < num_positional; ++i) flattener.visit(args[i]);
  structure.close(positional, leaves.size() - first);

  const std::size_t before = leaves.size();
  SmallVector<Py_ssize_t, 8> order;
  for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); ++i) order.push_back(i);
  std::sort(order.begin(), order.end(), [names](Py_ssize_t a, Py_ssize_t b) {
    return PyUnicode_Compare(PyTuple_GET_ITEM(names, a), PyTuple_GET_ITEM(names, b)) < 0;
  });
  const std::size_t keywords = structure.open(Kind::dict, order.size());
  for (const Py_ssize_t i : order) structure.add_object(PyTuple_GET_ITEM(names, i));
  for (const Py_ssize_t i : order) {
    flattener.visit(args[num_positional + static_cast<std::size_t>(i)]);
  }
  structure.close(keywords, leaves.size() - before);
  structure.close(root, leaves.size() - first);
}

void flatten_with_path(PyObject* tree, std::vector<Ref>& paths, std::vector<Ref>& leaves,
                       TreeBuilder& structure, PyObject* is_leaf, bool is_leaf_takes_path) {
  PathFlattener(paths, leaves, structure, is_leaf, is_leaf_takes_path).visit(tree);
}

Ref unflatten(TreeView structure, std::span<PyObject* const> leaves) {
  const std::size_t expected = structure.num_leaves();
  if (leaves.size() < expected) {
    raise_error(PyExc_ValueError, "Too few leaves for PyTreeDef; expected " +
                                      std::to_string(expected) + ", got " +
                                      std::to_string(leaves.size()));
  }
  if (leaves.size() > expected) {
    raise_error(PyExc_ValueError,
                "Too many leaves for PyTreeDef; expected " + std::to_string(expected) + ".");
  }
  return Unflattener(structure, leaves.data()).build();
}

}  // namespace shardax::pytree
