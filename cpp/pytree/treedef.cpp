// pytree/treedef.cpp - TreeDef as the Python type PyTreeDef: allocation, collection, methods.
#include <algorithm>
#include <new>

#include "base/index.h"
#include "pytree/flatten.h"
#include "pytree/level.h"
#include "pytree/python.h"
#include "pytree/tree.h"

namespace shardax::pytree {
namespace {

const TreeDef& self_of(PyObject* self) { return *reinterpret_cast<const TreeDef*>(self); }

// Strings, integers and the like cannot be part of a cycle.
bool may_form_cycle(PyObject* object) { return PyObject_IS_GC(object) != 0; }

int treedef_traverse(PyObject* self, visitproc visit, void* arg) {
  for (PyObject* object : reinterpret_cast<TreeDef*>(self)->owned_objects()) Py_VISIT(object);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

// A cleared structure stays well formed: None takes the place of its objects.
int treedef_clear(PyObject* self) {
  const CoreLock lock;
  for (PyObject*& object : reinterpret_cast<TreeDef*>(self)->owned_objects()) {
    PyObject* old = object;
    object = Py_None;
    Py_INCREF(Py_None);
    Py_DECREF(old);
  }
  return 0;
}

void treedef_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);  // before the lock: pytree/core_lock.h
  const CoreLock lock;
  PyTypeObject* type = Py_TYPE(self);
  Py_TRASHCAN_BEGIN(self, treedef_dealloc);
  for (PyObject* object : reinterpret_cast<TreeDef*>(self)->owned_objects()) Py_DECREF(object);
  PyObject_GC_Del(self);
  Py_DECREF(type);
  Py_TRASHCAN_END;
}

PyObject* treedef_repr(PyObject* self) {
  return guarded([&] { return to_unicode(self_of(self).to_string()); });
}

Py_hash_t treedef_hash(PyObject* self) {
  const auto hash = static_cast<Py_hash_t>(self_of(self).hash());
  return hash == -1 ? -2 : hash;
}

PyObject* treedef_compare(PyObject* self, PyObject* other, int op) {
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  if (Py_TYPE(other) != TreeDef::type()) return PyBool_FromLong(op == Py_NE);
  return guarded([&] {
    const bool same = self_of(self) == self_of(other);
    return Ref::borrow(same == (op == Py_EQ) ? Py_True : Py_False);
  });
}

PyObject* treedef_unflatten(PyObject* self, PyObject* iterable) {
  return guarded([&] {
    // A tuple: building the tree runs user code, which may change a list of leaves.
    const Ref leaves = Ref::checked(PySequence_Tuple(iterable));
    const auto count = index(PyTuple_GET_SIZE(leaves.get()));
    return unflatten(self_of(self).view(), {PySequence_Fast_ITEMS(leaves.get()), count});
  });
}

PyObject* treedef_flatten_up_to(PyObject* self, PyObject* tree) {
  return guarded([&] {
    std::vector<Ref> subtrees;
    flatten_up_to(self_of(self).view(), tree, subtrees);
    return to_list(subtrees);
  });
}

PyObject* treedef_compose(PyObject* self, PyObject* inner) {
  return guarded(
      [&] { return Ref::borrow(self_of(self).compose(*TreeDefPtr::from_object(inner)).object()); });
}

PyObject* treedef_children(PyObject* self, PyObject*) {
  return guarded([&] {
    std::vector<Ref> children;
    for (const TreeDefPtr& child : self_of(self).children()) {
      children.push_back(Ref::borrow(child.object()));
    }
    return to_list(children);
  });
}

// The data of a node that users see: dict keys as a list, a named tuple's type only once.
Ref visible_data(TreeView tree, const Node& node) {
  if (node.kind == Kind::named_tuple) return Ref::borrow(Py_None);
  Ref data = metadata_of(tree, node);
  if (node.kind == Kind::dict) return Ref::checked(PySequence_List(data.get()));
  return data;
}

PyObject* treedef_node_data(PyObject* self, PyObject*) {
  return guarded([&] {
    const TreeView tree = self_of(self).view();
    const Node& root = tree.nodes[0];
    if (root.kind == Kind::leaf) return Ref::borrow(Py_None);
    const Ref data = visible_data(tree, root);
    return Ref::checked(PyTuple_Pack(2, type_of(tree, root), data.get()));
  });
}

Ref walk(TreeView tree, std::size_t& at, PyObject* const*& leaf, PyObject* f_node,
         PyObject* f_leaf) {
  const Node& node = tree.nodes[at++];
  if (node.kind == Kind::leaf) {
    PyObject* value = *leaf++;
    if (f_leaf == Py_None) return Ref::borrow(value);
    return Ref::checked(PyObject_CallOneArg(f_leaf, value));
  }
  const RecursionGuard guard(" in walk");
  const Ref children = Ref::checked(PyTuple_New(node.arity));
  for (std::uint32_t i = 0; i < node.arity; ++i) {
    PyTuple_SET_ITEM(children.get(), i, walk(tree, at, leaf, f_node, f_leaf).release());
  }
  const Ref data = visible_data(tree, node);
  return Ref::checked(PyObject_CallFunctionObjArgs(f_node, children.get(), data.get(), nullptr));
}

PyObject* treedef_walk(PyObject* self, PyObject* args) {
  return guarded([&] {
    PyObject *f_node, *f_leaf, *iterable;
    if (!PyArg_ParseTuple(args, "OOO:walk", &f_node, &f_leaf, &iterable)) throw PythonError();
    const Ref leaves = Ref::checked(PySequence_Tuple(iterable));
    const TreeView tree = self_of(self).view();
    if (PyTuple_GET_SIZE(leaves.get()) != static_cast<Py_ssize_t>(tree.num_leaves())) {
      raise_error(PyExc_ValueError, "walk: expected " + std::to_string(tree.num_leaves()) +
                                        " leaves, got " +
                                        std::to_string(PyTuple_GET_SIZE(leaves.get())));
    }
    std::size_t at = 0;
    PyObject* const* leaf = PySequence_Fast_ITEMS(leaves.get());
    return walk(tree, at, leaf, f_node, f_leaf);
  });
}

Ref from_iterables(TreeView tree, std::size_t& at, PyObject* value) {
  const Node& node = tree.nodes[at++];
  if (node.kind == Kind::leaf) return Ref::borrow(value);
  const RecursionGuard guard(" in from_iterable_tree");
  const Ref items = Ref::checked(PySequence_Tuple(value));
  if (PyTuple_GET_SIZE(items.get()) != static_cast<Py_ssize_t>(node.arity)) {
    raise_error(PyExc_ValueError,
                "Arity mismatch between trees: " + std::to_string(PyTuple_GET_SIZE(items.get())) +
                    " items for " + std::to_string(node.arity) + " children");
  }
  std::vector<Ref> children;
  for (std::uint32_t i = 0; i < node.arity; ++i) {
    children.push_back(from_iterables(tree, at, PyTuple_GET_ITEM(items.get(), i)));
  }
  return put_together(tree, node, pointers(children));
}

PyObject* treedef_from_iterable_tree(PyObject* self, PyObject* value) {
  return guarded([&] {
    std::size_t at = 0;
    return from_iterables(self_of(self).view(), at, value);
  });
}

// The objects of a node out of the data that node_data shows.
std::vector<Ref> objects_from_data(NodeType type, PyObject* python_type, PyObject* data) {
  std::vector<Ref> objects;
  PyObject* keys = nullptr;
  switch (type.kind) {
    case Kind::dict:
    case Kind::ordered_dict: keys = data; break;
    case Kind::default_dict:
      if (!PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) {
        raise_error(PyExc_ValueError,
                    "A defaultdict's node data is (factory, keys), got " + repr(data) + ".");
      }
      objects.push_back(Ref::borrow(PyTuple_GET_ITEM(data, 0)));
      keys = PyTuple_GET_ITEM(data, 1);
      break;
    case Kind::named_tuple: objects.push_back(Ref::borrow(python_type)); break;
    case Kind::custom:
    case Kind::dataclass: objects.push_back(Ref::borrow(data)); break;
    default: break;
  }
  if (keys != nullptr) {
    const Ref tuple = Ref::checked(PySequence_Tuple(keys));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i) {
      objects.push_back(Ref::borrow(PyTuple_GET_ITEM(tuple.get(), i)));
    }
  }
  return objects;
}

