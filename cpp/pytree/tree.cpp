// pytree/tree.cpp - hashing, comparing, printing and combining structures.
#include "pytree/tree.h"

#include <cstring>

#include "base/hash.h"

namespace shardax::pytree {
namespace {

bool same_object(PyObject* a, PyObject* b) {
  if (a == b) return true;
  const int result = PyObject_RichCompareBool(a, b, Py_EQ);
  if (result < 0) {
    raise_from(PyExc_ValueError,
               "Exception raised while checking equality of metadata fields of pytree. Metadata "
               "must be hashable and compare to a plain bool; arrays cannot be metadata.");
  }
  return result == 1;
}

Ref tuple_of(PyObject* const* objects, std::size_t count) {
  Ref tuple = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (std::size_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), Ref::borrow(objects[i]).release());
  }
  return tuple;
}

std::string name_of(PyObject* type) {
  if (!PyType_Check(type)) return repr(type);
  return text_of(Ref::checked(PyObject_GetAttrString(type, "__name__")).get());
}

class Printer {
 public:
  explicit Printer(TreeView tree) : tree_(tree) {}

  void print(std::string& out) {
    const RecursionGuard guard(" in printing a PyTreeDef");
    const Node& node = tree_.nodes[at_++];
    switch (node.kind) {
      case Kind::leaf: out += '*'; return;
      case Kind::none: out += "None"; return;
      case Kind::tuple:
        out += '(';
        children(node, out);
        out += node.arity == 1 ? ",)" : ")";
        return;
      case Kind::list:
        out += '[';
        children(node, out);
        out += ']';
        return;
      case Kind::dict: return dict(node, out);
      default: return custom(node, out);
    }
  }

 private:
  void children(const Node& node, std::string& out) {
    for (std::uint32_t i = 0; i < node.arity; ++i) {
      if (i != 0) out += ", ";
      print(out);
    }
  }

  void dict(const Node& node, std::string& out) {
    out += '{';
    for (std::uint32_t i = 0; i < node.arity; ++i) {
      if (i != 0) out += ", ";
      out += repr(tree_.object(node, i)) + ": ";
      print(out);
    }
    out += '}';
  }

  void custom(const Node& node, std::string& out) {
    const std::string name = name_of(type_of(tree_, node));
    if (node.kind == Kind::named_tuple) {
      out += "CustomNode(namedtuple[" + name + "], [";
    } else {
      out += "CustomNode(" + name + "[" + str(metadata_of(tree_, node).get()) + "], [";
    }
    children(node, out);
    out += "])";
  }

  TreeView tree_;
  std::size_t at_ = 0;
};

// Copies the subtree at `at` with `inner` for each leaf, moves `at` behind it, counts leaves.
std::size_t substitute(TreeBuilder& out, TreeView outer, std::size_t& at, TreeView inner) {
  const Node& node = outer.nodes[at++];
  if (node.kind == Kind::leaf) {
    out.append(inner);
    return inner.num_leaves();
  }
  const std::size_t index = out.open(node.kind, node.arity, node.type_id);
  for (std::size_t i = 0; i < num_objects(node); ++i) out.add_object(outer.object(node, i));
  std::size_t num_leaves = 0;
  for (std::uint32_t i = 0; i < node.arity; ++i) num_leaves += substitute(out, outer, at, inner);
  out.close(index, num_leaves);
  return num_leaves;
}

}  // namespace

std::size_t num_objects(const Node& node) {
  switch (node.kind) {
    case Kind::dict:
    case Kind::ordered_dict: return node.arity;
    case Kind::default_dict: return node.arity + 1;
    case Kind::named_tuple:
    case Kind::custom:
    case Kind::dataclass: return 1;
    default: return 0;
  }
}

std::size_t hash_of(TreeView tree) {
  std::size_t hash = tree.nodes.size();
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const Node& node = tree.nodes[i];
    if (node.kind == Kind::leaf) continue;  // implied by the places of the other nodes
    std::size_t value = (i << 40) ^ (std::size_t{node.arity} << 8) ^ std::size_t(node.kind) ^
                        (std::size_t{node.type_id} << 24);
    const std::size_t first_key = node.kind == Kind::default_dict ? 1 : 0;
    if (node.kind == Kind::dict || node.kind == Kind::ordered_dict || first_key == 1) {
      for (std::size_t k = 0; k < node.arity; ++k) {
        const Py_hash_t key = PyObject_Hash(tree.object(node, first_key + k));
        if (key == -1) throw PythonError();
        value = value * 31 + static_cast<std::size_t>(key);
      }
    } else if (node.kind == Kind::named_tuple) {
      value ^= reinterpret_cast<std::uintptr_t>(tree.object(node));
    }
    hash = mix(hash, value);
  }
  return hash;
}

