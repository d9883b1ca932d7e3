// pytree/map.cpp - flatten the first tree, walk the others along it, call, put together.
#include "pytree/map.h"

#include "base/small_vector.h"
#include "pytree/flatten.h"
#include "pytree/prefix_error.h"

namespace shardax::pytree {
namespace {

// flatten_up_to, with an error that names the key path.
void follow(TreeView prefix, PyObject* tree, PyObject* other, PyObject* is_leaf, const char* name,
            std::vector<Ref>& subtrees) {
  try {
    flatten_up_to(prefix, other, subtrees);
  } catch (const PythonError&) {
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw;
    const Ref error = take_error();
    const std::string text = prefix_error(tree, other, name, is_leaf);
    if (!text.empty()) raise_error(PyExc_ValueError, text);
    restore_error(error);
    throw;
  }
}

// Calls f for each leaf: `columns` holds one list of arguments after another, each num_leaves long.
Ref call_and_build(PyObject* f, TreeView structure, const std::vector<Ref>& columns,
                   std::size_t num_columns) {
  const std::size_t num_leaves = structure.num_leaves();
  std::vector<Ref> results;
  results.reserve(num_leaves);
  SmallVector<PyObject*, 8> args(num_columns + 1, nullptr);
  for (std::size_t i = 0; i < num_leaves; ++i) {
    for (std::size_t k = 0; k < num_columns; ++k) args[k + 1] = columns[k * num_leaves + i].get();
    results.push_back(Ref::checked(PyObject_Vectorcall(
        f, args.data() + 1, num_columns | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr)));
  }
  return unflatten(structure, pointers(results));
}

}  // namespace

Ref map(PyObject* f, PyObject* tree, std::span<PyObject* const> rest, PyObject* is_leaf) {
  Scratch scratch;
  flatten(tree, scratch.leaves(), scratch.tree(), is_leaf, Opening::trees);
  const TreeView structure = scratch.tree().view();
  for (PyObject* other : rest) {
    follow(structure, tree, other, is_leaf, "tree_map tree", scratch.leaves());
  }
  return call_and_build(f, structure, scratch.leaves(), rest.size() + 1);
}

Ref map_with_path(PyObject* f, PyObject* tree, std::span<PyObject* const> rest, PyObject* is_leaf,
                  bool is_leaf_takes_path) {
  Scratch scratch;
  std::vector<Ref> leaves;
  std::vector<Ref>& columns = scratch.leaves();
  flatten_with_path(tree, columns, leaves, scratch.tree(), is_leaf, is_leaf_takes_path);
  columns.insert(columns.end(), leaves.begin(), leaves.end());
  const TreeView structure = scratch.tree().view();
  PyObject* value_is_leaf = is_leaf_takes_path ? nullptr : is_leaf;
  for (PyObject* other : rest) {
    follow(structure, tree, other, value_is_leaf, "tree_map_with_path tree", columns);
  }
  return call_and_build(f, structure, columns, rest.size() + 2);
}

void broadcast_prefix(PyObject* prefix, PyObject* full, std::vector<Ref>& values,
                      PyObject* is_leaf) {
  Scratch scratch;
  flatten(prefix, scratch.leaves(), scratch.tree(), is_leaf, Opening::trees);
  std::vector<Ref> subtrees;
  follow(scratch.tree().view(), prefix, full, is_leaf, "broadcast_prefix prefix_tree", subtrees);
  for (std::size_t i = 0; i < subtrees.size(); ++i) {
    Scratch inner;
    flatten(subtrees[i].get(), inner.leaves(), inner.tree(), nullptr, Opening::trees);
    values.insert(values.end(), inner.leaves().size(), scratch.leaves()[i]);
  }
}

}  // namespace shardax::pytree
