// objects/sharding_conversion.cpp - shardings of arrays as Python describes them.
#include "objects/sharding_conversion.h"

#include <algorithm>

#include "analysis/shardings.h"
#include "base/index.h"
#include "execute/execute.h"
#include "execute/partial_sums.h"
#include "execute/process_programs.h"
#include "ir/core_ops.h"
#include "objects/array/array_methods.h"
#include "objects/config.h"
#include "objects/functions/shape_args.h"
#include "ops/collectives/partial_sums.h"
#include "ops/ops.h"

namespace shardax::objects {
namespace {

Ref strings(const std::vector<std::string>& texts) {
  Ref tuple = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(texts.size())));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     Ref::checked(PyUnicode_FromString(texts[i].c_str())).release());
  }
  return tuple;
}

std::vector<std::string> to_strings(PyObject* object) {
  const Ref items = pytree::checked_sequence(object, "a sequence of str was expected");
  std::vector<std::string> out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    out.push_back(pytree::text_of(PySequence_Fast_GET_ITEM(items.get(), i)));
  }
  return out;
}

PyObject* get_sharding(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    const Value value = unwrap(object);
    return describe_sharding(value->is_tracer() ? ShardingPtr() : as_array(value).sharding());
  });
}

PyObject* get_layout(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    const Value value = unwrap(object);
    return describe_layout(value->is_tracer() ? ShardingPtr() : as_array(value).sharding());
  });
}

PyObject* get_terms(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    const Value value = unwrap(object);
    const ArrayPtr terms = value->is_tracer() ? ArrayPtr() : as_array(value).terms();
    if (!terms) Py_RETURN_NONE;
    return wrap(terms);
  });
}

PyObject* get_type_sharding(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* { return describe_sharding(unwrap(object)->type().sharding); });
}

struct Described {
  ShardingPtr sharding;
  Ints open;  // dimensions whose entry is None
};

// Explicit axes of one device split nothing.
void leave_out_single_devices(Sharding& sharding) {
  const auto splits_nothing = [&](const std::string& name) {
    const auto at = std::find(sharding.mesh_axes.begin(), sharding.mesh_axes.end(), name);
    const auto i = index(at - sharding.mesh_axes.begin());
    return i < sharding.mesh_shape.size() && sharding.mesh_shape[i] == 1 &&
           sharding.is_explicit(name);
  };
  for (std::vector<std::string>& names : sharding.spec) std::erase_if(names, splits_nothing);
  std::erase_if(sharding.unreduced, splits_nothing);
  std::erase_if(sharding.reduced, splits_nothing);
}

// (mesh axes, mesh_shape, device_ids, spec, named, axis_types[, unreduced, reduced[, memory[,
// layout]]])
Described parse_sharding(PyObject* description) {
  PyObject *axes, *shape, *devices, *spec, *unreduced = nullptr, *reduced = nullptr;
  PyObject* layout = nullptr;
  int named;
  const char *axis_types = "", *memory = "";
  if (!PyArg_ParseTuple(description, "OOOOp|sOOsO", &axes, &shape, &devices, &spec, &named,
                        &axis_types, &unreduced, &reduced, &memory, &layout))
    throw PythonError();
  Shared<Sharding> sharding(new Sharding);
  sharding->mesh_axes = to_strings(axes);
  for (std::int64_t n : parse_ints(shape, "mesh shape")) sharding->mesh_shape.push_back(n);
  for (std::int64_t n : parse_ints(devices, "devices"))
    sharding->devices.push_back(static_cast<int>(n));
  Ints open;
  const Ref items = pytree::checked_sequence(spec, "a spec must be a sequence");
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    PyObject* entry = PySequence_Fast_GET_ITEM(items.get(), i);
    if (entry == Py_None) open.push_back(i);
    sharding->spec.push_back(entry == Py_None ? std::vector<std::string>() : to_strings(entry));
  }
  sharding->named = named != 0;
  sharding->axis_types = axis_types;
  if (unreduced) sharding->unreduced = to_strings(unreduced);
  if (reduced) sharding->reduced = to_strings(reduced);
  sharding->memory = memory;
  if (layout)
    for (std::int64_t dimension : parse_ints(layout, "layout"))
      sharding->layout.push_back(dimension);
  if (flag("jax_remove_size_one_mesh_axis_from_type")) leave_out_single_devices(*sharding);
  return {ShardingPtr(sharding.get()), std::move(open)};
}

