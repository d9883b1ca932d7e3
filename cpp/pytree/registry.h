// pytree/registry.h - node types of trees, and their children.
//
// The built-in containers are in the registry from the start; users add types, which stay for the
// life of the process. Types match exactly: an instance of a subclass is a leaf, except that any
// tuple subclass with `_fields` is a named tuple. All functions need the GIL.
#pragma once

#include <cstdint>
#include <vector>

#include "pytree/ref.h"

namespace shardax::pytree {

enum class Kind : std::uint32_t {
  leaf,
  none,
  tuple,
  list,
  dict,          // keys sorted
  named_tuple,   // any tuple subclass with `_fields`
  ordered_dict,  // keys in insertion order
  default_dict,  // keys sorted
  custom,        // taken apart and put together by registered functions
  dataclass,     // taken apart by attribute, put together by keyword
};

// The parts of the system that take a tree apart: users, or calls, which also open values that
// stand for several arrays (hi types).
enum class Opening : bool { trees, calls };

struct Registration {
  Kind kind = Kind::leaf;
  Ref type;
  Ref flatten;            // custom: value -> (children, aux)
  Ref unflatten;          // custom: (aux, children) -> value
  Ref flatten_with_keys;  // custom, optional: value -> ((key, child) pairs, aux)
  std::vector<Ref> data_fields;
  std::vector<Ref> meta_fields;
  Ref keyword_names;  // dataclass: tuple of data and meta field names
  bool calls_only = false;
};

// The kind of a type; for custom types and dataclasses `id` names the registration. Ids are never
// reused, and 0 stands for the built-in kinds.
struct NodeType {
  Kind kind = Kind::leaf;
  std::uint32_t id = 0;
  bool calls_only = false;  // a node where calls take their arguments apart, else a leaf
};

// The kind of values of `type`. Does not fail and runs no user code.
NodeType node_type(PyTypeObject* type, Opening opening = Opening::trees);

// Is an object in the registry? Unlike node_type it takes any object.
bool is_registered(PyObject* type);

const Registration& registration(std::uint32_t id);

// Both raise ValueError for a type that is already a node. Types that only calls open and that have
// the same functions are nodes of one kind: a structure does not record the type.
void register_custom(PyObject* type, PyObject* flatten, PyObject* unflatten,
                     PyObject* flatten_with_keys, Opening opening = Opening::trees);
void register_dataclass(PyObject* type, PyObject* data_fields, PyObject* meta_fields);

// collections.OrderedDict and collections.defaultdict.
PyTypeObject* ordered_dict_type();
PyTypeObject* default_dict_type();

}  // namespace shardax::pytree
