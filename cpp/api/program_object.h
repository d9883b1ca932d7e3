// api/program_object.h - programs and types as Python objects.
//
// ShapedArray is a Type as users see it (typeof, in_avals); ProgramObject a Program, printed in
// JAX's form; EquationObject one of its equations.
#pragma once

#include <memory>

#include "api/host_function.h"
#include "api/python.h"
#include "ir/program.h"

namespace pybind11 {
class dict;
class module_;
}  // namespace pybind11

namespace shardax::api {

struct ShapedArray {
  Type type;
};

struct ProgramObject {
  ProgramPtr program;
  std::shared_ptr<const KeptFunctions> functions;
  Values captured = {};  // for its last inputs: shown among the constants
};

struct EquationObject {
  ProgramPtr program;  // keeps the equation alive
  std::size_t index;
  const Equation& equation() const { return program->equations[index]; }
};

// New references.
Ref wrap_type(const Type& type);
Ref wrap_types(const Types& types);  // a list
Ref wrap_program(const ProgramPtr& program, Values captured = {});
// Throw TypeError for other objects.
const ProgramObject& program_object(PyObject* object);
ProgramPtr unwrap_program(PyObject* object);
// The Type inside a ShapedArray, or null.
const Type* find_type(PyObject* object);

// The parameters of an equation as a dict, and a parameter back.
Ref params_to_python(const Params& params);
ParamValue param_from_python(PyObject* name, PyObject* object);
Params params_from_python(const pybind11::dict& dict);

void init_type_object(pybind11::module_& module);
void init_program_objects(pybind11::module_& module);
void init_program_edits(pybind11::module_& module);

}  // namespace shardax::api
