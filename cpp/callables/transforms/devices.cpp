// callables/transforms/devices.cpp - names of axes and groups of positions.
#include "callables/transforms/devices.h"

#include <algorithm>

#include "array/checked_axis.h"
#include "array/process_axis.h"
#include "base/index.h"
#include "callables/transforms/axes.h"

namespace shardax::callables {
namespace {

// Is `processes` the process part of `axis`?
bool cuts(AxisName processes, AxisName axis) {
  return is_process_axis(processes) && is_checked(processes) == is_checked(axis) &&
         device_axis_text(axis_text(processes)) == axis_text(axis);
}

void add_axis(Axes& axes, PyObject* item, std::string_view user) {
  const std::string text = axis_name_text(item);
  if (PyLong_Check(item) && !is_axis_in_scope(text)) {
    axes.positional.push_back(to_integer(item));
    return;
  }
  const AxisName name = axis_in_scope(text);
  const std::int64_t size = axis_size(name, user);
  if (contains(axes.devices.axes, name)) {
    value_error(user, ": the axis '", text, "' is named twice; each axis of axis_name once.");
  }
  // The processes of an axis that is cut between them come first.
  for (const BoundAxis& bound : bound_axes()) {
    if (!cuts(bound.name, name)) continue;
    axes.devices.axes.push_back(bound.name);
    axes.devices.size *= bound.size;
    break;
  }
  axes.devices.axes.push_back(name);
  axes.devices.size *= size;
}

// A tuple lists axes, unless an axis in scope has that very tuple as its name.
bool lists_axes(PyObject* object) {
  if (PyList_Check(object)) return true;
  return PyTuple_Check(object) && !is_axis_in_scope(axis_name_text(object));
}

std::vector<Ints> group_lists(PyObject* object) {
  std::vector<Ints> groups;
  const Ref outer = checked(PySequence_List(object));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outer.get()); ++i) {
    const Ref inner = checked(PySequence_List(PyList_GET_ITEM(outer.get(), i)));
    groups.emplace_back();
    for (Py_ssize_t j = 0; j < PyList_GET_SIZE(inner.get()); ++j)
      groups.back().push_back(to_integer(PyList_GET_ITEM(inner.get(), j)));
  }
  return groups;
}

void check_groups(const ops::Devices& devices, PyObject* groups, std::string_view user) {
  std::vector<bool> seen(index(devices.size));
  bool valid = true;
  std::int64_t count = 0;
  for (const Ints& group : devices.groups) {
    valid = valid && !group.empty();
    for (std::int64_t position : group) {
      valid = valid && position >= 0 && position < devices.size && !seen[index(position)];
      if (!valid) break;
      seen[index(position)] = true;
      ++count;
    }
  }
  if (valid && count == devices.size) return;
  value_error(user, ": axis_index_groups must cover all indices exactly once, got ", repr(groups),
              "; expected each of 0 to ", devices.size - 1, " in one group.");
}

}  // namespace

std::int64_t to_integer(PyObject* object) {
  const Ref index = checked(PyNumber_Index(object));
  const auto value = PyLong_AsLongLong(index.get());
  if (value == -1 && PyErr_Occurred()) throw PythonError();
  return value;
}

Axes parse_axes(PyObject* object, PyObject* groups, std::string_view user) {
  Axes axes;
  if (lists_axes(object)) {
    const Ref items = pytree::checked_sequence(object, "axes");
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
      add_axis(axes, PySequence_Fast_GET_ITEM(items.get(), i), user);
  } else {
    add_axis(axes, object, user);
  }
  if (groups == Py_None) return axes;
  if (!axes.positional.empty()) {
    value_error(user,
                ": axis_index_groups is only supported for sums over just named axes, but "
                "axis_name has the dimension ",
                axes.positional[0], ".");
  }
  axes.devices.groups = group_lists(groups);
  check_groups(axes.devices, groups, user);
  return axes;
}

ops::Devices parse_devices(PyObject* object, PyObject* groups, std::string_view user) {
  const Axes axes = parse_axes(object, groups, user);
  if (axes.positional.empty()) return axes.devices;
  fail(ErrorKind::name_error, user, ": unbound axis name: ", axes.positional[0],
       "; expected the name of a mapped axis.");
}

}  // namespace shardax::callables