bool equal(TreeView a, TreeView b) {
  if (a.nodes.size() != b.nodes.size()) return false;
  if (std::memcmp(a.nodes.data(), b.nodes.data(), a.nodes.size_bytes()) != 0) return false;
  const std::size_t count = a.object_count();
  for (std::size_t i = 0; i < count; ++i) {
    if (!same_object(a.objects[i], b.objects[i])) return false;
  }
  return true;
}

std::string to_string(TreeView tree) {
  std::string out;
  Printer(tree).print(out);
  return out;
}

PyObject* type_of(TreeView tree, const Node& node) {
  switch (node.kind) {
    case Kind::leaf: return nullptr;
    case Kind::none: return reinterpret_cast<PyObject*>(Py_TYPE(Py_None));
    case Kind::tuple: return reinterpret_cast<PyObject*>(&PyTuple_Type);
    case Kind::list: return reinterpret_cast<PyObject*>(&PyList_Type);
    case Kind::dict: return reinterpret_cast<PyObject*>(&PyDict_Type);
    case Kind::ordered_dict: return reinterpret_cast<PyObject*>(ordered_dict_type());
    case Kind::default_dict: return reinterpret_cast<PyObject*>(default_dict_type());
    case Kind::named_tuple: return tree.object(node);
    case Kind::custom:
    case Kind::dataclass: return registration(node.type_id).type.get();
  }
  return nullptr;
}

Ref metadata_of(TreeView tree, const Node& node) {
  switch (node.kind) {
    case Kind::dict:
    case Kind::ordered_dict: return tuple_of(tree.objects + node.objects, node.arity);
    case Kind::default_dict: {
      const Ref keys = tuple_of(tree.objects + node.objects + 1, node.arity);
      return Ref::checked(PyTuple_Pack(2, tree.object(node), keys.get()));
    }
    case Kind::named_tuple:
    case Kind::custom:
    case Kind::dataclass: return Ref::borrow(tree.object(node));
    default: return Ref::borrow(Py_None);
  }
}

std::span<const Node> subtree(TreeView tree, std::size_t at) {
  return tree.nodes.subspan(at, tree.nodes[at].num_nodes);
}

void TreeBuilder::append(TreeView tree, std::size_t at) {
  const std::span<const Node> part = subtree(tree, at);
  const std::size_t first = part.front().objects;
  const std::size_t last = part.back().objects + num_objects(part.back());
  const std::size_t base = objects_.size();
  for (const Node& node : part) {
    nodes_.push_back(node);
    nodes_.back().objects = static_cast<std::uint32_t>(node.objects - first + base);
  }
  for (std::size_t i = first; i < last; ++i) add_object(tree.objects[i]);
}

void TreeBuilder::clear() {
  nodes_.clear();
  while (!objects_.empty()) {
    PyObject* object = objects_.back();
    objects_.pop_back();
    Py_DECREF(object);
  }
}

std::vector<TreeDefPtr> TreeDef::children() const {
  std::vector<TreeDefPtr> result;
  std::size_t at = 1;
  for (std::uint32_t i = 0; i < nodes()->arity; ++i) {
    TreeBuilder builder;
    builder.append(view(), at);
    result.push_back(builder.finish());
    at += nodes()[at].num_nodes;
  }
  return result;
}

TreeDefPtr TreeDef::compose(const TreeDef& inner) const {
  TreeBuilder builder;
  std::size_t at = 0;
  substitute(builder, view(), at, inner.view());
  return builder.finish();
}

TreeDefPtr TreeDef::tuple(std::span<const TreeDefPtr> children) {
  TreeBuilder builder;
  const std::size_t root = builder.open(Kind::tuple, children.size());
  std::size_t num_leaves = 0;
  for (const TreeDefPtr& child : children) {
    builder.append(child->view());
    num_leaves += child->num_leaves();
  }
  builder.close(root, num_leaves);
  return builder.finish();
}

std::vector<Scratch::State*>& Scratch::pool() {
  // Never destroyed, like everything that may hold references when the interpreter goes.
  static auto* instance = new std::vector<State*>();
  return *instance;
}

Scratch::Scratch() {
  if (pool().empty()) {
    state_ = new State();
  } else {
    state_ = pool().back();
    pool().pop_back();
  }
}

Scratch::~Scratch() {
  state_->leaves.clear();
  state_->tree.clear();
  // A tree of this size takes far longer to flatten than the allocation it would save.
  constexpr std::size_t largest_kept = 4096;
  if (state_->leaves.capacity() > largest_kept || state_->tree.capacity() > largest_kept) {
    delete state_;
  } else {
    pool().push_back(state_);
  }
}

}  // namespace shardax::pytree
