// api/collectives.cpp - from axis names and trees to ops.
#include "api/collectives.h"

#include <algorithm>
#include <functional>

#include "api/axes.h"
#include "api/devices.h"
#include "ops/ops.h"
#include "ops/promote.h"

namespace shardax::api {
namespace {

Ref map_leaves(PyObject* tree, const std::function<Ref(PyObject*)>& f) {
  Scratch scratch;
  pytree::flatten(tree, scratch.leaves(), scratch.tree());
  std::vector<Ref> out;
  for (const Ref& leaf : scratch.leaves()) out.push_back(f(leaf.get()));
  return pytree::unflatten(scratch.tree().view(), pytree::pointers(out));
}

Ref map_values(PyObject* tree, const std::function<Value(const Value&)>& f) {
  return map_leaves(tree,
                    [&](PyObject* leaf) { return checked(wrap(f(bindings::to_value(leaf)))); });
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
  return dims;
}

Value sum_over(const Value& operand, const Axes& axes) {
  Value value =
      operand->dtype() == DType::boolean ? ops::convert(operand, DType::int32) : operand;
  if (!axes.positional.empty()) value = ops::reduce_sum(value, dimensions(axes, value, "psum"));
  return axes.devices.axes.empty() ? value : ops::psum(value, axes.devices);
}

// How many values were summed, in the dtype of the sum: where groups differ in size, each device
// has a number of its own.
Value count_over(const Value& operand, const Axes& axes, DType dtype) {
  if (axes.devices.group_size() < 0) return ops::psum(ops::scalar(dtype, 1, true), axes.devices);
  std::int64_t count = axes.devices.group_size();
  for (std::int64_t dim : dimensions(axes, operand, "pmean"))
    count *= operand->shape()[static_cast<std::size_t>(dim)];
  return ops::scalar(dtype, static_cast<double>(count), true);
}

Value mean_over(const Value& value, const Axes& axes) {
  Value sum = sum_over(value, axes);
  const bool boolean = value->dtype() == DType::boolean;
  const WeakDType type{boolean ? DType::boolean : sum->dtype(), sum->type().weak};
  sum = ops::as_type(sum, ops::adjusted(type, ops::Promote::inexact));
  return ops::div(sum, count_over(value, axes, sum->dtype()));
}

Value extremum_over(const Value& operand, const Axes& axes, bool maximum) {
  Value value = operand;
  if (!axes.positional.empty()) {
    const Ints dims = dimensions(axes, value, maximum ? "pmax" : "pmin");
    value = maximum ? ops::reduce_max(value, dims) : ops::reduce_min(value, dims);
  }
  if (axes.devices.axes.empty()) return value;
  return maximum ? ops::pmax(value, axes.devices) : ops::pmin(value, axes.devices);
}

bool is_number(PyObject* leaf) {
  return (PyLong_Check(leaf) && !PyBool_Check(leaf)) || PyFloat_Check(leaf) ||
         PyComplex_Check(leaf);
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

Ref reduce_over(Reduction reduction, PyObject* tree, PyObject* axes_object, PyObject* groups) {
  static constexpr std::string_view names[] = {"psum", "pmean", "pmax", "pmin"};
  const Axes axes = parse_axes(axes_object, groups, names[static_cast<int>(reduction)]);
  const std::int64_t size = axes.positional.empty() ? axes.devices.group_size() : -1;
  return map_leaves(tree, [&](PyObject* leaf) {
    if (is_number(leaf) && reduction == Reduction::sum && size >= 0)
      return checked(PyNumber_Multiply(leaf, to_python(size).get()));
    if (is_number(leaf) && reduction == Reduction::mean && size >= 0) {
      const Ref same = PyComplex_Check(leaf) ? Ref::borrow(leaf) : checked(PyNumber_Float(leaf));
      return checked(wrap(bindings::to_value(same.get())));
    }
    const Value value = bindings::to_value(leaf);
    switch (reduction) {
      case Reduction::sum: return checked(wrap(sum_over(value, axes)));
      case Reduction::mean: return checked(wrap(mean_over(value, axes)));
      default: return checked(wrap(extremum_over(value, axes, reduction == Reduction::max)));
    }
  });
}

Ref argument_over(bool maximum, PyObject* tree, PyObject* axes) {
  const ops::Devices devices = parse_devices(axes, Py_None, maximum ? "pargmax" : "pargmin");
  return map_values(tree, [&](const Value& value) {
    return maximum ? ops::pargmax(value, devices) : ops::pargmin(value, devices);
  });
}

Ref pbroadcast(PyObject* tree, PyObject* axes, std::int64_t source) {
  const ops::Devices devices = parse_devices(axes, Py_None, "pbroadcast");
  return map_values(tree,
                    [&](const Value& value) { return ops::pbroadcast(value, devices, source); });
}

Ref all_gather(PyObject* tree, PyObject* axes, PyObject* groups, std::int64_t dim, bool tiled) {
  const ops::Devices devices = parse_even(axes, groups, "all_gather");
  return map_values(tree, [&](const Value& value) {
    const std::size_t rank = value->type().rank() + (tiled ? 0 : 1);
    return ops::all_gather(value, devices, checked_dimension(dim, rank, "all_gather", "axis"),
                           tiled);
  });
}

Ref psum_scatter(PyObject* tree, PyObject* axes, PyObject* groups, std::int64_t dim, bool tiled) {
  const ops::Devices devices = parse_even(axes, groups, "psum_scatter");
  return map_values(tree, [&](const Value& value) {
    const std::int64_t at =
        checked_dimension(dim, value->type().rank(), "psum_scatter", "scatter_dimension");
    return ops::psum_scatter(value, devices, at, tiled);
  });
}

Ref ppermute(PyObject* tree, PyObject* axes, PyObject* permutation) {
  const ops::Devices devices = parse_devices(axes, Py_None, "ppermute");
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
  return map_values(tree, [&](const Value& value) { return ops::ppermute(value, devices, flat); });
}

Ref all_to_all(PyObject* tree, PyObject* axes, PyObject* groups, std::int64_t split_dim,
               std::int64_t concat_dim, bool tiled) {
  const ops::Devices devices = parse_even(axes, groups, "all_to_all");
  return map_values(tree, [&](const Value& value) {
    const std::size_t rank = value->type().rank();
    return ops::all_to_all(value, devices,
                           checked_dimension(split_dim, rank, "all_to_all", "split_axis"),
                           checked_dimension(concat_dim, rank, "all_to_all", "concat_axis"), tiled);
  });
}

Ref pvary(PyObject* tree, PyObject* axes) {
  const ops::Devices devices = parse_devices(axes, Py_None, "pvary");
  return map_values(tree, [&](const Value& value) { return ops::pvary(value, devices.axes); });
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

std::int64_t axis_size_of(PyObject* axes) { return parse_devices(axes, Py_None, "axis_size").size; }

}  // namespace shardax::api
