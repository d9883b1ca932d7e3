// callables/collectives.cpp - from axis names and trees to ops.
#include "callables/collectives.h"

#include <algorithm>
#include <functional>

#include "array/checked_axis.h"
#include "base/index.h"
#include "callables/transforms/axes.h"
#include "callables/transforms/devices.h"
#include "ir/core_ops.h"
#include "numpy/promote.h"
#include "ops/ops.h"

namespace shardax::callables {
namespace {

Ref map_leaves(PyObject* tree, const std::function<Ref(PyObject*)>& f) {
  Scratch scratch;
  pytree::flatten(tree, scratch.leaves(), scratch.tree());
  std::vector<Ref> out;
  for (const Ref& leaf : scratch.leaves()) out.push_back(f(leaf.get()));
  return pytree::unflatten(scratch.tree().view(), pytree::pointers(out));
}

// A leaf of what `user` takes, as an array or tracer.
Value leaf_value(PyObject* leaf, std::string_view user) {
  try {
    return objects::to_value(leaf);
  } catch (const UserError& error) {
    if (error.kind() != ErrorKind::type_error) throw;
    type_error(user, ": ", error.what(), "; expected arrays and numbers, or trees of them.");
  }
}

Ref map_values(PyObject* tree, std::string_view user, const std::function<Value(const Value&)>& f) {
  return map_leaves(tree, [&](PyObject* leaf) { return checked(wrap(f(leaf_value(leaf, user)))); });
}

// Dimension `axis` of an array of rank `rank`, which `user` calls `option`.
std::int64_t checked_dimension(std::int64_t axis, std::size_t rank, std::string_view user,
                               std::string_view option) {
  const auto limit = static_cast<std::int64_t>(rank);
  if (axis >= limit || axis < -limit) {
    value_error(user, ": ", option, " ", axis, " is out of bounds for array of dimension ", rank,
                limit == 0 ? concat("; a scalar has no dimensions.")
                           : concat("; expected ", -limit, " to ", limit - 1, "."));
  }
  return axis < 0 ? axis + limit : axis;
}

Ints dimensions(const Axes& axes, const Value& value, std::string_view user) {
  Ints dims;
  for (std::int64_t axis : axes.positional)
    dims.push_back(checked_dimension(axis, value->type().rank(), user, "axis"));
  std::sort(dims.begin(), dims.end());
  const auto twice = std::adjacent_find(dims.begin(), dims.end());
  if (twice != dims.end()) {
    value_error(user, ": the dimension ", *twice, " is named twice in axis_name ",
                to_string(axes.positional), "; expected each once.");
  }
  return dims;
}

// Truth values are counted where the op does not take them.
Value reduced(const Op& op, const Value& operand, const Axes& axes, std::string_view user) {
  const bool counts = operand->dtype() == DType::boolean && !(op.dtypes & bit(DType::boolean));
  Value value = counts ? ops::convert(operand, DType::int32) : operand;
  const Ints dims = dimensions(axes, value, user);
  for (std::size_t i = dims.size(); i-- > 0;) value = ops::reduce_dimension(op, value, dims[i]);
  const bool done = !dims.empty() && axes.devices.axes.empty();
  return done ? value : ops::reduce_devices(op, value, axes.devices);
}

const Op& psum_op() {
  const Op& op = core_ops().psum;
  return op;
}

// The number of summed values, in the dtype of the sum. If groups differ in size, each device has a
// number of its own.
Value count_over(const Value& operand, const Axes& axes, DType dtype) {
  if (axes.devices.group_size() < 0)
    return ops::reduce_devices(psum_op(), ops::scalar(dtype, 1, true), axes.devices);
  std::int64_t count = axes.devices.group_size();
  for (std::int64_t dim : dimensions(axes, operand, "pmean")) count *= operand->shape()[index(dim)];
  return ops::scalar(dtype, static_cast<double>(count), true);
}

Value mean_over(const Value& value, const Axes& axes) {
  Value sum = reduced(psum_op(), value, axes, "pmean");
  const bool boolean = value->dtype() == DType::boolean;
  const WeakDType type{boolean ? DType::boolean : sum->dtype(), sum->type().weak};
  sum = numpy::as_type(sum, numpy::adjusted(type, numpy::Promote::inexact));
  return ops::div(sum, count_over(value, axes, sum->dtype()));
}

bool is_number(PyObject* leaf) {
  return (PyLong_Check(leaf) && !PyBool_Check(leaf)) || PyFloat_Check(leaf) ||
         PyComplex_Check(leaf);
}

// The axes of collectives that exchange, between the devices of one mapped axis at least.
ops::Devices parse_some(PyObject* axes, std::string_view user) {
  ops::Devices devices = parse_devices(axes, Py_None, user);
  if (devices.axes.empty()) {
    value_error(user, ": axis_name is ", repr(axes),
                ", which names no axis; expected the name of a mapped axis, or several.");
  }
  return devices;
}

AxisSet without_all(AxisSet axes, const AxisSet& others) {
  for (const AxisName name : others) axes = without(axes, name);
  return axes;
}

// Each device exchanges with the others of its group, of which all have the same size.
ops::Devices parse_even(PyObject* axes, PyObject* groups, std::string_view user) {
  const ops::Devices devices = parse_devices(axes, groups, user);
  if (devices.group_size() < 0) {
    value_error(user, ": axis_index_groups must all have the same size, got ", repr(groups), ".");
  }
  return devices;
}

}  // namespace

Ref reduce_over(std::string_view name, PyObject* tree, PyObject* axes_object, PyObject* groups) {
  const Op* op = find_op(name);
  if (!op || op->kind != Kind::collective) value_error("'", name, "' is not a collective.");
  const Axes axes = parse_axes(axes_object, groups, name);
  const std::int64_t size = axes.positional.empty() ? axes.devices.group_size() : -1;
  return map_leaves(tree, [&](PyObject* leaf) {
    if (op == &psum_op() && is_number(leaf) && size >= 0)
      return checked(PyNumber_Multiply(leaf, to_python(size).get()));
    return checked(wrap(reduced(*op, leaf_value(leaf, op->name), axes, op->name)));
  });
}

Ref pmean(PyObject* tree, PyObject* axes_object, PyObject* groups) {
  const Axes axes = parse_axes(axes_object, groups, "pmean");
  const bool counted = axes.positional.empty() && axes.devices.group_size() >= 0;
  return map_leaves(tree, [&](PyObject* leaf) {
    if (counted && is_number(leaf)) {
      const Ref same = PyComplex_Check(leaf) ? Ref::borrow(leaf) : checked(PyNumber_Float(leaf));
      return checked(wrap(objects::to_value(same.get())));
    }
    return checked(wrap(mean_over(leaf_value(leaf, "pmean"), axes)));
  });
}

Ref pbroadcast(PyObject* tree, PyObject* axes, std::int64_t source) {
  const ops::Devices devices = parse_some(axes, "pbroadcast");
  return map_values(tree, "pbroadcast",
                    [&](const Value& value) { return ops::pbroadcast(value, devices, source); });
}

namespace {
AxisState state_named(std::string_view name, std::string_view user) {
  if (name == "varying") return AxisState::varying;
  if (name == "reduced") return AxisState::reduced;
  if (name == "unreduced") return AxisState::unreduced;
  if (name == "invarying") return AxisState::shared;
  value_error(user, ": Got unexpected `to` value '", name, "' for `jax.lax.", user, "`.");
}
}  // namespace

Ref all_gather(PyObject* tree, PyObject* axes, PyObject* groups, std::int64_t dim, bool tiled,
               std::string_view to) {
  const ops::Devices devices = parse_even(axes, groups, "all_gather");
  const AxisState state = state_named(to, "all_gather");
  return map_values(tree, "all_gather", [&](const Value& value) {
    if (devices.axes.empty()) return value;
    const std::size_t rank = value->type().rank() + (tiled ? 0 : 1);
    const std::int64_t at = checked_dimension(dim, rank, "all_gather", "axis");
    return ops::all_gather(value, devices, at, tiled, state);
  });
}

Ref psum_scatter(PyObject* tree, PyObject* axes, PyObject* groups, std::int64_t dim, bool tiled) {
  const ops::Devices devices = parse_even(axes, groups, "psum_scatter");
  return map_values(tree, "psum_scatter", [&](const Value& value) {
    const std::int64_t at =
        checked_dimension(dim, value->type().rank(), "psum_scatter", "scatter_dimension");
    if (devices.axes.empty()) return value;
    return ops::psum_scatter(value, devices, at, tiled);
  });
}

Ref ppermute(PyObject* tree, PyObject* axes, PyObject* permutation) {
  const ops::Devices devices = parse_some(axes, "ppermute");
  const Ref pairs = checked(PySequence_List(permutation));
  Ints flat;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(pairs.get()); ++i) {
    const Ref pair = checked(PySequence_Tuple(PyList_GET_ITEM(pairs.get(), i)));
    if (PyTuple_GET_SIZE(pair.get()) != 2) {
      value_error("ppermute: perm must consist of (source, destination) pairs, got ",
                  repr(pair.get()), ".");
    }
    flat.push_back(to_integer(PyTuple_GET_ITEM(pair.get(), 0)));
    flat.push_back(to_integer(PyTuple_GET_ITEM(pair.get(), 1)));
  }
  return map_values(tree, "ppermute",
                    [&](const Value& value) { return ops::ppermute(value, devices, flat); });
}

