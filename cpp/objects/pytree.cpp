// objects/pytree.cpp - the C functions behind shardax.tree_util, in the module _core.pytree.
#include <pybind11/pybind11.h>

#include "base/index.h"
#include "objects/functions/signature.h"
#include "pytree/flatten.h"
#include "pytree/keys.h"
#include "pytree/level.h"
#include "pytree/map.h"
#include "pytree/prefix_error.h"
#include "pytree/python.h"
#include "pytree/registry.h"
#include "pytree/tree.h"

namespace shardax::pytree {
namespace {

// An is_leaf argument: null where it is absent or None.
PyObject* predicate(PyObject* argument) {
  if (argument == nullptr || argument == Py_None) return nullptr;
  if (!PyCallable_Check(argument)) {
    raise_error(PyExc_TypeError, "is_leaf must be callable or None, got " + repr(argument) + ".");
  }
  return argument;
}

bool flag(PyObject* argument) {
  return argument != nullptr && check(PyObject_IsTrue(argument)) == 1;
}

Ref structure_of(const TreeBuilder& builder) { return Ref::borrow(builder.finish().object()); }

Ref pair(const Ref& a, const Ref& b) { return Ref::checked(PyTuple_Pack(2, a.get(), b.get())); }

PyObject* tree_flatten(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<2> signature{"tree_flatten", {"tree", "is_leaf"}, 1};
    const auto [tree, is_leaf] = signature.bind(args, count, keywords);
    Scratch scratch;
    flatten(tree, scratch.leaves(), scratch.tree(), predicate(is_leaf), Opening::trees);
    return pair(to_list(scratch.leaves()), structure_of(scratch.tree()));
  });
}

PyObject* flatten_for_call(PyObject*, PyObject* tree) {
  return guarded([&] {
    Scratch scratch;
    flatten(tree, scratch.leaves(), scratch.tree());
    return pair(to_list(scratch.leaves()), structure_of(scratch.tree()));
  });
}

PyObject* tree_leaves(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<2> signature{"tree_leaves", {"tree", "is_leaf"}, 1};
    const auto [tree, is_leaf] = signature.bind(args, count, keywords);
    Scratch scratch;
    flatten(tree, scratch.leaves(), scratch.tree(), predicate(is_leaf), Opening::trees);
    return to_list(scratch.leaves());
  });
}

PyObject* tree_structure(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<2> signature{"tree_structure", {"tree", "is_leaf"}, 1};
    const auto [tree, is_leaf] = signature.bind(args, count, keywords);
    Scratch scratch;
    flatten(tree, scratch.leaves(), scratch.tree(), predicate(is_leaf), Opening::trees);
    return structure_of(scratch.tree());
  });
}

PyObject* tree_unflatten(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<2> signature{"tree_unflatten", {"treedef", "leaves"}, 2};
    const auto [treedef, leaves] = signature.bind(args, count, keywords);
    const TreeDefPtr structure = TreeDefPtr::from_object(treedef);
    const Ref items = Ref::checked(PySequence_Tuple(leaves));
    PyObject** first = PySequence_Fast_ITEMS(items.get());
    return unflatten(structure->view(), {first, index(PyTuple_GET_SIZE(items.get()))});
  });
}

// tree_map's own arguments come first and may be given by name; any further positional ones are
// the other trees.
template <std::size_t N>
std::array<PyObject*, N> bind_map(const Signature<N>& signature, PyObject* const* args,
                                  Py_ssize_t count, PyObject* keywords) {
  std::array<PyObject*, N + 2> own{};  // f and tree, then the values of the keywords
  const Py_ssize_t positional = count < 2 ? count : 2;
  for (Py_ssize_t i = 0; i < positional; ++i) own[index(i)] = args[i];
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t i = 0; i < named && i < static_cast<Py_ssize_t>(N); ++i) {
    own[index(positional + i)] = args[count + i];
  }
  return signature.bind(own.data(), positional, keywords);
}

