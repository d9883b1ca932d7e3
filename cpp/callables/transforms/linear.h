// callables/transforms/linear.h - vjp, jvp, linearize and linear_transpose, and their share of
// grad.
#pragma once

#include <vector>

#include "callables/function.h"
#include "transform/jvp.h"

namespace shardax::callables {

// Some objects as flat Values, each with its own structure.
struct FlatObjects {
  std::vector<TreeDefPtr> trees;
  Values values;
  // The objects again with other leaves, as a list.
  std::vector<Ref> unflatten(const std::vector<Ref>& leaves) const;
};
FlatObjects flatten_objects(PyObject* const* objects, std::size_t count);

// Objects with values among them that are no arrays (hi types), whose gradients have types of their
// own: Python gives the arrays to differentiate by in their place.
class OpenedObjects {
 public:
  // If there are such values, their parts to differentiate replace them in `flat`.
  OpenedObjects(const std::vector<PyObject*>& objects, FlatObjects& flat);
  // The objects, and their gradients, given arrays in place of those in `flat`.
  std::vector<Ref> values(std::vector<Ref> arrays) const;
  std::vector<Ref> gradients(std::vector<Ref> arrays) const;
  // Installed by Python: objects -> (arrays, values, gradients), each with an item per object.
  static void set_opener(PyObject* opener);

 private:
  Ref values_, gradients_;  // null where all are arrays
};

// A tuple (out, aux) taken apart; throws TypeError for anything else.
std::pair<Ref, Ref> split_aux(PyObject* result);

// The auxiliary output of a function under differentiation: arrays are handed through the
// transformation, other objects are kept as they are.
class Aux {
 public:
  // Appends the arrays and tracers in `aux` to `outputs`.
  void take(PyObject* aux, Values& outputs);
  // Puts them together again; `values` holds their arrays, from `begin` on.
  Ref rebuild(const Values& values, std::size_t begin) const;

 private:
  TreeDefPtr tree_;
  std::vector<Ref> leaves_;
  std::vector<std::size_t> array_leaves_;
};

// The value with another weak flag; of an array, a view.
Value with_weak(const Value& value, bool weak);

// The cotangent or tangent of a leaf as Python sees it: zeros where null, an array of dtype float0
// where the type is not inexact.
Ref tangent_object(const Value& tangent, const Type& primal);

// (out, vjp_fun[, aux]) of fun at the primals in `arguments`.
PyObject* vjp(PyObject* fun, PyObject* const* primals, std::size_t count, bool has_aux);
// (out, tangent_out[, aux]).
PyObject* jvp_of(PyObject* fun, PyObject* primals, PyObject* tangents, bool has_aux);
// (out, linear_fun[, aux]).
PyObject* linearize_of(PyObject* fun, PyObject* const* primals, std::size_t count, bool has_aux);
// The transpose of a function that is linear in all its arguments, at arguments of these types.
PyObject* linear_transpose(PyObject* fun, PyObject* const* primals, std::size_t count);

}  // namespace shardax::callables
