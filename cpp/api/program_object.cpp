// api/program_object.cpp - the Python classes of programs and types.
#include "api/program_object.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "ir/op.h"

namespace py = pybind11;

namespace shardax::api {
namespace {

py::object to_object(Ref ref) { return py::reinterpret_steal<py::object>(ref.release()); }

py::tuple shape_tuple(const Type& type) {
  py::tuple shape(type.rank());
  for (std::size_t i = 0; i < type.rank(); ++i) shape[i] = py::int_(type.shape[i]);
  return shape;
}

std::string represent(const Type& type) {
  return concat("ShapedArray(", to_string(type), type.weak ? ", weak_type=True" : "", ")");
}

Ref types_of_vars(const Program& program, const Vars& vars) {
  Types types;
  for (Var v : vars) types.push_back(program.type(v));
  return wrap_types(types);
}

py::dict params_of(const EquationObject& e) {
  py::dict out;
  for (const auto& [name, value] : e.equation().params) {
    out[py::str(std::string(name))] = to_object(param_to_python(value));
  }
  return out;
}

py::list equations_of(const ProgramObject& p) {
  py::list out;
  for (std::size_t i = 0; i < p.program->equations.size(); ++i)
    out.append(EquationObject{p.program, i});
  return out;
}

// Scalars are printed where they are used; the others are listed.
std::vector<const Constant*> listed_constants(const Program& program) {
  std::vector<const Constant*> out;
  for (const Constant& c : program.constants) {
    if (program.type(c.var).rank() > 0) out.push_back(&c);
  }
  return out;
}

py::list constants_of(const ProgramObject& p) {
  py::list out;
  for (const Constant* c : listed_constants(*p.program))
    out.append(to_object(checked(wrap(c->value))));
  return out;
}

py::object constant_types_of(const ProgramObject& p) {
  Types types;
  for (const Constant* c : listed_constants(*p.program)) types.push_back(p.program->type(c->var));
  return to_object(wrap_types(types));
}

struct ParamVisitor {
  Ref operator()(std::monostate) const { return Ref::borrow(Py_None); }
  Ref operator()(bool value) const { return to_python(value); }
  Ref operator()(std::int64_t value) const { return to_python(value); }
  Ref operator()(double value) const { return checked(PyFloat_FromDouble(value)); }
  Ref operator()(const std::string& value) const { return to_python(value); }
  Ref operator()(DType value) const { return Ref::borrow(bindings::dtype_object(value)); }
  Ref operator()(const ProgramPtr& value) const { return wrap_program(value); }
  Ref operator()(const FunctionPtr& value) const { return to_python(value->text()); }
  Ref operator()(const Types& types) const { return wrap_types(types); }
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

Ref wrap_type(const Type& type) { return Ref::steal(py::cast(ShapedArray{type}).release().ptr()); }

Ref wrap_types(const Types& types) {
  Ref list = checked(PyList_New(0));
  for (const Type& type : types) check(PyList_Append(list.get(), wrap_type(type).get()));
  return list;
}

Ref wrap_primitive(const Op& op) {
  return Ref::steal(py::cast(PrimitiveObject{&op}).release().ptr());
}

Ref wrap_program(const ProgramPtr& program) {
  return Ref::steal(py::cast(ProgramObject{program}).release().ptr());
}

ProgramPtr unwrap_program(PyObject* object) {
  if (!py::isinstance<ProgramObject>(object))
    type_error("expected a Program, got ", repr(type_object(object)));
  return py::cast<ProgramObject&>(py::handle(object)).program;
}

const Type* find_type(PyObject* object) {
  if (!py::isinstance<ShapedArray>(object)) return nullptr;
  return &py::cast<ShapedArray&>(py::handle(object)).type;
}

Ref param_to_python(const ParamValue& value) { return std::visit(ParamVisitor(), value); }

ParamValue param_from_python(PyObject* object) {
  if (PyBool_Check(object)) return object == Py_True;
  if (PyLong_Check(object)) return static_cast<std::int64_t>(PyLong_AsLongLong(object));
  if (PyFloat_Check(object)) return PyFloat_AsDouble(object);
  if (PyUnicode_Check(object)) return str(object);
  if (PyTuple_Check(object) && PyTuple_GET_SIZE(object) > 0 &&
      py::isinstance<ProgramObject>(PyTuple_GET_ITEM(object, 0))) {
    Programs programs;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
      programs.push_back(unwrap_program(PyTuple_GET_ITEM(object, i)));
    }
    return programs;
  }
  return unwrap_program(object);
}

void init_program_objects(py::module_& module) {
  py::class_<ShapedArray>(module, "ShapedArray",
                          "The shape and dtype of an array, without its elements.")
      .def(py::init([](const py::object& shape, const py::object& dtype, bool weak_type) {
             Type type;
             type.dtype = bindings::to_dtype(dtype.ptr());
             type.weak = weak_type;
             for (const py::handle extent : shape)
               type.shape.push_back(py::cast<std::int64_t>(extent));
             return ShapedArray{type};
           }),
           py::arg("shape"), py::arg("dtype"), py::arg("weak_type") = false)
      .def_property_readonly("shape", [](const ShapedArray& a) { return shape_tuple(a.type); })
      .def_property_readonly(
          "dtype",
          [](const ShapedArray& a) {
            return py::reinterpret_borrow<py::object>(bindings::dtype_object(a.type.dtype));
          })
      .def_property_readonly("weak_type", [](const ShapedArray& a) { return a.type.weak; })
      .def_property_readonly("ndim", [](const ShapedArray& a) { return a.type.rank(); })
      .def_property_readonly("size", [](const ShapedArray& a) { return a.type.size(); })
      .def(
          "str_short",
          [](const ShapedArray& a, bool short_dtypes) {
            return short_dtypes ? short_string(a.type) : to_string(a.type);
          },
          py::arg("short_dtypes") = false)
      .def("__str__", [](const ShapedArray& a) { return bindings::weak_string(a.type); })
      .def("__repr__", [](const ShapedArray& a) { return represent(a.type); })
      .def("__hash__", [](const ShapedArray& a) { return hash(a.type); })
      .def("__eq__", [](const ShapedArray& a, const py::object& other) {
        const Type* type = find_type(other.ptr());
        return type && *type == a.type;
      });

  py::class_<PrimitiveObject>(module, "Primitive", "An op; str() is its name.")
      .def_property_readonly("name", [](const PrimitiveObject& p) { return p.op->name; })
      .def("__str__", [](const PrimitiveObject& p) { return p.op->name; })
      .def("__repr__", [](const PrimitiveObject& p) { return p.op->name; })
      .def("__hash__", [](const PrimitiveObject& p) { return std::hash<const void*>{}(p.op); })
      .def("__eq__", [](const PrimitiveObject& p, const py::object& other) {
        return py::isinstance<PrimitiveObject>(other) &&
               py::cast<PrimitiveObject&>(other).op == p.op;
      });
  module.def(
      "primitive",
      [](const std::string& name) {
        const Op* op = find_op(name);
        if (!op) value_error("there is no op '", name, "'");
        return PrimitiveObject{op};
      },
      "The op of this name.");

  py::class_<EquationObject>(module, "Equation", "One op of a program, with its parameters.")
      .def_property_readonly(
          "primitive", [](const EquationObject& e) { return PrimitiveObject{e.equation().op}; })
      .def_property_readonly("params", params_of)
      .def_property_readonly("in_avals",
                             [](const EquationObject& e) {
                               return to_object(types_of_vars(*e.program, e.equation().inputs));
                             })
      .def_property_readonly("out_avals",
                             [](const EquationObject& e) {
                               return to_object(types_of_vars(*e.program, e.equation().outputs));
                             })
      .def("__repr__", [](const EquationObject& e) {
        return concat("<Equation ", e.equation().op->name, ">");
      });

  py::class_<ProgramObject>(module, "Program",
                            "A staged function; str() shows it as JAX shows a jaxpr.")
      .def("__str__", [](const ProgramObject& p) { return to_string(*p.program); })
      .def("__repr__", [](const ProgramObject& p) { return to_string(*p.program); })
      .def_property_readonly("jaxpr", [](const ProgramObject& p) { return p; })
      .def_property_readonly("name", [](const ProgramObject& p) { return p.program->name; })
      .def_property_readonly("eqns", equations_of)
      .def_property_readonly("consts", constants_of)
      .def_property_readonly("constvars", constant_types_of)
      .def_property_readonly(
          "invars",
          [](const ProgramObject& p) { return to_object(wrap_types(p.program->input_types())); })
      .def_property_readonly(
          "outvars",
          [](const ProgramObject& p) { return to_object(wrap_types(p.program->output_types())); })
      .def_property_readonly(
          "in_avals",
          [](const ProgramObject& p) { return to_object(wrap_types(p.program->input_types())); })
      .def_property_readonly("out_avals", [](const ProgramObject& p) {
        return to_object(wrap_types(p.program->output_types()));
      });
}

}  // namespace shardax::api
