// pytree/prefix_error.h - errors of trees that are not prefixes of others.
//
//   pytree structure error: different lengths of tuple at key path
//       pmap in_axes[0]
//   There the prefix has length 2, but the full pytree has length 3.
#pragma once

#include <string>
#include <vector>

#include "pytree/ref.h"

namespace shardax::pytree {

// One text for each place where `prefix` does not fit `full`, in the order of the leaves; nothing
// where it does. `name` stands for the prefix at the head of key paths ("pmap in_axes"). `is_leaf`,
// unless null, is asked for nodes of the prefix. The GIL is held; throws PythonError.
std::vector<std::string> prefix_errors(PyObject* prefix, PyObject* full, const std::string& name,
                                       PyObject* is_leaf = nullptr);

// The first of them, or "".
std::string prefix_error(PyObject* prefix, PyObject* full, const std::string& name,
                         PyObject* is_leaf = nullptr);

}  // namespace shardax::pytree
