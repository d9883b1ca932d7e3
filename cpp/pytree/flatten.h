// pytree/flatten.h - from a tree to its leaves and structure, and back.
//
// All functions need the GIL, throw PythonError, and append to their outputs. Leaves are in the
// order of the nodes: dict keys sorted, OrderedDict keys in insertion order, None has no leaf.
// Outputs of a call that throws are good for clear() only.
#pragma once

#include <span>
#include <vector>

#include "pytree/ref.h"
#include "pytree/registry.h"
#include "pytree/tree.h"

namespace shardax::pytree {

// Appends the leaves of `tree` and its structure (one subtree). `is_leaf`, unless null, is asked
// for each node before it is opened and stops the descent by returning True.
void flatten(PyObject* tree, std::vector<Ref>& leaves, TreeBuilder& structure,
             PyObject* is_leaf = nullptr, Opening opening = Opening::calls);

// The same for the arguments of a vectorcall, as the tree ((positional...), {keyword: ...}).
// `names` is the tuple of keyword names or null; their values follow the positional arguments.
void flatten_args(PyObject* const* args, std::size_t num_positional, PyObject* names,
                  std::vector<Ref>& leaves, TreeBuilder& structure);

// flatten with, for each leaf, the tuple of keys that leads to it. With `is_leaf_takes_path`
// is_leaf gets (path, value).
void flatten_with_path(PyObject* tree, std::vector<Ref>& paths, std::vector<Ref>& leaves,
                       TreeBuilder& structure, PyObject* is_leaf, bool is_leaf_takes_path);

// The tree with this structure and these leaves (borrowed); ValueError if they are too few or many.
Ref unflatten(TreeView structure, std::span<PyObject* const> leaves);

// Appends the subtrees of `tree` at the places of the leaves of `prefix`. ValueError where `tree`
// differs from `prefix` above them.
void flatten_up_to(TreeView prefix, PyObject* tree, std::vector<Ref>& subtrees);

// Appends, for each leaf of `full`, the leaf of `prefix` that stands for it. False if `prefix` is
// not a prefix of `full`; the outputs are then unspecified. With `none_is_leaf`, None in `prefix`
// stands for any subtree, as in pmap's in_axes.
bool broadcast_to(PyObject* prefix, TreeView full, bool none_is_leaf, std::vector<Ref>& values);

}  // namespace shardax::pytree