std::span<PyObject* const> rest_of(PyObject* const* args, Py_ssize_t count) {
  if (count <= 2) return {};
  return {args + 2, index(count - 2)};
}

PyObject* tree_map(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<3> signature{"tree_map", {"f", "tree", "is_leaf"}, 2};
    const auto [f, tree, is_leaf] = bind_map(signature, args, count, keywords);
    return map(f, tree, rest_of(args, count), predicate(is_leaf));
  });
}

PyObject* tree_map_with_path(PyObject*, PyObject* const* args, Py_ssize_t count,
                             PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<4> signature{
        "tree_map_with_path", {"f", "tree", "is_leaf", "is_leaf_takes_path"}, 2};
    const auto [f, tree, is_leaf, takes_path] = bind_map(signature, args, count, keywords);
    return map_with_path(f, tree, rest_of(args, count), predicate(is_leaf), flag(takes_path));
  });
}

// The (path, leaf) pairs, and the structure into `builder`.
Ref path_leaf_pairs(PyObject* tree, PyObject* is_leaf, PyObject* takes_path, TreeBuilder& builder) {
  std::vector<Ref> paths, leaves;
  flatten_with_path(tree, paths, leaves, builder, predicate(is_leaf), flag(takes_path));
  for (std::size_t i = 0; i < leaves.size(); ++i) paths[i] = pair(paths[i], leaves[i]);
  return to_list(paths);
}

PyObject* tree_flatten_with_path(PyObject*, PyObject* const* args, Py_ssize_t count,
                                 PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<3> signature{
        "tree_flatten_with_path", {"tree", "is_leaf", "is_leaf_takes_path"}, 1};
    const auto [tree, is_leaf, takes_path] = signature.bind(args, count, keywords);
    Scratch scratch;
    const Ref pairs = path_leaf_pairs(tree, is_leaf, takes_path, scratch.tree());
    return pair(pairs, structure_of(scratch.tree()));
  });
}

PyObject* tree_leaves_with_path(PyObject*, PyObject* const* args, Py_ssize_t count,
                                PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<3> signature{
        "tree_leaves_with_path", {"tree", "is_leaf", "is_leaf_takes_path"}, 1};
    const auto [tree, is_leaf, takes_path] = signature.bind(args, count, keywords);
    Scratch scratch;
    return path_leaf_pairs(tree, is_leaf, takes_path, scratch.tree());
  });
}

PyObject* broadcast_prefix_list(PyObject*, PyObject* const* args, Py_ssize_t count,
                                PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<3> signature{
        "broadcast_prefix", {"prefix_tree", "full_tree", "is_leaf"}, 2};
    const auto [prefix, full, is_leaf] = signature.bind(args, count, keywords);
    std::vector<Ref> values;
    broadcast_prefix(prefix, full, values, predicate(is_leaf));
    return to_list(values);
  });
}

PyObject* tree_broadcast(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<3> signature{
        "tree_broadcast", {"prefix_tree", "full_tree", "is_leaf"}, 2};
    const auto [prefix, full, is_leaf] = signature.bind(args, count, keywords);
    std::vector<Ref> values;
    broadcast_prefix(prefix, full, values, predicate(is_leaf));
    Scratch scratch;
    flatten(full, scratch.leaves(), scratch.tree(), nullptr, Opening::trees);
    return unflatten(scratch.tree().view(), pointers(values));
  });
}

PyObject* prefix_error_list(PyObject*, PyObject* const* args, Py_ssize_t count,
                            PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<4> signature{
        "prefix_errors", {"prefix_tree", "full_tree", "name", "is_leaf"}, 3};
    const auto [prefix, full, name, is_leaf] = signature.bind(args, count, keywords);
    std::vector<Ref> texts;
    for (const std::string& text : prefix_errors(prefix, full, str(name), predicate(is_leaf))) {
      texts.push_back(to_unicode(text));
    }
    return to_list(texts);
  });
}