// Checks the assumptions of unflatten.
void check_parts(NodeType type, std::size_t arity, const std::vector<Ref>& objects) {
  const Node node{type.kind, static_cast<std::uint32_t>(arity), 0, 1, 0, type.id};
  if (num_objects(node) != objects.size()) {
    raise_error(PyExc_ValueError, "Number of keys and entries does not match.");
  }
  bool fits = type.kind != Kind::none || arity == 0;
  if (type.kind == Kind::dataclass) {
    const Registration& record = registration(type.id);
    PyObject* meta = objects[0].get();
    fits = arity == record.data_fields.size() && PyTuple_Check(meta) &&
           PyTuple_GET_SIZE(meta) == static_cast<Py_ssize_t>(record.meta_fields.size());
  }
  if (!fits) raise_error(PyExc_ValueError, "Node data and children do not fit the node's type.");
}

PyObject* treedef_from_node_data(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *registry, *node_data, *iterable, *python_type, *data;
    if (!PyArg_ParseTuple(args, "OOO:from_node_data_and_children", &registry, &node_data,
                          &iterable)) {
      throw PythonError();
    }
    const Ref children = Ref::checked(PySequence_Tuple(iterable));
    TreeBuilder builder;
    if (node_data == Py_None) {
      builder.add_leaf();
      return Ref::borrow(builder.finish().object());
    }
    if (!PyTuple_Check(node_data) || PyTuple_GET_SIZE(node_data) != 2) {
      raise_error(PyExc_TypeError,
                  "from_node_data_and_children: node_data is " + repr(node_data) +
                      "; None (a leaf) or a pair (type, data) was expected, as node_data() gives.");
    }
    python_type = PyTuple_GET_ITEM(node_data, 0);
    data = PyTuple_GET_ITEM(node_data, 1);
    const NodeType type = PyType_Check(python_type)
                              ? node_type(reinterpret_cast<PyTypeObject*>(python_type))
                              : NodeType{};
    if (type.kind == Kind::leaf) {
      raise_error(PyExc_ValueError, "Could not find type: " + repr(python_type) + ".");
    }
    const std::vector<Ref> objects = objects_from_data(type, python_type, data);
    const auto arity = index(PyTuple_GET_SIZE(children.get()));
    const std::size_t index = builder.open(type.kind, arity, type.id);
    for (const Ref& object : objects) builder.add_object(object.get());
    check_parts(type, arity, objects);
    std::size_t num_leaves = 0;
    for (std::size_t i = 0; i < arity; ++i) {
      const auto child = TreeDefPtr::from_object(PyTuple_GET_ITEM(children.get(), i));
      builder.append(child->view());
      num_leaves += child->num_leaves();
    }
    builder.close(index, num_leaves);
    return Ref::borrow(builder.finish().object());
  });
}

