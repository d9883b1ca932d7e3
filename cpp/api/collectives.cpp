// api/collectives.cpp - from axis names and trees to ops.
#include "api/collectives.h"

#include <algorithm>
#include <functional>

#include "api/axes.h"
#include "ops/collective.h"
#include "ops/ops.h"
#include "ops/promote.h"

namespace shardax::api {
namespace {

struct Axes {
  AxisSet named;  // in the user's order
  Ints positional;
};

std::int64_t to_integer(PyObject* object) {
  const Ref index = checked(PyNumber_Index(object));
  const auto value = PyLong_AsLongLong(index.get());
  if (value == -1 && PyErr_Occurred()) throw PythonError();
  return value;
}

// An integer is a dimension unless an axis of that name is in scope.
void add_axis(Axes& axes, PyObject* item, std::string_view user) {
  const std::string text = axis_name_text(item);
  if (PyLong_Check(item) && !is_axis_in_scope(text)) {
    axes.positional.push_back(to_integer(item));
    return;
  }
  const AxisName name = axis_in_scope(text);
  axis_size(name, user);
  axes.named.push_back(name);
}

Axes parse_axes(PyObject* object, std::string_view user) {
  Axes axes;
  if (!PyList_Check(object) && !PyTuple_Check(object)) {
    add_axis(axes, object, user);
    return axes;
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    add_axis(axes, PySequence_Fast_GET_ITEM(object, i), user);
  }
  return axes;
}

AxisSet named_axes(PyObject* object, std::string_view user) {
  const Axes axes = parse_axes(object, user);
  if (axes.positional.empty()) return axes.named;
  fail(ErrorKind::name_error, user, ": unbound axis name: ", axes.positional[0],
       "; expected the name of a mapped axis.");
}

std::int64_t total_size(const AxisSet& axes, std::string_view user) {
  std::int64_t size = 1;
  for (AxisName name : axes) size *= axis_size(name, user);
  return size;
}

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

// Binds an op over one axis; its type rule checks the operand even where batching will not ask it.
Value bind_checked(std::string_view name, const Value& value, const Params& params) {
  const Op& op = *find_op(name);
  infer_types(op, {value->type()}, params);
  return bind1(op, params, {value});
}

Ints dimensions(const Axes& axes, const Value& value) {
  Ints dims;
  for (std::int64_t axis : axes.positional)
    dims.push_back(checked_axis(axis, value->type().rank()));
  std::sort(dims.begin(), dims.end());
  return dims;
}

Value sum_over(const Value& operand, const Axes& axes) {
  Value value =
      operand->dtype() == DType::boolean ? ops::convert(operand, ops::default_int()) : operand;
  if (!axes.positional.empty()) value = ops::reduce_sum(value, dimensions(axes, value));
  return axes.named.empty() ? value : ops::psum(value, axes.named);
}

Value mean_over(const Value& value, const Axes& axes) {
  std::int64_t count = total_size(axes.named, "pmean");
  for (std::int64_t dim : dimensions(axes, value))
    count *= value->shape()[static_cast<std::size_t>(dim)];
  Value sum = sum_over(value, axes);
  if (!is_inexact(sum->dtype())) sum = ops::convert(sum, ops::default_float(), sum->type().weak);
  return ops::div(sum, ops::scalar(sum->dtype(), static_cast<double>(count), true));
}

Value extremum_over(const Value& operand, const Axes& axes, bool maximum) {
  Value value = operand;
  if (!axes.positional.empty()) {
    const Ints dims = dimensions(axes, value);
    value = maximum ? ops::reduce_max(value, dims) : ops::reduce_min(value, dims);
  }
  if (axes.named.empty()) return value;
  return maximum ? ops::pmax(value, axes.named) : ops::pmin(value, axes.named);
}

}  // namespace

Ref reduce_over(Reduction reduction, PyObject* tree, PyObject* axes_object) {
  static constexpr std::string_view names[] = {"psum", "pmean", "pmax", "pmin"};
  const Axes axes = parse_axes(axes_object, names[static_cast<int>(reduction)]);
  return map_leaves(tree, [&](PyObject* leaf) {
    const bool number =
        (PyLong_Check(leaf) && !PyBool_Check(leaf)) || PyFloat_Check(leaf) || PyComplex_Check(leaf);
    if (number && reduction == Reduction::sum && axes.positional.empty()) {
      const Ref size = to_python(total_size(axes.named, "psum"));
      return checked(PyNumber_Multiply(leaf, size.get()));
    }
    if (number && reduction == Reduction::mean && axes.positional.empty()) {
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

// Over several axes the last one varies fastest: gathered first, it ends up innermost.
Ref all_gather(PyObject* tree, PyObject* axes_object, std::int64_t dim, bool tiled) {
  const AxisSet axes = named_axes(axes_object, "all_gather");
  return map_values(tree, [&](const Value& operand) {
    const std::size_t rank = operand->type().rank();
    const std::int64_t at = checked_axis(dim, tiled ? rank : rank + 1);
    if (axes.size() == 1) {
      return ops::all_gather(operand, axes[0], axis_size(axes[0], "all_gather"), at, tiled);
    }
    Value value = tiled ? operand : ops::expand_dims(operand, {at});
    for (std::size_t i = axes.size(); i-- > 0;) {
      value = ops::all_gather(value, axes[i], axis_size(axes[i], "all_gather"), at, true);
    }
    return value;
  });
}

Ref psum_scatter(PyObject* tree, PyObject* axes_object, std::int64_t dim, bool tiled) {
  const AxisSet axes = named_axes(axes_object, "psum_scatter");
  return map_values(tree, [&](const Value& operand) {
    const std::int64_t at = checked_axis(dim, operand->type().rank());
    const auto scatter = [&](const Value& value, AxisName name, bool in_tiles) {
      return bind_checked("reduce_scatter", value,
                          {{"axis_name", AxisNames{{name}}},
                           {"axis_size", axis_size(name, "psum_scatter")},
                           {"scatter_dimension", at},
                           {"tiled", in_tiles}});
    };
    if (axes.size() == 1) return scatter(operand, axes[0], tiled);
    Value value = operand;
    for (AxisName name : axes) value = scatter(value, name, true);
    return tiled ? value : ops::squeeze(value, {at});
  });
}

Ref ppermute(PyObject* tree, PyObject* axes_object, PyObject* permutation) {
  const AxisSet axes = named_axes(axes_object, "ppermute");
  if (axes.size() != 1) {
    fail(ErrorKind::not_implemented_error, "ppermute: ", axes.size(),
         " axes were given; expected one.");
  }
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
  const std::int64_t size = axis_size(axes[0], "ppermute");
  return map_values(tree, [&](const Value& value) {
    return bind_checked("ppermute", value,
                        {{"axis_name", AxisNames{axes}}, {"axis_size", size}, {"perm", flat}});
  });
}

Ref all_to_all(PyObject* tree, PyObject* axes_object, std::int64_t split_dim,
               std::int64_t concat_dim, bool tiled) {
  const AxisSet axes = named_axes(axes_object, "all_to_all");
  if (axes.size() != 1) {
    fail(ErrorKind::not_implemented_error, "all_to_all: ", axes.size(),
         " axes were given; expected one.");
  }
  const std::int64_t size = axis_size(axes[0], "all_to_all");
  return map_values(tree, [&](const Value& value) {
    const std::size_t rank = value->type().rank();
    return bind_checked("all_to_all", value,
                        {{"axis_name", AxisNames{axes}},
                         {"axis_size", size},
                         {"split_axis", checked_axis(split_dim, rank)},
                         {"concat_axis", checked_axis(concat_dim, rank)},
                         {"tiled", tiled}});
  });
}

Ref axis_index(PyObject* axes_object) {
  const AxisSet axes = named_axes(axes_object, "axis_index");
  Value index;
  for (AxisName name : axes) {
    const std::int64_t size = axis_size(name, "axis_index");
    const Value own = ops::axis_index(name, size);
    index =
        index ? ops::add(ops::mul(index, ops::scalar(DType::int32, static_cast<double>(size))), own)
              : own;
  }
  return checked(wrap(index ? index : ops::scalar(DType::int32, 0)));
}

std::int64_t axis_size_of(PyObject* axes) {
  return total_size(named_axes(axes, "axis_size"), "axis_size");
}

}  // namespace shardax::api
