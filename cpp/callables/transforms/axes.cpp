// callables/transforms/axes.cpp - resolving axis specifications.
#include "callables/transforms/axes.h"

#include <unordered_map>

#include "array/checked_axis.h"
#include "base/index.h"

namespace shardax::callables {
namespace {

std::int64_t axis_value(PyObject* entry) {
  if (entry == Py_None) return unmapped;
  const auto value = PyLong_AsLongLong(entry);
  if (value == -1 && PyErr_Occurred()) throw PythonError();
  return value;
}

[[noreturn]] void not_a_prefix(const char* api, PyObject* in_axes, PyObject* fun,
                               const CallForm& form) {
  std::vector<Ref> leaves(form.tree->num_leaves(), Ref::borrow(Py_Ellipsis));
  const auto [args, kwargs] = rebuild_arguments(form, leaves);
  raise_in_python("in_axes_mismatch", api, in_axes, fun, args, kwargs);
}

// The entries of a tuple or list, without those of static arguments.
std::vector<PyObject*> entries_of(const char* api, PyObject* in_axes, PyObject* fun,
                                  const CallForm& form) {
  const std::vector<int>& statics = form.statics.positions;
  const std::size_t dynamic = form.tree->view().nodes[1].arity;
  const auto count = index(PySequence_Fast_GET_SIZE(in_axes));
  if (count != dynamic && count != dynamic + statics.size()) not_a_prefix(api, in_axes, fun, form);
  std::vector<PyObject*> entries;
  auto next_static = statics.begin();
  for (std::size_t i = 0; i < count; ++i) {
    if (count != dynamic && next_static != statics.end() && index(*next_static) == i) {
      ++next_static;
      continue;
    }
    entries.push_back(PySequence_Fast_GET_ITEM(in_axes, static_cast<Py_ssize_t>(i)));
  }
  return entries;
}

struct Names {
  std::unordered_map<AxisName, AxisName> written;  // names made by new_axis -> what the user wrote
  Ref texts;                                       // dict: object -> text
};
Names& names() {
  static auto* instance = new Names;
  return *instance;
}

AxisName written(AxisName name) {
  const auto it = names().written.find(name);
  return it == names().written.end() ? name : it->second;
}

}  // namespace

LeafAxes input_axes(const char* api, PyObject* in_axes, PyObject* fun, const CallForm& form) {
  const TreeView tree = form.tree->view();
  const std::size_t positional = tree.nodes[1].num_leaves;
  LeafAxes axes;
  if (in_axes == Py_None || PyLong_Check(in_axes)) {
    axes.assign(positional, axis_value(in_axes));
  } else if (PyTuple_Check(in_axes) || PyList_Check(in_axes)) {
    std::size_t at = 2;
    std::vector<Ref> found;
    for (PyObject* entry : entries_of(api, in_axes, fun, form)) {
      const TreeView argument{pytree::subtree(tree, at).first(tree.nodes[at].num_nodes),
                              tree.objects};
      if (!pytree::broadcast_to(entry, argument, true, found))
        not_a_prefix(api, in_axes, fun, form);
      at += tree.nodes[at].num_nodes;
    }
    for (const Ref& entry : found) axes.push_back(axis_value(entry.get()));
  } else {
    not_a_prefix(api, in_axes, fun, form);
  }
  axes.resize(tree.num_leaves(), 0);
  return axes;
}

LeafAxes output_axes(const char* api, PyObject* out_axes, const TreeDefPtr& out_tree) {
  if (out_axes == Py_None || PyLong_Check(out_axes))
    return LeafAxes(out_tree->num_leaves(), axis_value(out_axes));
  std::vector<Ref> found;
  if (!pytree::broadcast_to(out_axes, out_tree->view(), true, found)) {
    const std::vector<Ref> leaves(out_tree->num_leaves(), Ref::borrow(Py_Ellipsis));
    const Ref result = pytree::unflatten(out_tree->view(), pytree::pointers(leaves));
    raise_in_python("out_axes_mismatch", api, out_axes, result);
  }
  LeafAxes axes;
  for (const Ref& entry : found) axes.push_back(axis_value(entry.get()));
  return axes;
}

std::int64_t mapped_size(const char* api, const Values& values, LeafAxes& axes,
                         std::int64_t axis_size, PyObject* fun, const CallForm& form) {
  std::int64_t size = axis_size;
  bool agree = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (axes[i] == unmapped) continue;
    const Shape& shape = values[i]->shape();
    const auto rank = static_cast<std::int64_t>(shape.size());
    if (axes[i] >= rank || axes[i] < -rank) {
      value_error(api, " was requested to map its argument along axis ", axes[i],
                  ", which implies that its rank should be at least ",
                  axes[i] < 0 ? -axes[i] : axes[i] + 1, ", but is only ", rank, " (its shape is ",
                  to_string(shape), "): argument ", argument_paths(fun, form)[i],
                  ". Pass an array that has the axis; a value that is the same for all goes with "
                  "None in in_axes.");
    }
    if (axes[i] < 0) axes[i] += rank;
    const std::int64_t extent = shape[index(axes[i])];
    if (size < 0) size = extent;
    agree = agree && size == extent;
  }
  if (agree) return size;
  std::vector<Ref> leaves;
  for (const Value& value : values)
    leaves.push_back(value ? checked(wrap(value)) : Ref::borrow(Py_Ellipsis));
  const auto [args, kwargs] = rebuild_arguments(form, leaves);
  const Ref list = checked(PyList_New(0));
  for (std::int64_t axis : axes) {
    check(PyList_Append(list.get(), axis == unmapped ? Py_None : to_python(axis).get()));
  }
  raise_in_python("inconsistent_sizes", api, fun, args, kwargs, list, axis_size);
}

