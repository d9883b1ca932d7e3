// callables/program/type_object.cpp - the Python class of types.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "analysis/shardings.h"
#include "array/checked_axis.h"
#include "callables/program/object.h"
#include "callables/staging/automatic_mesh.h"
#include "callables/transforms/axes.h"
#include "callables/value_lists.h"
#include "objects/functions/bind.h"
#include "objects/sharding_conversion.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "transform/jvp.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

py::tuple shape_tuple(const Type& type) {
  py::tuple shape(type.rank());
  for (std::size_t i = 0; i < type.rank(); ++i) shape[i] = py::int_(type.shape[i]);
  return shape;
}

// ValueError where explicit axes split a dimension unevenly.
void check_even_split(const Type& type) {
  for (std::size_t d = 0; d < type.rank() && type.sharding; ++d) {
    const std::vector<std::string> axes = type.sharding->explicit_split(d);
    const std::int64_t parts = ops::parts_of(axes, *type.sharding);
    if (type.shape[d] % parts == 0) continue;
    value_error("Sharding spec (", quoted(axes), axes.size() == 1 ? ",)" : ")",
                " implies that array axis ", d, " is partitioned ", parts,
                " times, but does not evenly divide the dimension size ", type.shape[d],
                ". Got shape: ", to_string(type.shape), " and sharding ",
                to_string(*type.sharding));
  }
}

// The options of JAX's types: the split over explicit axes, the manual axes over which values vary,
// and the memory space.
void add_options(Type& type, const py::kwargs& options) {
  for (const auto& [key, value] : options) {
    const auto name = py::cast<std::string>(key);
    if (name == "memory_space") {
      type.host = !value.is_none() && py::cast<std::string>(value.attr("name")) == "Host";
      continue;
    }
    if (name == "sharding") {
      if (value.is_none()) continue;
      type.sharding = sharding_in_types(value.ptr(), type.rank());
      check_even_split(type);
    } else if (name == "vma" || name == "manual_axis_type") {
      if (value.is_none()) continue;
      type.varying = join(type.varying, varying_in_types(value.ptr()));
    } else {
      type_error("ShapedArray() got an unexpected keyword argument '", name, "'");
    }
  }
}

std::string represent(const Type& type) {
  return concat("ShapedArray(", to_string(type), type.weak ? ", weak_type=True" : "", ")");
}

}  // namespace

ShardingPtr sharding_in_types(PyObject* sharding, std::size_t rank) {
  const Ref known = call_python("_devices.type_shardings", "described_in_types", sharding,
                                static_cast<std::int64_t>(rank));
  return known.get() == Py_None ? nullptr : objects::sharding_from(known.get());
}

namespace {
// The fields of a ManualAxisType for the axes of each state.
constexpr std::pair<const char*, AxisState> fields[] = {{"varying", AxisState::varying},
                                                        {"unreduced", AxisState::unreduced},
                                                        {"reduced", AxisState::reduced}};
}  // namespace

AxisSet varying_in_types(PyObject* axes) {
  const py::handle value(axes);
  const bool whole = py::hasattr(value, "varying");
  AxisSet out;
  for (const auto& [field, state] : fields) {
    if (!whole && state != AxisState::varying) continue;
    const py::object names =
        whole ? py::object(value.attr(field)) : py::reinterpret_borrow<py::object>(value);
    for (const py::handle axis : names)
      out = join(out, AxisSet{in_state(intern_axis(py::cast<std::string>(py::str(axis))), state)});
  }
  return out;
}

Ref wrap_type(const Type& type) { return Ref::steal(py::cast(ShapedArray{type}).release().ptr()); }

Ref wrap_types(const Types& types) {
  Ref list = checked(PyList_New(0));
  for (const Type& type : types) check(PyList_Append(list.get(), wrap_type(type).get()));
  return list;
}

const Type* find_type(PyObject* object) {
  if (!py::isinstance<ShapedArray>(object)) return nullptr;
  return &py::cast<ShapedArray&>(py::handle(object)).type;
}

namespace {

py::object manual_axis_type(const ShapedArray& a) {
  py::list names[std::size(fields)];
  for (std::size_t k = 0; k < std::size(fields); ++k) {
    for (const AxisName name : axes_in_state(a.type.varying, fields[k].second))
      names[k].append(py::str(written_axis(name)));
  }
  return to_object(call_python("_base.manual_axes", "ManualAxisType", names[0].ptr(),
                               names[1].ptr(), names[2].ptr()));
}

}  // namespace

