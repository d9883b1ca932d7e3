// pytree/level.h - one node taken apart: its children, their keys, and what identifies it.
//
// The general way to look into a value. It serves uses without a need for speed (key paths, error
// texts, prefix checks) and the kinds that run user code anyway.
#pragma once

#include <vector>

#include "base/small_vector.h"
#include "pytree/ref.h"
#include "pytree/registry.h"
#include "pytree/tree.h"

namespace shardax::pytree {

struct Level {
  NodeType type;
  std::vector<Ref> children;
  std::vector<Ref> keys;     // of the children, when asked for
  std::vector<Ref> objects;  // as Node describes them

  // See metadata_of.
  Ref metadata() const;
  // Adds the node without its children to a structure; returns the result of TreeBuilder::open.
  std::size_t open(TreeBuilder& tree) const;
};

// Takes `value` apart into an empty `level`, or returns false for a leaf. None is a node without
// children. Throws PythonError where user code raises, dict keys do not sort, or a registered
// function returns something other than (children, aux data).
bool take_apart(PyObject* value, bool with_keys, Level& level, Opening opening = Opening::trees);

// The reverse: a value of the node's type made of `children` (borrowed, as many as its arity).
Ref put_together(TreeView tree, const Node& node, std::span<PyObject* const> children);

// A dict's items in the order of their keys, each with a count of its own, so that user code may
// change the dict meanwhile. Throws ValueError when the keys do not sort.
class SortedItems {
 public:
  explicit SortedItems(PyObject* dict);
  SortedItems(const SortedItems&) = delete;
  SortedItems& operator=(const SortedItems&) = delete;
  ~SortedItems();

  std::size_t size() const { return items_.size(); }
  PyObject* key(std::size_t i) const { return items_[i].key; }
  PyObject* value(std::size_t i) const { return items_[i].value; }

 private:
  struct Item {
    PyObject *key, *value;
  };
  void sort_strings();
  void sort_any();
  void release();
  SmallVector<Item, 16> items_;
};

}  // namespace shardax::pytree