std::int64_t checked_axis(std::int64_t axis, std::size_t rank) {
  const auto limit = static_cast<std::int64_t>(rank);
  if (axis >= limit || axis < -limit) {
    value_error("axis ", axis, " is out of bounds for array of dimension ", rank);
  }
  return axis < 0 ? axis + limit : axis;
}

std::string axis_name_text(PyObject* name) {
  if (PyUnicode_Check(name)) return str(name);
  Ref& texts = names().texts;
  if (!texts) texts = checked(PyDict_New());
  const Ref known = Ref::steal(PyObject_GetItem(texts.get(), name));
  if (known) return str(known.get());
  if (!PyErr_ExceptionMatches(PyExc_KeyError)) throw PythonError();
  PyErr_Clear();
  // Distinct objects that look alike are distinct names.
  std::string text = repr(name);
  const Ref taken = checked(PyDict_Values(texts.get()));
  while (check(PySequence_Contains(taken.get(), to_python(text).get())) == 1) text += "'";
  check(PyDict_SetItem(texts.get(), name, to_python(text).get()));
  return text;
}

bool is_axis_in_scope(const std::string& text) {
  const AxisName wanted = intern_axis(text);
  for (const BoundAxis& axis : bound_axes()) {
    if (written(axis.name) == wanted) return true;
  }
  return false;
}

const std::string& written_axis(AxisName name) { return axis_text(written(name)); }

AxisName new_axis(const std::string& text, bool checked) {
  const AxisName wanted = intern_axis(text);
  std::string primes;
  for (const BoundAxis& axis : bound_axes()) {
    if (written(axis.name) == wanted) primes += '\'';
  }
  if (primes.empty() && !checked) return wanted;
  const AxisName other = checked ? intern_checked_axis(text + primes) : intern_axis(text + primes);
  names().written[other] = wanted;
  return other;
}

AxisName axis_in_scope(const std::string& text) {
  const AxisName wanted = intern_axis(text);
  const auto axes = bound_axes();
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (written(axes[i].name) == wanted) return axes[i].name;
  }
  return wanted;
}

AxisName shown_axis(const std::string& text) {
  const auto axes = bound_axes();
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (axis_text(axes[i].name) == text) return axes[i].name;
  }
  return axis_in_scope(text);
}

}  // namespace shardax::callables