// Pickled as nested from_node_data_and_children calls, so types are found by name.
PyObject* treedef_reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const Ref function = Ref::checked(PyObject_GetAttrString(
        reinterpret_cast<PyObject*>(TreeDef::type()), "from_node_data_and_children"));
    const Ref data = Ref::checked(treedef_node_data(self, nullptr));
    const Ref children = Ref::checked(treedef_children(self, nullptr));
    return Ref::checked(
        Py_BuildValue("O(OOO)", function.get(), Py_None, data.get(), children.get()));
  });
}

PyObject* treedef_num_leaves(PyObject* self, void*) {
  return PyLong_FromSize_t(self_of(self).num_leaves());
}
PyObject* treedef_num_nodes(PyObject* self, void*) {
  return PyLong_FromSize_t(self_of(self).num_nodes());
}

PyMethodDef methods[] = {
    {"unflatten", treedef_unflatten, METH_O,
     "unflatten($self, leaves, /)\n--\n\nThe tree of this structure with the given leaves."},
    {"flatten_up_to", treedef_flatten_up_to, METH_O,
     "flatten_up_to($self, tree, /)\n--\n\nThe subtrees of `tree` at the places of the leaves."},
    {"compose", treedef_compose, METH_O,
     "compose($self, inner, /)\n--\n\nThis structure with each leaf replaced by `inner`."},
    {"children", treedef_children, METH_NOARGS,
     "children($self, /)\n--\n\nThe structures of the root's children."},
    {"node_data", treedef_node_data, METH_NOARGS,
     "node_data($self, /)\n--\n\n(type, data) of the root, or None for a leaf."},
    {"walk", treedef_walk, METH_VARARGS,
     "walk($self, f_node, f_leaf, leaves, /)\n--\n\n"
     "f_leaf(leaf) at leaves, then f_node(children's results, node data) at nodes."},
    {"from_iterable_tree", treedef_from_iterable_tree, METH_O,
     "from_iterable_tree($self, tree, /)\n--\n\n"
     "The tree of this structure whose nodes are given as nested iterables."},
    {"from_node_data_and_children", treedef_from_node_data, METH_VARARGS | METH_CLASS,
     "from_node_data_and_children($type, registry, node_data, children, /)\n--\n\n"
     "The structure with this node_data() and these children()."},
    {"__reduce__", treedef_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"num_leaves", treedef_num_leaves, nullptr, "The number of leaves.", nullptr},
    {"num_nodes", treedef_num_nodes, nullptr, "The number of nodes, leaves included.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject* make_type() {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(treedef_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(treedef_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(treedef_clear)},
      {Py_tp_repr, reinterpret_cast<void*>(treedef_repr)},
      {Py_tp_hash, reinterpret_cast<void*>(treedef_hash)},
      {Py_tp_richcompare, reinterpret_cast<void*>(treedef_compare)},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_tp_doc, const_cast<char*>("The structure of a tree: its nodes without the leaves.")},
      {0, nullptr},
  };
  PyType_Spec spec{"shardax.tree_util.PyTreeDef", sizeof(TreeDef), 1,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   slots};
  return reinterpret_cast<PyTypeObject*>(Ref::checked(PyType_FromSpec(&spec)).release());
}

}  // namespace