const Op& constraint() {
  const Op* op = &core_ops().sharding_constraint;
  return *op;
}
Params constraint_params(const Described& to) {
  return {{"sharding", to.sharding}, {"unconstrained_dims", to.open}};
}

// The array where devices of several processes have it.
Value between_processes(const Array& array, const Described& given) {
  if (!array.slab()) return split_between_processes(array, given.sharding);
  const bool lies_so =
      same_sharding(over_processes(*array.sharding()), over_processes(*given.sharding));
  if (lies_so) return of_slab(array.slab(), array.type(), given.sharding);
  return ops::sharding_constraint(ArrayPtr(const_cast<Array*>(&array)), given.sharding, given.open);
}

PyObject* get_slab(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    const Value value = unwrap(object);
    check_not_deleted(value);
    if (value->is_tracer() || !as_array(value).slab()) Py_RETURN_NONE;
    const Array& slab = *as_array(value).slab();
    return wrap(view_of(slab, slab.type(), slab.strides(), 0));
  });
}

PyObject* slab_slice(PyObject*, PyObject* args) {
  PyObject *shape, *description;
  if (!PyArg_ParseTuple(args, "OO", &shape, &description)) return nullptr;
  return guarded([&] {
    const Slab slab = slab_of(parse_ints(shape, "shape"), *parse_sharding(description).sharding);
    return Py_BuildValue("(NN)", int_tuple(slab.start).release(), int_tuple(slab.size).release());
  });
}

PyObject* from_slab(PyObject*, PyObject* args) {
  PyObject *object, *shape, *description;
  if (!PyArg_ParseTuple(args, "OOO", &object, &shape, &description)) return nullptr;
  return guarded([&] {
    const Value value = unwrap(object);
    check_not_deleted(value);
    const Array& own = as_array(value);
    const ShardingPtr sharding = parse_sharding(description).sharding;
    Type whole = own.type();
    whole.shape = parse_ints(shape, "shape");
    if (slab_of(whole.shape, *sharding).size != own.shape())
      value_error("from_slab: the part has shape ", to_string(own.shape()), "; expected ",
                  to_string(slab_of(whole.shape, *sharding).size), ".");
    return wrap(of_slab(view_of(own, own.type(), own.strides(), 0), whole, sharding));
  });
}

// The same elements, labelled so. While tracing, and where dimensions are open, an op does it; None
// for the description takes an array's label away. Cotangents of a tracer that comes `from` another
// sharding go back there.
PyObject* with_sharding(PyObject*, PyObject* args) {
  PyObject *object, *description, *from = nullptr;
  if (!PyArg_ParseTuple(args, "OO|O", &object, &description, &from)) return nullptr;
  return guarded([&]() -> PyObject* {
    const Value value = unwrap(object);
    check_not_deleted(value);
    const Described given = description == Py_None ? Described() : parse_sharding(description);
    if (from && value->is_tracer()) {
      const ShardingPtr back = parse_sharding(from).sharding;
      return wrap(
          shardax::bind(constraint(), constraint_params(given).with("from", back), {value})[0]);
    }
    if (given.sharding && (value->is_tracer() || !given.open.empty()))
      return wrap(ops::sharding_constraint(value, given.sharding, given.open));
    if (value->is_tracer()) return Py_NewRef(object);
    const Array& array = as_array(value);
    if (spans_processes(given.sharding)) return wrap(between_processes(array, given));
    ArrayPtr made = view_of(array, array.type(), array.strides(), 0);
    made->set_sharding(given.sharding);
    const ShardingPtr& before = array.sharding();
    if (before && given.sharding && same_mesh(*before, *given.sharding)) {
      // Other than of a sum, devices have values of their own over the axes that split nothing.
      const bool alike = before->unreduced == given.sharding->unreduced;
      if (alike && (is_sum(before) || before->spec == given.sharding->spec))
        made->set_terms(array.terms());
      else if (!alike)
        keep_partial_sums(*program_of(constraint(), constraint_params(given), {value}), {value},
                          {made});
    }
    return wrap(made);
  });
}

