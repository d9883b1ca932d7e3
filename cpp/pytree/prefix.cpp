// pytree/prefix.cpp - flatten_up_to and broadcast_to: a structure and a tree walked together.
#include <algorithm>
#include <string>

#include "pytree/flatten.h"
#include "pytree/level.h"

namespace shardax::pytree {
namespace {

[[noreturn]] void mismatch(const std::string& text) { raise_error(PyExc_ValueError, text); }

std::string list_text(TreeView tree, const Node& node) {
  const Ref keys = Ref::checked(PySequence_List(metadata_of(tree, node).get()));
  return repr(keys.get());
}

class PrefixWalk {
 public:
  PrefixWalk(TreeView prefix, std::vector<Ref>& subtrees) : prefix_(prefix), out_(subtrees) {}

  void visit(PyObject* value) {
    const Node& node = prefix_.nodes[at_++];
    if (node.kind == Kind::leaf) return out_.push_back(Ref::borrow(value));
    const RecursionGuard guard(" in flatten_up_to");
    switch (node.kind) {
      case Kind::none:
        if (value != Py_None) {
          mismatch("Expected None, got " + repr(value) +
                   ". None is a tree without leaves, so it is a prefix of None only; with "
                   "is_leaf=lambda x: x is None it is a leaf.");
        }
        return;
      case Kind::tuple:
        if (!PyTuple_CheckExact(value)) mismatch("Expected tuple, got " + repr(value) + ".");
        return sequence(node, value, "Tuple", "tuple");
      case Kind::list:
        if (!PyList_CheckExact(value)) mismatch("Expected list, got " + repr(value) + ".");
        return sequence(node, value, "List", "list");
      case Kind::dict: return dict(node, value);
      default: return other(node, value);
    }
  }

 private:
  void sequence(const Node& node, PyObject* value, const char* title, const char* name) {
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(value);
    if (size != static_cast<Py_ssize_t>(node.arity)) {
      mismatch(std::string(title) + " arity mismatch: " + std::to_string(size) +
               " != " + std::to_string(node.arity) + "; " + name + ": " + repr(value) + ".");
    }
    for (Py_ssize_t i = 0; i < size && i < PySequence_Fast_GET_SIZE(value); ++i) {
      const Ref item = item_of(value, i);
      if (item) visit(item.get());
    }
  }

  void dict(const Node& node, PyObject* value) {
    if (!PyDict_CheckExact(value)) mismatch("Expected dict, got " + repr(value) + ".");
    bool same = PyDict_GET_SIZE(value) == static_cast<Py_ssize_t>(node.arity);
    for (std::uint32_t i = 0; same && i < node.arity; ++i) {
      same = check(PyDict_Contains(value, prefix_.object(node, i))) == 1;
    }
    if (!same) {
      const Ref keys = Ref::checked(PyDict_Keys(value));
      if (PyList_Sort(keys.get()) != 0) PyErr_Clear();
      mismatch("Dict key mismatch; expected keys: " + list_text(prefix_, node) +
               "; present keys: " + repr(keys.get()) + ".");
    }
    for (std::uint32_t i = 0; i < node.arity; ++i) {
      const Ref item = Ref::checked(PyObject_GetItem(value, prefix_.object(node, i)));
      visit(item.get());
    }
  }

  void other(const Node& node, PyObject* value) {
    PyObject* expected = type_of(prefix_, node);
    const bool named = node.kind == Kind::named_tuple;
    const std::string title = named                          ? "Named tuple"
                              : node.kind == Kind::dataclass ? "Custom dataclass node"
                                                             : "Custom node";
    Level level;
    const NodeType found = node_type(Py_TYPE(value), Opening::calls);
    const bool joined = found.calls_only && found.id == node.type_id;
    if (reinterpret_cast<PyObject*>(Py_TYPE(value)) != expected && !joined) {
      if (named && node_type(Py_TYPE(value)).kind != Kind::named_tuple) {
        mismatch("Expected named tuple, got " + repr(value) + ".");
      }
      mismatch(title + " type mismatch: expected type: " + repr(expected) + ", " +
               (named ? "tuple" : "value") + ": " + repr(value) + ".");
    }
    take_apart(value, false, level, Opening::calls);
    const Ref have = level.metadata();
    const Ref want = metadata_of(prefix_, node);
    if (check(PyObject_RichCompareBool(want.get(), have.get(), Py_EQ)) != 1) {
      mismatch(std::string("Mismatch custom ") +
               (node.kind == Kind::dataclass ? "dataclass node" : "node") + " data: " +
               repr(want.get()) + " != " + repr(have.get()) + "; value: " + repr(value) + ".");
    }
    if (level.children.size() != node.arity) {
      mismatch((named ? "Named tuple arity mismatch: " : "Custom type arity mismatch: ") +
               std::to_string(level.children.size()) + " != " + std::to_string(node.arity) +
               "; value: " + repr(value) + ".");
    }
    for (const Ref& child : level.children) visit(child.get());
  }

  TreeView prefix_;
  std::vector<Ref>& out_;
  std::size_t at_ = 0;
};

class Broadcast {
 public:
  Broadcast(TreeView full, bool none_is_leaf, std::vector<Ref>& out)
      : full_(full), none_is_leaf_(none_is_leaf), out_(out) {}

  bool visit(PyObject* prefix) {
    const Node& node = full_.nodes[at_];
    Level level;
    if ((none_is_leaf_ && prefix == Py_None) || !take_apart(prefix, false, level)) {
      out_.insert(out_.end(), node.num_leaves, Ref::borrow(prefix));
      at_ += node.num_nodes;
      return true;
    }
    if (level.type.kind != node.kind || level.type.id != node.type_id ||
        level.children.size() != node.arity) {
      return false;
    }
    for (std::size_t i = 0; i < level.objects.size(); ++i) {
      if (check(PyObject_RichCompareBool(level.objects[i].get(), full_.object(node, i), Py_EQ)) !=
          1) {
        return false;
      }
    }
    const RecursionGuard guard(" in broadcasting a tree prefix");
    ++at_;
    return std::all_of(level.children.begin(), level.children.end(),
                       [this](const Ref& child) { return visit(child.get()); });
  }

 private:
  TreeView full_;
  bool none_is_leaf_;
  std::vector<Ref>& out_;
  std::size_t at_ = 0;
};

}  // namespace

void flatten_up_to(TreeView prefix, PyObject* tree, std::vector<Ref>& subtrees) {
  PrefixWalk(prefix, subtrees).visit(tree);
}

bool broadcast_to(PyObject* prefix, TreeView full, bool none_is_leaf, std::vector<Ref>& values) {
  return Broadcast(full, none_is_leaf, values).visit(prefix);
}

}  // namespace shardax::pytree