PyTypeObject* TreeDef::type() {
  static PyTypeObject* made = nullptr;
  return made_once(made, make_type);
}

std::span<PyObject*> TreeDef::owned_objects() {
  return {const_cast<PyObject**>(objects()), num_objects_};
}

TreeDefPtr TreeDef::make(TreeView tree) {
  const std::size_t hash = hash_of(tree);
  const std::size_t count = tree.object_count();
  const std::size_t bytes = tree.nodes.size_bytes() + count * sizeof(PyObject*);
  // Python's size field counts the bytes behind the header, the type's item size being one.
  auto* self = PyObject_GC_NewVar(TreeDef, type(), static_cast<Py_ssize_t>(bytes));
  if (self == nullptr) throw PythonError();
  self->hash_ = hash;
  self->num_nodes_ = static_cast<std::uint32_t>(tree.nodes.size());
  self->num_objects_ = static_cast<std::uint32_t>(count);
  std::copy(tree.nodes.begin(), tree.nodes.end(), const_cast<Node*>(self->nodes()));
  bool collectable = false;
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* object = tree.objects[i];
    Py_INCREF(object);
    self->owned_objects()[i] = object;
    collectable = collectable || may_form_cycle(object);
  }
  PyObject* const object = self->object();
  if (collectable) PyObject_GC_Track(object);
  return TreeDefPtr(Ref::steal(object));
}

TreeDefPtr TreeDefPtr::from_object(PyObject* object) {
  if (Py_TYPE(object) != TreeDef::type()) {
    raise_error(PyExc_TypeError, "expected a PyTreeDef, got " + repr(object));
  }
  return TreeDefPtr(Ref::borrow(object));
}

}  // namespace shardax::pytree
