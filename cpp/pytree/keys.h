// pytree/keys.h - the entries of key paths: how a child is reached from its parent.
//
// Four immutable, hashable Python types, each around one value; users' key paths may hold any
// other objects too.
#pragma once

#include <span>
#include <string>

#include "pytree/ref.h"

namespace shardax::pytree {

enum class KeyKind {
  dict,        // DictKey(key), prints ['a']
  sequence,    // SequenceKey(idx), prints [0]
  attribute,   // GetAttrKey(name), prints .x
  flat_index,  // FlattenedIndexKey(key), prints [<flat index 0>]: a custom node's child
};

// A key around `value`, which for sequence and flat_index is an int.
Ref make_key(KeyKind kind, PyObject* value);
Ref make_key(KeyKind kind, std::size_t index);

// The Python type; null with a Python error set where it cannot be made.
PyObject* key_type(KeyKind kind);

// The value inside one of the four types, or `key` itself (borrowed).
PyObject* key_value(PyObject* key);

// The path's text: ['a'][0].x; `simple` leaves the decoration out: a0x.
std::string key_string(std::span<PyObject* const> path, bool simple = false,
                       const std::string& separator = "");

}  // namespace shardax::pytree