Ref all_to_all(PyObject* tree, PyObject* axes, PyObject* groups, std::int64_t split_dim,
               std::int64_t concat_dim, bool tiled) {
  const ops::Devices devices = parse_even(axes, groups, "all_to_all");
  return map_values(tree, "all_to_all", [&](const Value& value) {
    const std::size_t rank = value->type().rank();
    return ops::all_to_all(value, devices,
                           checked_dimension(split_dim, rank, "all_to_all", "split_axis"),
                           checked_dimension(concat_dim, rank, "all_to_all", "concat_axis"), tiled);
  });
}

Ref pvary(PyObject* tree, PyObject* axes) { return pcast(tree, axes, "varying", "pvary"); }

Ref pcast(PyObject* tree, PyObject* axes, std::string_view to, std::string_view user) {
  const bool none = PySequence_Check(axes) && PySequence_Size(axes) == 0;
  if (bound_axes().empty() && !none)
    value_error(user, ": pvary should be called under jax.shard_map, where axes are in scope.");
  const AxisState state = state_named(to, user);
  const ops::Devices devices = parse_devices(axes, Py_None, user);
  const AxisSet checked = checked_axes(devices.axes);
  return map_values(tree, user, [&](const Value& value) {
    const AxisSet missing = lacking(value->type().varying, checked);
    if (state == AxisState::varying && missing.size() < checked.size()) {
      value_error(user, ": the operand has type ", to_string(value->type()), " and varies over ",
                  to_string(ParamValue(AxisNames{without_all(checked, missing)})),
                  " already. Unsupported pcast from=varying, to='varying': pvary is a "
                  "invariant->variant collective, and the axis names passed to it must not be "
                  "present in `jax.typeof(inp).mat.varying`. Name the other axes alone.");
    }
    return devices.axes.empty() ? value : ops::cast_state(value, devices.axes, state);
  });
}