PyObject* keystr(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<3> signature{"keystr", {"keys", "simple", "separator"}, 1};
    const auto [keys, simple, separator] = signature.bind(args, count, keywords);
    const Ref path = Ref::checked(PySequence_Tuple(keys));
    const auto size = index(PyTuple_GET_SIZE(path.get()));
    return to_unicode(key_string({PySequence_Fast_ITEMS(path.get()), size}, flag(simple),
                                 separator == nullptr ? "" : str(separator)));
  });
}

PyObject* treedef_tuple(PyObject*, PyObject* treedefs) {
  return guarded([&] {
    const Ref items = Ref::checked(PySequence_Tuple(treedefs));
    std::vector<TreeDefPtr> children;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
      children.push_back(TreeDefPtr::from_object(PyTuple_GET_ITEM(items.get(), i)));
    }
    return Ref::borrow(TreeDef::tuple(children).object());
  });
}

// None for a leaf, else (children, metadata), or with keys ((key, child) pairs, metadata).
Ref one_level(PyObject* tree, bool with_keys) {
  Level level;
  if (!take_apart(tree, with_keys, level)) return Ref::borrow(Py_None);
  if (with_keys) {
    for (std::size_t i = 0; i < level.children.size(); ++i) {
      level.children[i] = pair(level.keys[i], level.children[i]);
    }
  }
  Ref children = to_list(level.children);
  const Kind kind = level.type.kind;
  const bool as_tuple = kind == Kind::none || kind == Kind::tuple || kind == Kind::dict ||
                        kind == (with_keys ? Kind::list : Kind::custom);
  if (as_tuple) children = Ref::checked(PyList_AsTuple(children.get()));
  return pair(children, level.metadata());
}

PyObject* flatten_one_level(PyObject*, PyObject* tree) {
  return guarded([&] { return one_level(tree, false); });
}

PyObject* flatten_one_level_with_keys(PyObject*, PyObject* tree) {
  return guarded([&] { return one_level(tree, true); });
}

PyObject* is_tree_node(PyObject*, PyObject* type) {
  return guarded([&] { return Ref::borrow(is_registered(type) ? Py_True : Py_False); });
}

PyObject* register_node(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<5> signature{
        "register_node",
        {"type", "to_iterable", "from_iterable", "to_iterable_with_keys", "calls_only"},
        3};
    const auto [type, flatten, unflatten, with_keys, calls] = signature.bind(args, count, keywords);
    for (PyObject* function : {flatten, unflatten}) {
      if (!PyCallable_Check(function)) {
        raise_error(PyExc_TypeError, "register_pytree_node: " + repr(function) +
                                         " is not callable; expected a "
                                         "function that flattens or unflattens " +
                                         repr(type) + ".");
      }
    }
    register_custom(type, flatten, unflatten, with_keys == nullptr ? Py_None : with_keys,
                    flag(calls) ? Opening::calls : Opening::trees);
    return Ref::borrow(Py_None);
  });
}

PyObject* register_dataclass_node(PyObject*, PyObject* const* args, Py_ssize_t count,
                                  PyObject* keywords) {
  return guarded([&] {
    static constexpr Signature<3> signature{
        "register_dataclass_node", {"type", "data_fields", "meta_fields"}, 3};
    const auto [type, data_fields, meta_fields] = signature.bind(args, count, keywords);
    register_dataclass(type, data_fields, meta_fields);
    return Ref::borrow(type);
  });
}

using Vectorcall = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

PyMethodDef with_keywords(const char* name, Vectorcall function, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function)),
          METH_FASTCALL | METH_KEYWORDS, doc};
}

