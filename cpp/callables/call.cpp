// callables/call.cpp - flattening calls.
#include "callables/call.h"

#include <algorithm>

#include "base/hash.h"
#include "callables/program/object.h"
#include "callables/staging/locate.h"
#include "callables/transforms/references.h"
#include "ir/limits.h"
#include "numpy/promote.h"

namespace shardax::callables {
namespace {

// The TypeError of a value without a hash is explained; others of its __hash__ pass.
[[noreturn]] void unhashable(PyObject* value, PyObject* fun, const std::string& which) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError();
  PyErr_Clear();
  value_error(
      "Non-hashable static arguments are not supported, as this can lead to unexpected "
      "cache-misses. Static argument (",
      which, ") of type ", repr(type_object(value)), " for function ", function_name(fun),
      " is non-hashable. The value is ", repr(value),
      "; pass a hashable one (a tuple instead of a list, say), or leave the argument dynamic.");
}

// Positions within 0 .. count, ascending and distinct.
std::vector<int> normalised(const StaticSpec& spec, Py_ssize_t count, PyObject* fun) {
  std::vector<int> out;
  for (int position : spec.positions) {
    const int at = position < 0 ? position + static_cast<int>(count) : position;
    if (at >= 0 && at < count) {
      out.push_back(at);
    } else if (spec.positional_only) {
      std::string all;
      for (int p : spec.positions) all += concat(all.empty() ? "" : ", ", p);
      if (spec.positions.size() == 1) all += ",";
      value_error("pmapped function has static_broadcasted_argnums=(", all,
                  ") but was called with only ", count, " positional argument",
                  count == 1 ? "" : "s",
                  ". All static broadcasted arguments must be passed positionally. (",
                  function_name(fun), ")");
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool same_object(const Ref& a, const Ref& b) {
  if (a.get() == b.get()) return true;
  if (Py_TYPE(a.get()) != Py_TYPE(b.get())) return false;
  const int same = PyObject_RichCompareBool(a.get(), b.get(), Py_EQ);
  if (same >= 0) return same == 1;
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw PythonError();
  PyErr_Clear();
  value_error(
      "static arguments should be comparable using __eq__. The following error was raised when "
      "comparing two objects of types ",
      repr(type_object(a.get())), " and ", repr(type_object(b.get())), ".");
}

bool same_objects(const std::vector<Ref>& a, const std::vector<Ref>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_object);
}

bool is_static_name(const StaticSpec& spec, PyObject* name) {
  return std::any_of(spec.names.begin(), spec.names.end(), [&](const Ref& n) {
    return n.get() == name || PyUnicode_Compare(n.get(), name) == 0;
  });
}

// A function of this package that runs as one program takes the operands of its equations.
bool belongs_to_package(PyObject* fun) {
  const Ref module = Ref::steal(PyObject_GetAttrString(fun, "__module__"));
  if (!module) PyErr_Clear();
  return module && PyUnicode_Check(module.get()) && str(module.get()).starts_with("shardax.");
}

}  // namespace

void refuse_conversion(PyObject* leaf, const std::string& path) {
  value_error("Triggering __jax_array__() during abstractification is no longer supported: ", path,
              " is of type ", repr(type_object(leaf)),
              ". To avoid this error, either explicitly convert it with jax.numpy.array(), or "
              "register its class as a pytree.");
}

bool operator==(const StaticArguments& a, const StaticArguments& b) {
  return a.positions == b.positions && same_objects(a.names, b.names) &&
         same_objects(a.values, b.values);
}

FlatCall::FlatCall(const CallArguments& arguments, const StaticSpec& spec, PyObject* fun) {
  if (spec.empty()) {
    pytree::flatten_args(arguments.values, static_cast<std::size_t>(arguments.count),
                         arguments.names, scratch_.leaves(), scratch_.tree());
    return;
  }
  std::vector<PyObject*> dynamic;
  statics_.positions = normalised(spec, arguments.count, fun);
  auto next_static = statics_.positions.begin();
  for (Py_ssize_t i = 0; i < arguments.count; ++i) {
    PyObject* value = arguments.values[i];
    if (next_static == statics_.positions.end() || *next_static != i) {
      dynamic.push_back(value);
      continue;
    }
    ++next_static;
    if (PyObject_Hash(value) == -1) unhashable(value, fun, concat("index ", i));
    statics_.values.push_back(Ref::borrow(value));
  }
  const std::size_t positional = dynamic.size();
  Ref names = checked(PyList_New(0));
  for (Py_ssize_t i = 0; i < arguments.keyword_count(); ++i) {
    PyObject* name = PyTuple_GET_ITEM(arguments.names, i);
    PyObject* value = arguments.values[arguments.count + i];
    if (!is_static_name(spec, name)) {
      dynamic.push_back(value);
      check(PyList_Append(names.get(), name));
      continue;
    }
    if (PyObject_Hash(value) == -1) unhashable(value, fun, concat("name '", str(name), "'"));
    statics_.names.push_back(Ref::borrow(name));
    statics_.values.push_back(Ref::borrow(value));
  }
  names = checked(PyList_AsTuple(names.get()));
  pytree::flatten_args(dynamic.data(), positional, names.get(), scratch_.leaves(), scratch_.tree());
}

bool FlatCall::matches(const CallForm& form) {
  return pytree::equal(tree(), form.tree->view()) && statics_ == form.statics;
}

std::size_t FlatCall::hash() {
  std::size_t h = mix_all(pytree::hash_of(tree()), statics_.positions);
  for (const Ref& name : statics_.names)
    h = mix(h, static_cast<std::size_t>(PyObject_Hash(name.get())));
  for (const Ref& value : statics_.values)
    h = mix(h, static_cast<std::size_t>(PyObject_Hash(value.get())));
  return h;
}

CallForm FlatCall::form() { return {scratch_.tree().finish(), statics_}; }

Value FlatCall::value_of_leaf(PyObject* leaf, std::size_t index, PyObject* fun, bool interpreting) {
  if (objects::is_array_object(leaf)) return objects::value_of(leaf);
  if (objects::converts_itself(leaf) && !belongs_to_package(fun))
    refuse_conversion(leaf, argument_paths(fun, form())[index]);
  try {
    return try_value(leaf);
  } catch (const UserError& error) {
    if (error.kind() == ErrorKind::type_error) return nullptr;
    if (!interpreting || error.kind() != ErrorKind::overflow_error) throw;
    fail(ErrorKind::overflow_error,
         "An overflow was encountered while parsing an argument to a jitted computation, whose "
         "argument path is ",
         argument_paths(fun, form())[index], ". Got ", repr(type_object(leaf)), " with value ",
         repr(leaf), ". ", error.what());
  }
}

void FlatCall::values(PyObject* fun, bool interpreting, Values& out,
                      const std::vector<bool>* wanted) {
  const std::span<const Ref> objects = leaves();
  out.reserve(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    PyObject* leaf = objects[i].get();
    if (wanted && !(*wanted)[i]) {
      out.push_back(nullptr);
      continue;
    }
    Value value = value_of_leaf(leaf, i, fun, interpreting);
    if (!value) check_no_reference(leaf);
    if (!value && interpreting) {
      raise_in_python("not_an_array", fun, leaf, argument_paths(fun, form())[i]);
    } else if (!value) {
      type_error("Argument '", str(leaf), "' of type ", repr(type_object(leaf)),
                 " is not a valid JAX type.");
    }
    objects::check_not_deleted(value);
    out.push_back(std::move(value));
  }
}

std::pair<Ref, Ref> rebuild_arguments(const CallForm& form, const std::vector<Ref>& leaves) {
  const Ref dynamic = pytree::unflatten(form.tree->view(), pytree::pointers(leaves));
  Ref args = Ref::borrow(PyTuple_GET_ITEM(dynamic.get(), 0));
  Ref kwargs = Ref::borrow(PyTuple_GET_ITEM(dynamic.get(), 1));
  const StaticArguments& statics = form.statics;
  if (!statics.positions.empty()) {
    const auto count =
        static_cast<Py_ssize_t>(statics.positions.size()) + PyTuple_GET_SIZE(args.get());
    Ref all = checked(PyTuple_New(count));
    std::size_t next = 0;
    for (Py_ssize_t i = 0, in = 0; i < count; ++i) {
      const bool is_static = next < statics.positions.size() && statics.positions[next] == i;
      PyObject* value =
          is_static ? statics.values[next++].get() : PyTuple_GET_ITEM(args.get(), in++);
      PyTuple_SET_ITEM(all.get(), i, Py_NewRef(value));
    }
    args = std::move(all);
  }
  for (std::size_t i = 0; i < statics.names.size(); ++i) {
    PyObject* value = statics.values[statics.positions.size() + i].get();
    check(PyDict_SetItem(kwargs.get(), statics.names[i].get(), value));
  }
  return {std::move(args), std::move(kwargs)};
}

Ref call_with_leaves(PyObject* fun, const CallForm& form, const std::vector<Ref>& leaves) {
  const std::pair<Ref, Ref> arguments = rebuild_arguments(form, leaves);
  const Ref &args = arguments.first, &kwargs = arguments.second;
  PyObject* named = PyDict_GET_SIZE(kwargs.get()) == 0 ? nullptr : kwargs.get();
  return checked(call_unlocked([&] { return PyObject_Call(fun, args.get(), named); }));
}

Ref call_with_values(PyObject* fun, const CallForm& form, const Values& values) {
  return call_with_leaves(fun, form, wrap_all(values));
}

std::vector<LeafOwner> leaf_owners(const CallForm& form) {
  std::vector<LeafOwner> owners;
  const TreeView tree = form.tree->view();
  const pytree::Node& args = tree.nodes[1];
  const pytree::Node& kwargs = tree.nodes[1 + args.num_nodes];
  int position = 0;
  auto next_static = form.statics.positions.begin();
  std::size_t at = 2;
  for (std::uint32_t i = 0; i < args.arity; ++i, ++position) {
    for (; next_static != form.statics.positions.end() && *next_static == position; ++next_static)
      ++position;
    owners.insert(owners.end(), tree.nodes[at].num_leaves, {position, nullptr});
    at += tree.nodes[at].num_nodes;
  }
  ++at;  // the node of the keywords
  for (std::uint32_t i = 0; i < kwargs.arity; ++i) {
    owners.insert(owners.end(), tree.nodes[at].num_leaves, {-1, tree.object(kwargs, i)});
    at += tree.nodes[at].num_nodes;
  }
  return owners;
}

FlatResult flatten_result(PyObject* result, const std::string& api, PyObject* fun) {
  Scratch scratch;
  pytree::flatten(result, scratch.leaves(), scratch.tree());
  const auto found = scratch.leaves();
  FlatResult flat{scratch.tree().finish(), {}, {found.begin(), found.end()}};
  flat.values.reserve(scratch.leaves().size());
  for (const Ref& leaf : scratch.leaves()) {
    Value value = try_value(leaf.get());
    if (!value) raise_in_python("not_an_output", describe_function(fun), result, api, leaf.get());
    flat.values.push_back(std::move(value));
  }
  return flat;
}

std::vector<Ref> wrap_all(const Values& values) {
  std::vector<Ref> out;
  out.reserve(values.size());
  for (const Value& value : values) out.push_back(checked(wrap(value)));
  return out;
}

namespace {

// Tangents of integers, which have no elements, are NumPy's outside of tracing.
Ref result_object(const Value& value) {
  if (value->dtype() == DType::float0 && !value->is_tracer()) return objects::to_numpy(value);
  return checked(wrap(value));
}

}  // namespace

Ref unflatten_values(const TreeDefPtr& tree, const Values& values) {
  if (tree->is_leaf()) return result_object(values[0]);
  std::vector<Ref> leaves;
  leaves.reserve(values.size());
  for (const Value& value : values) leaves.push_back(result_object(value));
  return pytree::unflatten(tree->view(), pytree::pointers(leaves));
}

Ref unflatten_values(const TreeDefPtr& tree, const Values& values, const std::vector<Ref>& given) {
  std::vector<Ref> leaves;
  for (std::size_t i = 0; i < values.size(); ++i)
    leaves.push_back(values[i] ? result_object(values[i]) : given[i]);
  return pytree::unflatten(tree->view(), pytree::pointers(leaves));
}

Type abstract_type(PyObject* leaf) {
  if (const Value value = objects::is_array_object(leaf) ? objects::value_of(leaf) : nullptr)
    return value->type();
  if (const Type* type = find_type(leaf)) return *type;
  const Ref shape = Ref::steal(PyObject_GetAttrString(leaf, "shape"));
  const Ref dtype = shape ? Ref::steal(PyObject_GetAttrString(leaf, "dtype")) : Ref();
  if (!dtype || !PyTuple_Check(shape.get())) {
    PyErr_Clear();
    return objects::to_value(leaf)->type();
  }
  Type type;
  type.dtype = canonical(objects::to_dtype(dtype.get()), numpy::x64_enabled());
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape.get()); ++i) {
    const auto extent = PyLong_AsLongLong(PyTuple_GET_ITEM(shape.get(), i));
    if (extent == -1 && PyErr_Occurred()) throw PythonError();
    type.shape.push_back(extent);
    if (extent < 0) {
      value_error("an array of shape ", repr(shape.get()), "; no dimension may be negative.");
    }
  }
  check_limits(Py_TYPE(leaf)->tp_name, type);
  const Ref weak = Ref::steal(PyObject_GetAttrString(leaf, "weak_type"));
  if (!weak) PyErr_Clear();
  type.weak = weak && weak.get() == Py_True;
  const Ref sharding = Ref::steal(PyObject_GetAttrString(leaf, "sharding"));
  if (!sharding) {
    PyErr_Clear();
  } else if (sharding.get() != Py_None) {
    type.sharding = sharding_in_types(sharding.get(), type.rank());
  }
  if (sharding) {
    const Ref axes = Ref::steal(PyObject_GetAttrString(leaf, "manual_axis_type"));
    if (!axes) PyErr_Clear();
    if (axes && axes.get() != Py_None) type.varying = varying_in_types(axes.get());
  }
  return type;
}

std::vector<std::string> argument_paths(PyObject* fun, const CallForm& form) {
  std::vector<Ref> numbers;
  for (std::size_t i = 0; i < form.tree->num_leaves(); ++i)
    numbers.push_back(checked(PyLong_FromSize_t(i)));
  const auto [args, kwargs] = rebuild_arguments(form, numbers);
  const Ref statics = checked(PyList_New(0));
  for (int position : form.statics.positions) {
    check(PyList_Append(statics.get(), to_python(std::int64_t{position}).get()));
  }
  for (const Ref& name : form.statics.names) check(PyList_Append(statics.get(), name.get()));
  const Ref paths = call_python("_base.api_errors", "argument_paths", fun, args, kwargs, statics);
  std::vector<std::string> out;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(paths.get()); ++i) {
    out.push_back(str(PyList_GET_ITEM(paths.get(), i)));
  }
  return out;
}

}  // namespace shardax::callables
