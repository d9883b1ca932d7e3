// callables/call.h - the arguments of a call, flattened, and calling a Python function on flat
// leaves.
//
// A call's arguments are static ones, which stay Python objects, and dynamic ones, which are
// flattened into leaves. FlatCall is one call, on the stack; CallForm is the part of it that is
// kept: enough to call the function again with other leaves. With the leaves' types and the context
// it is the key of the cached programs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "callables/function.h"
#include "callables/python.h"

namespace shardax::callables {

struct StaticArguments {
  std::vector<int> positions;  // of the positional ones, ascending
  std::vector<Ref> names;      // of the keyword ones
  std::vector<Ref> values;     // positional, then keyword

  friend bool operator==(const StaticArguments& a, const StaticArguments& b);
};

struct CallForm {
  TreeDefPtr tree;  // of (positional arguments, keyword arguments), without static ones
  StaticArguments statics;
};

class FlatCall {
 public:
  // `fun` is named in errors. Throws ValueError for static arguments that cannot be hashed.
  FlatCall(const CallArguments& arguments, const StaticSpec& spec, PyObject* fun);

  TreeView tree() { return scratch_.tree().view(); }
  std::span<const Ref> leaves() { return scratch_.leaves(); }
  bool matches(const CallForm& form);
  std::size_t hash();
  CallForm form();
  // The leaves as Values. Deleted arrays throw RuntimeError; objects that are no arrays TypeError,
  // which with `interpreting` (jit, pmap) names the argument. With `wanted`, leaves that it does
  // not select stay null.
  void values(PyObject* fun, bool interpreting, Values& out,
              const std::vector<bool>* wanted = nullptr);

 private:
  Value value_of_leaf(PyObject* leaf, std::size_t index, PyObject* fun, bool interpreting);

  Scratch scratch_;
  StaticArguments statics_;
};

// fun(*args, **kwargs) with these leaves in place of the dynamic arguments.
Ref call_with_leaves(PyObject* fun, const CallForm& form, const std::vector<Ref>& leaves);
Ref call_with_values(PyObject* fun, const CallForm& form, const Values& values);
// (args, kwargs) as they would be passed.
std::pair<Ref, Ref> rebuild_arguments(const CallForm& form, const std::vector<Ref>& leaves);

// The argument that each leaf is part of. It is a position as the caller counts (static ones
// included), or position -1 and the name of a keyword argument (borrowed).
struct LeafOwner {
  int position;
  PyObject* name;
};
std::vector<LeafOwner> leaf_owners(const CallForm& form);

// The flat result of a function. `api` and `fun` are named where a leaf is no array.
struct FlatResult {
  TreeDefPtr tree;
  Values values;
  std::vector<Ref> leaves;  // the objects that the values were made from
};
FlatResult flatten_result(PyObject* result, const std::string& api, PyObject* fun);
// Arrays put together as the function returned them.
Ref unflatten_values(const TreeDefPtr& tree, const Values& values);
// The same, with `given` objects in place of those of the values that are null.
Ref unflatten_values(const TreeDefPtr& tree, const Values& values, const std::vector<Ref>& given);
std::vector<Ref> wrap_all(const Values& values);

// The type that a leaf stands for: an array's own, or that of anything with shape and dtype (a
// ShapeDtypeStruct, say). Throws TypeError.
Type abstract_type(PyObject* leaf);

// ValueError for a leaf, at `path` of the arguments, that only its __jax_array__ makes an array.
[[noreturn]] void refuse_conversion(PyObject* leaf, const std::string& path);

// One name per leaf, as a user would write it: "x", "a['k'][1]", "args[0]".
std::vector<std::string> argument_paths(PyObject* fun, const CallForm& form);

}  // namespace shardax::callables