PyObject* partial_sums(PyObject*, PyObject* args) {
  PyObject *object, *stack;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(args, "OOn", &object, &stack, &count)) return nullptr;
  return guarded([&] {
    const ShardingPtr sharding = parse_sharding(stack).sharding;
    return wrap(ops::partial_sums(unwrap(object), sharding, index(count)));
  });
}

PyObject* with_memory(PyObject*, PyObject* args) {
  PyObject *object, *otherwise;
  const char* memory;
  if (!PyArg_ParseTuple(args, "OsO", &object, &memory, &otherwise)) return nullptr;
  return guarded(
      [&] { return wrap(ops::moved(unwrap(object), memory, parse_sharding(otherwise).sharding)); });
}

PyObject* with_layout(PyObject*, PyObject* args) {
  PyObject *object, *layout, *otherwise;
  if (!PyArg_ParseTuple(args, "OOO", &object, &layout, &otherwise)) return nullptr;
  return guarded([&] {
    const Op* op = &core_ops().layout_constraint;
    Ints order;
    for (std::int64_t dimension : parse_ints(layout, "layout")) order.push_back(dimension);
    const Params params{{"layout", order}, {"otherwise", parse_sharding(otherwise).sharding}};
    return wrap(bind1(*op, params, {unwrap(object)}));
  });
}

PyMethodDef labels_functions[] = {
    {"get_sharding", get_sharding, METH_O, "The recorded sharding of an array."},
    {"get_layout", get_layout, METH_O,
     "The recorded order of an array's dimensions; None where it is theirs."},
    {"get_terms", get_terms, METH_O,
     "What devices have of an array that stands for a sum, stacked; None where nobody knows."},
    {"partial_sums", partial_sums, METH_VARARGS,
     "What devices have of a value that stands for a sum, stacked over the first axes of a "
     "sharding."},
    {"get_type_sharding", get_type_sharding, METH_O, "The sharding in the type of a value."},
    {"get_slab", get_slab, METH_O,
     "What this process has of an array that is split between processes; None of others."},
    {"slab_slice", slab_slice, METH_VARARGS,
     "Where this process's part of an array of that shape and sharding starts, and its shape."},
    {"from_slab", from_slab, METH_VARARGS,
     "The array of that shape and sharding of which this process has that part."},
    {"with_sharding", with_sharding, METH_VARARGS, "A view with another recorded sharding."},
    {"with_layout", with_layout, METH_VARARGS,
     "A value with that order of dimensions, over what is given where it lies nowhere."},
    {"with_memory", with_memory, METH_VARARGS,
     "A traced value in another kind of memory, over what is given where it lies nowhere."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* describe_sharding(const ShardingPtr& sharding) {
  if (!sharding) Py_RETURN_NONE;
  const Sharding& s = *sharding;
  Shape shape, devices;
  shape.append(s.mesh_shape.begin(), s.mesh_shape.end());
  devices.append(s.devices.begin(), s.devices.end());
  Ref spec = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(s.spec.size())));
  for (std::size_t d = 0; d < s.spec.size(); ++d) {
    PyTuple_SET_ITEM(spec.get(), static_cast<Py_ssize_t>(d), strings(s.spec[d]).release());
  }
  return Py_BuildValue("(NNNNOsNNs)", strings(s.mesh_axes).release(), int_tuple(shape).release(),
                       int_tuple(devices).release(), spec.release(), s.named ? Py_True : Py_False,
                       s.axis_types.c_str(), strings(s.unreduced).release(),
                       strings(s.reduced).release(), s.memory.c_str());
}

PyObject* describe_layout(const ShardingPtr& sharding) {
  if (!sharding || sharding->layout.empty()) Py_RETURN_NONE;
  Shape layout;
  layout.append(sharding->layout.begin(), sharding->layout.end());
  return int_tuple(layout).release();
}

ShardingPtr sharding_from(PyObject* description) { return parse_sharding(description).sharding; }

void init_labels(PyObject* module) {
  pytree::check(PyModule_AddFunctions(module, labels_functions));
}

}  // namespace shardax::objects