Ref first_term(PyObject* tree, PyObject* axes) {
  const AxisSet names = parse_some(axes, "shard_map").axes;
  return map_values(tree, "shard_map",
                    [&](const Value& value) { return ops::first_term(value, names); });
}

Ref value_of_reduced(PyObject* tree, PyObject* axes) {
  const AxisSet names = parse_some(axes, "shard_map").axes;
  return map_values(tree, "shard_map",
                    [&](const Value& value) { return ops::value_of_reduced(value, names); });
}

Ref axis_index(PyObject* axes_object) {
  Value index;
  for (AxisName name : parse_devices(axes_object, Py_None, "axis_index").axes) {
    const std::int64_t size = axis_size(name, "axis_index");
    const Value own = ops::axis_index(name, size);
    index =
        index ? ops::add(ops::mul(index, ops::scalar(DType::int32, static_cast<double>(size))), own)
              : own;
  }
  return checked(wrap(index ? index : ops::scalar(DType::int32, 0)));
}

bool follows_varying() {
  const auto axes = bound_axes();
  return std::any_of(axes.begin(), axes.end(),
                     [](const BoundAxis& axis) { return is_checked(axis.name); });
}

std::int64_t axis_size_of(PyObject* axes) { return parse_devices(axes, Py_None, "axis_size").size; }

}  // namespace shardax::callables