void init_type_object(py::module_& module) {
  py::class_<ShapedArray>(module, "ShapedArray",
                          "The shape and dtype of an array, without its elements.")
      .def(py::init([](const py::object& shape, const py::object& dtype, bool weak_type,
                       const py::kwargs& options) {
             Type type;
             type.dtype = objects::to_dtype(dtype.ptr());
             type.weak = weak_type;
             for (const py::handle extent : shape)
               type.shape.push_back(py::cast<std::int64_t>(extent));
             add_options(type, options);
             return ShapedArray{type};
           }),
           py::arg("shape"), py::arg("dtype"), py::arg("weak_type") = false)
      .def_property_readonly("shape", [](const ShapedArray& a) { return shape_tuple(a.type); })
      .def_property_readonly(
          "dtype",
          [](const ShapedArray& a) {
            return py::reinterpret_borrow<py::object>(objects::dtype_object(a.type.dtype));
          })
      .def_property_readonly("weak_type", [](const ShapedArray& a) { return a.type.weak; })
      .def_property_readonly("ndim", [](const ShapedArray& a) { return a.type.rank(); })
      .def_property_readonly("size", [](const ShapedArray& a) { return a.type.size(); })
      .def_property_readonly(
          "sharding",
          [](const ShapedArray& a) {
            const py::module_ shardings = py::module_::import("shardax._devices.type_shardings");
            const ShardingPtr& mesh = a.mesh ? a.mesh : automatic_mesh();
            const Ref known =
                checked(objects::describe_sharding(a.type.sharding ? a.type.sharding : mesh));
            const char* maker = a.type.sharding ? "of_type" : "unplaced";
            return py::object(shardings.attr(maker)(py::handle(known.get()), a.type.rank()));
          },
          "Over explicit axes how arrays are split; else over the mesh that they lie on.")
      .def_property_readonly(
          "asked_split",
          [](const ShapedArray& a) -> py::object {
            const ShardingPtr& own = a.type.sharding;
            if (!asked_explicit(own)) return py::none();
            py::tuple out(a.type.rank());
            bool whole = true;
            for (std::size_t d = 0; d < a.type.rank(); ++d) {
              const std::vector<std::string> axes = own->explicit_split(d);
              whole = whole && axes.empty();
              out[d] = py::tuple(py::cast(axes));
            }
            return whole ? py::object(py::none()) : py::object(out);
          },
          "Per dimension, the mesh axes that split it, of those that the user asked to be explicit;"
          " None where none does.")
      .def(
          "str_short",
          [](const ShapedArray& a, bool short_dtypes, bool /*mesh_axis_types*/) {
            return short_dtypes ? short_string(a.type) : to_string(a.type);
          },
          py::arg("short_dtypes") = false, py::arg("mesh_axis_types") = false)
      .def(
          "update",
          [](const py::object& self, const py::kwargs& changes) {
            const Type& type = py::cast<ShapedArray&>(self).type;
            py::dict fields;
            for (const char* field : {"shape", "dtype", "weak_type"})
              fields[field] = self.attr(field);
            if (type.sharding && !changes.contains("shape"))
              fields["sharding"] = self.attr("sharding");
            if (type.host) fields["memory_space"] = self.attr("memory_space");
            if (!type.varying.empty() && !changes.contains("manual_axis_type"))
              fields["manual_axis_type"] = manual_axis_type(ShapedArray{type});
            for (const auto& [field, value] : changes) fields[field] = value;
            return py::type::of(self)(**fields);
          },
          "The same type with other fields: shape, dtype, weak_type, sharding, vma.")
      .def(
          "strip_weak_type",
          [](const ShapedArray& a) { return ShapedArray{with_dtype(a.type, a.type.dtype)}; },
          "The same type, not weak.")
      .def(
          "to_tangent_aval", [](const ShapedArray& a) { return ShapedArray{tangent_type(a.type)}; },
          "The type of tangents: with dtype float0 for integers and truth values.")
      .def(
          "at_least_vspace", [](const ShapedArray& a) { return ShapedArray{tangent_type(a.type)}; },
          "The type of tangents, under its older name.")
      .def(
          "to_ct_aval", [](const ShapedArray& a) { return ShapedArray{tangent_type(a.type)}; },
          "The type of cotangents, which is that of tangents.")
      .def(
          "normalize", [](const ShapedArray& a) { return a; }, "The same type.")
      .def_property_readonly("manual_axis_type", manual_axis_type,
                             "The mapped axes over which a value may differ.")
      .def_property_readonly("mat", manual_axis_type, "The same, under a shorter name.")
      .def_property_readonly(
          "vma",
          [](const ShapedArray& a) { return py::object(manual_axis_type(a).attr("varying")); },
          "The mapped axes over which a value varies: `mat.varying`, under JAX 0.7's name.")
      .def_property_readonly("memory_space",
                             [](const ShapedArray& a) {
                               return py::module_::import("shardax.memory")
                                   .attr("Space")
                                   .attr(a.type.host ? "Host" : "Device");
                             })
      .def("__str__", [](const ShapedArray& a) { return objects::weak_string(a.type); })
      .def("__repr__", [](const ShapedArray& a) { return represent(a.type); })
      .def("__hash__", [](const ShapedArray& a) { return hash(a.type); })
      .def("__eq__", [](const ShapedArray& a, const py::object& other) {
        const Type* type = find_type(other.ptr());
        return type && *type == a.type;
      });
}

}  // namespace shardax::callables
