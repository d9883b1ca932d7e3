// callables/program/params.cpp - the parameters of equations as Python objects, and back.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "callables/object.h"
#include "callables/program/object.h"
#include "callables/program/param_forms.h"
#include "callables/program/primitive.h"
#include "callables/transforms/axes.h"
#include "callables/transforms/shard_map_params.h"
#include "ir/param_name.h"
#include "objects/functions/bind.h"
#include "objects/sharding_conversion.h"
#include "trace/trace.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

// A Function among the parameters: Python hands it round.
struct FunctionObject {
  FunctionPtr function;
};

// JAX's parameter dimension_numbers: the specs of a convolution; of a product the contracted, then
// the batch dimensions of both operands.
constexpr ParamName conv_specs[] = {"lhs_spec", "rhs_spec", "out_spec"};
constexpr ParamName product_dimensions[] = {"lhs_contract", "rhs_contract", "lhs_batch",
                                            "rhs_batch"};

// Padding: (low, high) of each dimension.
py::tuple pairs(const Ints& flat) {
  py::tuple out(flat.size() / 2);
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2)
    out[i / 2] = py::make_tuple(flat[i], flat[i + 1]);
  return out;
}

struct ParamVisitor {
  Ref operator()(std::monostate) const { return Ref::borrow(Py_None); }
  Ref operator()(bool value) const { return to_python(value); }
  Ref operator()(std::int64_t value) const { return to_python(value); }
  Ref operator()(double value) const { return checked(PyFloat_FromDouble(value)); }
  Ref operator()(const std::string& value) const { return to_python(value); }
  Ref operator()(DType value) const { return Ref::borrow(objects::dtype_object(value)); }
  Ref operator()(const ProgramPtr& value) const { return wrap_program(value); }
  Ref operator()(const FunctionPtr& value) const {
    return Ref::steal(py::cast(FunctionObject{value}).release().ptr());
  }
  Ref operator()(const Types& types) const { return wrap_types(types); }
  Ref operator()(const ShardingPtr& sharding) const {
    return call_python("_devices.shardings", "described",
                       checked(objects::describe_sharding(sharding)));
  }
  Ref operator()(const Ints& values) const {
    return tuple(values.size(), [&](std::size_t i) { return to_python(values[i]); });
  }
  Ref operator()(const AxisNames& value) const {
    return tuple(value.names.size(),
                 [&](std::size_t i) { return to_python(axis_text(value.names[i])); });
  }
  Ref operator()(const Programs& values) const {
    return tuple(values.size(), [&](std::size_t i) { return wrap_program(values[i]); });
  }
  template <class F>
  static Ref tuple(std::size_t count, F item) {
    Ref out = checked(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (std::size_t i = 0; i < count; ++i) {
      PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), item(i).release());
    }
    return out;
  }
};

}  // namespace

Ref params_to_python(const Op& op, const Params& params) {
  if (PyObject* own = user_params(params)) return checked(PyDict_Copy(own));
  const auto shown = [&](const ParamValue& value) {
    return to_object(std::visit(ParamVisitor(), value));
  };
  const auto in_one = [&](std::string_view name) {
    return std::ranges::find(product_dimensions, name) != std::end(product_dimensions) ||
           std::ranges::find(conv_specs, name) != std::end(conv_specs);
  };
  py::dict out;
  const bool windows = params.has("window_strides");
  if (params.has(conv_specs[0])) {
    py::tuple specs(3);
    for (std::size_t i = 0; i < 3; ++i) specs[i] = shown(*params.find(conv_specs[i]));
    out["dimension_numbers"] =
        py::module_::import("shardax.lax").attr("ConvDimensionNumbers")(*specs);
    out["out_sharding"] = py::none();
  }
  if (params.has(product_dimensions[0])) {
    py::tuple lists(4);
    for (std::size_t i = 0; i < 4; ++i) lists[i] = shown(*params.find(product_dimensions[i]));
    out["dimension_numbers"] =
        py::make_tuple(py::make_tuple(lists[0], lists[1]), py::make_tuple(lists[2], lists[3]));
  }
  for (const auto& [name, value] : params) {
    if (in_one(name) || name == "batched") continue;  // a mark for the checks of loops
    const Ints* ints = std::get_if<Ints>(&value);
    out[py::str(std::string(name))] =
        windows && name == "padding" && ints ? py::object(pairs(*ints)) : shown(value);
  }
  add_specs(params, out);
  to_jax_form(op.name, out);
  return Ref::steal(out.release().ptr());
}

ParamValue param_from_python(PyObject* name, PyObject* object) {
  if (py::isinstance<ProgramObject>(object)) return unwrap_program(object);
  if (py::isinstance<FunctionObject>(object))
    return py::cast<FunctionObject&>(py::handle(object)).function;
  if (PyObject_HasAttrString(object, "_description")) {
    const Ref known = call_python("_devices.shardings", "description_of", object);
    return objects::sharding_from(known.get());
  }
  const bool sequence = PyTuple_Check(object) || PyList_Check(object);
  if (sequence && PySequence_Size(object) > 0) {
    const Ref first = checked(PySequence_GetItem(object, 0));
    const auto items = py::reinterpret_borrow<py::sequence>(object);
    if (py::isinstance<ProgramObject>(first.get())) {
      Programs programs;
      for (const py::handle item : items) programs.push_back(unwrap_program(item.ptr()));
      return programs;
    }
    if (find_type(first.get())) {
      Types types;
      for (const py::handle item : items) types.push_back(*find_type(item.ptr()));
      return types;
    }
  }
  ParamValue value = objects::to_param(str(name), object);
  if (auto* axes = std::get_if<AxisNames>(&value)) {
    for (AxisName& axis : axes->names) axis = shown_axis(axis_text(axis));
  }
  return value;
}

namespace {

void set_param(Params& params, py::handle name, py::handle value) {
  const auto text = py::cast<std::string>(name);
  if (text == "out_sharding" && value.is_none()) return;
  if (text == "dimension_numbers" && py::hasattr(value, "rhs_spec")) {
    for (const ParamName spec : conv_specs) {
      const py::str key{std::string(spec)};
      params.set(spec, param_from_python(key.ptr(), py::object(value.attr(key)).ptr()));
    }
    return;
  }
  if (text == "padding" && py::isinstance<py::sequence>(value)) {
    Ints flat;
    for (const py::handle pair : value)
      for (const py::handle size : pair) flat.push_back(py::cast<std::int64_t>(size));
    params.set("padding", flat);
    return;
  }
  if (text != "dimension_numbers") {
    params.set(ParamName::from_outside(text), param_from_python(name.ptr(), value.ptr()));
    return;
  }
  std::size_t next = 0;
  for (const py::handle pair : value) {
    for (const py::handle dims : pair) {
      if (next == 4) break;
      const py::str list{std::string(product_dimensions[next])};
      params.set(product_dimensions[next++], param_from_python(list.ptr(), dims.ptr()));
    }
  }
  if (next != 4)
    type_error("dimension_numbers: expected ((lhs, rhs) contracted, (lhs, rhs) batch), got ",
               repr(value.ptr()));
}

}  // namespace

Params params_from_python(const py::dict& dict) {
  Params out;
  for (const auto& [key, value] : from_jax_form(dict)) set_param(out, key, value);
  return out;
}

void init_program_params(py::module_& module) {
  py::class_<FunctionObject>(module, "HostFunction", "A function that an equation carries.")
      .def("__repr__", [](const FunctionObject& f) { return f.function->text(); });
}

}  // namespace shardax::callables