PyMethodDef pytree_functions[] = {
    with_keywords("tree_flatten", tree_flatten,
                  "tree_flatten(tree, is_leaf=None)\n--\n\n"
                  "The list of a tree's leaves, and its structure as a PyTreeDef.\n\n"
                  "Dictionaries are read in the order of their keys. `is_leaf(node)` says which "
                  "nodes\ncount as leaves.\n\n"
                  ">>> leaves, structure = shardax.tree.flatten({'b': (2, 3), 'a': 1})\n"
                  ">>> leaves, structure\n"
                  "([1, 2, 3], PyTreeDef({'a': *, 'b': (*, *)}))"),
    {"flatten_for_call", flatten_for_call, METH_O,
     "flatten_for_call($module, tree, /)\n--\n\ntree_flatten as calls do it: values that stand for "
     "arrays are opened."},
    with_keywords("tree_leaves", tree_leaves,
                  "tree_leaves(tree, is_leaf=None)\n--\n\nThe list of a tree's leaves.\n\n"
                  ">>> shardax.tree.leaves({'b': (2, 3), 'a': 1})\n[1, 2, 3]"),
    with_keywords("tree_structure", tree_structure,
                  "tree_structure(tree, is_leaf=None)\n--\n\nA tree's structure as a PyTreeDef.\n\n"
                  ">>> shardax.tree.structure({'b': (2, 3), 'a': 1})\n"
                  "PyTreeDef({'a': *, 'b': (*, *)})"),
    with_keywords("tree_unflatten", tree_unflatten,
                  "tree_unflatten(treedef, leaves)\n--\n\n"
                  "The tree of the given structure and leaves: the reverse of tree_flatten.\n\n"
                  ">>> structure = shardax.tree.structure({'b': (2, 3), 'a': 1})\n"
                  ">>> shardax.tree.unflatten(structure, [10, 20, 30])\n"
                  "{'a': 10, 'b': (20, 30)}"),
    with_keywords(
        "tree_map", tree_map,
        "tree_map(f, tree, *rest, is_leaf=None)\n--\n\n"
        "The tree of f(leaf, ...), called with each leaf of `tree` and the values at the "
        "same\nplaces of the trees in `rest`, which must have `tree` as a prefix.\n\n"
        ">>> shardax.tree.map(lambda x, y: x + y, {'a': 1, 'b': (2,)}, {'a': 10, 'b': (20,)})\n"
        "{'a': 11, 'b': (22,)}"),
    with_keywords("tree_map_with_path", tree_map_with_path,
                  "tree_map_with_path(f, tree, *rest, is_leaf=None, is_leaf_takes_path=False)"
                  "\n--\n\ntree_map with f(path, leaf, ...), a path being a tuple of keys.\n\n"
                  ">>> name = lambda path, x: shardax.tree_util.keystr(path)\n"
                  ">>> shardax.tree.map_with_path(name, {'a': 1, 'b': (2,)})\n"
                  "{'a': \"['a']\", 'b': (\"['b'][0]\",)}"),
    with_keywords("tree_flatten_with_path", tree_flatten_with_path,
                  "tree_flatten_with_path(tree, is_leaf=None, is_leaf_takes_path=False)\n--\n\n"
                  "The list of (path, leaf) pairs, and the structure.\n\n"
                  ">>> shardax.tree.flatten_with_path({'a': 1})[0]\n"
                  "[((DictKey(key='a'),), 1)]"),
    with_keywords("tree_leaves_with_path", tree_leaves_with_path,
                  "tree_leaves_with_path(tree, is_leaf=None, is_leaf_takes_path=False)\n--\n\n"
                  "The list of (path, leaf) pairs.\n\n"
                  ">>> shardax.tree.leaves_with_path([5])\n[((SequenceKey(idx=0),), 5)]"),
    with_keywords("tree_broadcast", tree_broadcast,
                  "tree_broadcast(prefix_tree, full_tree, is_leaf=None)\n--\n\n"
                  "A tree with the structure of `full_tree` and, at each leaf, the value of the "
                  "leaf of\n`prefix_tree` above it.\n\n"
                  ">>> shardax.tree.broadcast([1, 2], [(0, 0), 0])\n[(1, 1), 2]"),
    with_keywords("broadcast_prefix", broadcast_prefix_list,
                  "broadcast_prefix(prefix_tree, full_tree, is_leaf=None)\n--\n\n"
                  "The leaves of tree_broadcast as a list.\n\n"
                  ">>> shardax.tree_util.broadcast_prefix([1, 2], [(0, 0), 0])\n[1, 1, 2]"),
    with_keywords("prefix_errors", prefix_error_list,
                  "prefix_errors(prefix_tree, full_tree, name, is_leaf=None)\n--\n\n"
                  "A text for each place where `prefix_tree` is not a prefix of `full_tree`.\n\n"
                  ">>> len(shardax.tree_util.prefix_errors([1, 2], [0], 'in_axes'))\n1"),
    with_keywords("keystr", keystr,
                  "keystr(keys, *, simple=False, separator='')\n--\n\n"
                  "A key path as text, such as ['a'][0].x; a0x if simple.\n\n"
                  ">>> path, _ = shardax.tree.leaves_with_path({'a': [5]})[0]\n"
                  ">>> shardax.tree_util.keystr(path)\n\"['a'][0]\""),
    {"treedef_tuple", treedef_tuple, METH_O,
     "treedef_tuple(treedefs, /)\n--\n\nThe structure of a tuple of the given structures.\n\n"
     ">>> leaf = shardax.tree.structure(0)\n"
     ">>> shardax.tree_util.treedef_tuple([leaf, leaf])\nPyTreeDef((*, *))"},
    {"flatten_one_level", flatten_one_level, METH_O,
     "flatten_one_level(tree, /)\n--\n\n(children, metadata) of a node, or None for a leaf."},
    {"flatten_one_level_with_keys", flatten_one_level_with_keys, METH_O,
     "flatten_one_level_with_keys(tree, /)\n--\n\n"
     "((key, child) pairs, metadata) of a node, or None for a leaf."},
    {"is_tree_node", is_tree_node, METH_O,
     "is_tree_node(type, /)\n--\n\nWhether instances of `type` are nodes.\n\n"
     ">>> shardax.tree_util.is_tree_node(dict), shardax.tree_util.is_tree_node(int)\n"
     "(True, False)"},
    with_keywords("register_node", register_node,
                  "register_node(type, to_iterable, from_iterable, to_iterable_with_keys=None, "
                  "calls_only=False)\n--\n\nMakes instances of `type` nodes; with `calls_only` "
                  "where calls take arguments apart, and leaves elsewhere."),
    with_keywords("register_dataclass_node", register_dataclass_node,
                  "register_dataclass_node(type, data_fields, meta_fields)\n--\n\n"
                  "Makes instances of `type` nodes, by the names of their attributes."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace
}  // namespace shardax::pytree

namespace shardax {

void init_pytree(pybind11::module_& m) {
  using namespace pytree;
  pybind11::module_ sub = m.def_submodule("pytree", "Trees of Python containers.");
  const auto add = [&](const char* name, PyObject* object) {
    if (object == nullptr || PyModule_AddObjectRef(sub.ptr(), name, object) != 0) {
      throw pybind11::error_already_set();
    }
  };
  try {
    // The registry and the types are made here, where no other thread can ask for them meanwhile.
    node_type(Py_TYPE(Py_None));
    add("PyTreeDef", reinterpret_cast<PyObject*>(TreeDef::type()));
  } catch (const PythonError&) {
    throw pybind11::error_already_set();
  }
  add("DictKey", key_type(KeyKind::dict));
  add("SequenceKey", key_type(KeyKind::sequence));
  add("GetAttrKey", key_type(KeyKind::attribute));
  add("FlattenedIndexKey", key_type(KeyKind::flat_index));
  if (PyModule_AddFunctions(sub.ptr(), pytree_functions) != 0) throw pybind11::error_already_set();
}

}  // namespace shardax
