// pytree/map.h - functions over whole trees: map and broadcast.
#pragma once

#include <span>
#include <vector>

#include "pytree/ref.h"

namespace shardax::pytree {

// The tree of f(leaf, subtree of each of `rest` at the leaf's place). The trees in `rest` must have
// `tree` as a prefix; ValueError names the first place where one does not.
Ref map(PyObject* f, PyObject* tree, std::span<PyObject* const> rest, PyObject* is_leaf = nullptr);

// map with f(path, leaf, ...), where a path is a tuple of keys.
Ref map_with_path(PyObject* f, PyObject* tree, std::span<PyObject* const> rest, PyObject* is_leaf,
                  bool is_leaf_takes_path);

// Appends the leaf of `prefix` that stands for each leaf of `full`; ValueError where `prefix` is
// not a prefix of `full`. `is_leaf` is asked for nodes of `prefix`.
void broadcast_prefix(PyObject* prefix, PyObject* full, std::vector<Ref>& values,
                      PyObject* is_leaf = nullptr);

}  // namespace shardax::pytree
