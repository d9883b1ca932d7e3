// pytree/tree.h - the structure of a tree: node records, their builder, the immutable TreeDef.
//
// A structure is two arrays. One holds the nodes in preorder (a node, then its children), the other
// the Python objects that nodes refer to (dict keys, types, aux data). Node is trivially
// comparable, so two structures are equal when their node bytes are and their objects are. A cache
// look-up flattens into a TreeBuilder taken from Scratch, which allocates nothing in the steady
// state. It compares its view() with the cached TreeDef's. Only a miss calls finish().
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pytree/ref.h"
#include "pytree/registry.h"

namespace shardax::pytree {

struct Node {
  Kind kind = Kind::leaf;
  std::uint32_t arity = 0;       // number of children
  std::uint32_t num_leaves = 1;  // in the subtree
  std::uint32_t num_nodes = 1;   // in the subtree, with itself
  std::uint32_t objects = 0;     // index of its first object = number of objects before it
  std::uint32_t type_id = 0;     // custom, dataclass: number of the registration
};
static_assert(sizeof(Node) == 24);

// The number of objects that a node refers to:
//   dict, ordered_dict  its keys            named_tuple  its type
//   default_dict  its factory, then keys    custom       its aux data
//   dataclass     the tuple of its meta fields' values
std::size_t num_objects(const Node& node);

// A whole structure, owned by somebody else. Child i of a node at index n starts at n + 1 plus the
// num_nodes of the children before it.
struct TreeView {
  std::span<const Node> nodes;
  PyObject* const* objects = nullptr;

  std::size_t num_leaves() const { return nodes[0].num_leaves; }
  std::size_t object_count() const { return nodes.back().objects + num_objects(nodes.back()); }
  PyObject* object(const Node& node, std::size_t i = 0) const { return objects[node.objects + i]; }
};

// Kinds, arities and dict keys enter the hash, aux data does not (it may be unhashable).
std::size_t hash_of(TreeView tree);

// Objects compare by identity, then by ==. Throws PythonError where a comparison raises.
bool equal(TreeView a, TreeView b);

// "{'a': (*, None, [*]), 'b': *}"
std::string to_string(TreeView tree);

// The type of a node's values, as a borrowed reference; null for a leaf.
PyObject* type_of(TreeView tree, const Node& node);

// The data that tell nodes of one type apart: keys as a tuple, (factory, keys), a named tuple's
// type, aux data, or None.
Ref metadata_of(TreeView tree, const Node& node);

// The parts of a structure that a subtree consists of: node `at` and its descendants.
std::span<const Node> subtree(TreeView tree, std::size_t at);

class TreeDef;

// An owning pointer to a TreeDef: one count of a Python object, so copies and drops need the GIL.
class TreeDefPtr {
 public:
  TreeDefPtr() = default;
  TreeDefPtr(std::nullptr_t) {}  // NOLINT: a null pointer is an empty one
  // Takes over an object known to be a TreeDef.
  explicit TreeDefPtr(Ref object) : object_(std::move(object)) {}
  // Throws TypeError unless `object` is a TreeDef.
  static TreeDefPtr from_object(PyObject* object);

  const TreeDef* get() const { return reinterpret_cast<const TreeDef*>(object_.get()); }
  const TreeDef* operator->() const { return get(); }
  const TreeDef& operator*() const { return *get(); }
  explicit operator bool() const { return static_cast<bool>(object_); }
  // The Python object (borrowed), for results and for tp_traverse of the holder of the pointer.
  PyObject* object() const { return object_.get(); }

 private:
  Ref object_;
};

// An immutable structure. It *is* the Python object `PyTreeDef`: nodes and objects lie behind the
// header in the same allocation, and the garbage collector sees the objects.
class TreeDef {
 public:
  TreeView view() const { return {{nodes(), num_nodes_}, objects()}; }
  std::size_t hash() const { return hash_; }
  std::size_t num_leaves() const { return nodes()->num_leaves; }
  std::size_t num_nodes() const { return num_nodes_; }
  bool is_leaf() const { return num_nodes_ == 1 && num_leaves() == 1; }
  std::string to_string() const { return "PyTreeDef(" + pytree::to_string(view()) + ")"; }

  // The structures of the root's children.
  std::vector<TreeDefPtr> children() const;
  // This structure with each leaf replaced by `inner`.
  TreeDefPtr compose(const TreeDef& inner) const;
  // A tuple node over the given structures.
  static TreeDefPtr tuple(std::span<const TreeDefPtr> children);
  // A copy of `tree` that owns its objects.
  static TreeDefPtr make(TreeView tree);

  friend bool operator==(const TreeDef& a, const TreeDef& b) {
    return &a == &b || (a.hash_ == b.hash_ && equal(a.view(), b.view()));
  }

  // The Python type, made on first use and kept for the life of the process.
  static PyTypeObject* type();
  // For the type's tp_traverse and tp_clear.
  std::span<PyObject*> owned_objects();

 private:
  TreeDef() = delete;
  PyObject* object() { return &head_.ob_base; }
  const Node* nodes() const { return reinterpret_cast<const Node*>(this + 1); }
  PyObject* const* objects() const {
    return reinterpret_cast<PyObject* const*>(nodes() + num_nodes_);
  }

  PyVarObject head_;
  std::size_t hash_;
  std::uint32_t num_nodes_;
  std::uint32_t num_objects_;
};
static_assert(sizeof(TreeDef) % alignof(PyObject*) == 0);

// Grows a structure node by node, in preorder. Keeps its capacity over clear().
class TreeBuilder {
 public:
  TreeBuilder() = default;
  TreeBuilder(const TreeBuilder&) = delete;
  TreeBuilder& operator=(const TreeBuilder&) = delete;
  ~TreeBuilder() { clear(); }

  // Starts a node and returns its index. Its objects follow by add_object, then its children, then
  // close(index, the number of leaves below it).
  std::size_t open(Kind kind, std::size_t arity, std::uint32_t type_id = 0) {
    nodes_.push_back({kind, static_cast<std::uint32_t>(arity), 0, 1,
                      static_cast<std::uint32_t>(objects_.size()), type_id});
    return nodes_.size() - 1;
  }
  void add_object(PyObject* object) {
    objects_.push_back(object);
    Py_INCREF(object);
  }
  void close(std::size_t index, std::size_t num_leaves) {
    nodes_[index].num_leaves = static_cast<std::uint32_t>(num_leaves);
    nodes_[index].num_nodes = static_cast<std::uint32_t>(nodes_.size() - index);
  }
  void add_leaf() {
    nodes_.push_back({Kind::leaf, 0, 1, 1, static_cast<std::uint32_t>(objects_.size()), 0});
  }
  // Copies the subtree of `tree` at node `at`.
  void append(TreeView tree, std::size_t at = 0);

  std::size_t size() const { return nodes_.size(); }
  std::size_t capacity() const { return nodes_.capacity(); }
  // Valid until the builder changes; the builder must hold one complete tree.
  TreeView view() const { return {nodes_, objects_.data()}; }
  TreeDefPtr finish() const { return TreeDef::make(view()); }
  void clear();

 private:
  std::vector<Node> nodes_;
  std::vector<PyObject*> objects_;  // owned
};

// A builder and a list of leaves out of a pool, empty at first, returned when the scope ends.
// Nested uses get different ones.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  TreeBuilder& tree() { return state_->tree; }
  std::vector<Ref>& leaves() { return state_->leaves; }

 private:
  struct State {
    TreeBuilder tree;
    std::vector<Ref> leaves;
  };
  static std::vector<State*>& pool();
  State* state_;
};

}  // namespace shardax::pytree
