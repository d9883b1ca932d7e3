// callables/program/object.h - programs and types as Python objects.
//
// ShapedArray is a Type as users see it (typeof, in_avals); ProgramObject a Program, printed in
// JAX's form; EquationObject one of its equations.
#pragma once

#include <memory>

#include "callables/host_function.h"
#include "callables/python.h"
#include "ir/program.h"

namespace pybind11 {
class dict;
class module_;
class object;
}  // namespace pybind11

namespace shardax::callables {

struct ShapedArray {
  Type type;
  ShardingPtr mesh = nullptr;  // of an array over automatic axes: shown, and no part of the type
};

// A variable as programs show it to Python: one of a program. A variable that is in no program yet
// is the only one of a program of its own.
struct VarObject {
  ProgramPtr program;
  Var var;
  const Type& type() const { return program->type(var); }
  friend bool operator==(const VarObject& a, const VarObject& b) {
    return a.program == b.program && a.var == b.var;
  }
};
struct VarHash {
  std::size_t operator()(const VarObject& v) const;
};
// A rank-0 constant.
struct LiteralObject {
  ArrayPtr value;
};
// For each variable of a program that was put together in Python, the one that it was given as;
// null for other programs.
using ShownVars = std::shared_ptr<const std::vector<VarObject>>;

struct ProgramObject {
  ProgramPtr program;
  std::shared_ptr<const KeptFunctions> functions;
  Values captured = {};  // for its last inputs: shown among the constants; null: not known yet
  ShownVars shown = nullptr;
  Ref about = {};  // gives its DebugInfo; null where only a name is known
};

struct EquationObject {
  ProgramPtr program;  // keeps the equation alive
  std::size_t index;
  ShownVars shown = nullptr;
  const Equation& equation() const { return program->equations[index]; }
};

// A Var, or a Literal where the variable is a rank-0 constant.
pybind11::object shown_variable(const ProgramPtr& program, const ShownVars& shown, Var v);

// New references.
Ref wrap_type(const Type& type);
Ref wrap_types(const Types& types);  // a list
Ref wrap_program(const ProgramPtr& program, Values captured = {});
// The program with captured arrays among its constants; as it is where it captured tracers.
ProgramPtr closed_program(const ProgramObject& p);
// Throw TypeError for other objects.
const ProgramObject& program_object(PyObject* object);
ProgramPtr unwrap_program(PyObject* object);  // closed
// The sharding that types show for a Sharding over a mesh with explicit axes; else null.
ShardingPtr sharding_in_types(PyObject* sharding, std::size_t rank);
// Manual axes, as a ManualAxisType or a set of names.
AxisSet varying_in_types(PyObject* axes);
// The Type inside a ShapedArray, or null.
const Type* find_type(PyObject* object);

// The parameters of an equation as a dict, and a parameter back.
Ref params_to_python(const Op& op, const Params& params);
ParamValue param_from_python(PyObject* name, PyObject* object);
Params params_from_python(const pybind11::dict& dict);

void init_type_object(pybind11::module_& module);
void init_program_params(pybind11::module_& module);
void init_program_objects(pybind11::module_& module);
void init_program_parts(pybind11::module_& module);
void init_program_edits(pybind11::module_& module);

}  // namespace shardax::callables
