// callables/program/parts.cpp - equations and programs put together in Python.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <unordered_map>

#include "callables/program/object.h"
#include "callables/program/primitive.h"
#include "callables/value_lists.h"
#include "ir/verify.h"
#include "trace/trace.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

// A program in the making, and which variables of other programs its own stand for.
class Assembly {
 public:
  Var define(const VarObject& given) {
    if (known_.contains(given)) value_error("Jaxpr: a variable is defined twice");
    const Var var = program->add(given.type());
    shown_.push_back(given);
    known_.emplace(given, var);
    return var;
  }

  Var literal(const ArrayPtr& value) {
    const Var var = program->add(value->type());
    shown_.push_back({});
    program->constants.push_back({var, value});
    return var;
  }

  // The variable of a Var or a Literal; one that is not defined yet is made by `missing`.
  template <class F>
  Var use(const py::handle& atom, F missing) {
    if (py::isinstance<LiteralObject>(atom)) return literal(py::cast<LiteralObject&>(atom).value);
    const VarObject given = var_of(atom);
    const auto it = known_.find(given);
    return it != known_.end() ? it->second : missing(given);
  }

  // One that is defined, or an error that says where it is missing.
  Var used(const py::handle& atom, const char* where) {
    return use(atom, [&](const VarObject& given) -> Var {
      value_error("Jaxpr: ", where, " uses a variable of type ", to_string(given.type()),
                  " that nothing before it defines; list it among invars or constvars.");
    });
  }

  static VarObject var_of(const py::handle& atom) {
    if (!py::isinstance<VarObject>(atom))
      type_error("expected a Var or a Literal, got ", repr(atom.ptr()));
    return py::cast<VarObject&>(atom);
  }

  ShownVars shown() const { return std::make_shared<const std::vector<VarObject>>(shown_); }

  const MutableProgram program{new Program};

 private:
  std::vector<VarObject> shown_;
  std::unordered_map<VarObject, Var, VarHash> known_;
};

EquationObject make_equation(const py::list& inputs, const py::list& outputs,
                             const py::object& primitive, const py::dict& params) {
  if (!py::isinstance<PrimitiveObject>(primitive))
    type_error("new_jaxpr_eqn: expected a Primitive, got ", repr(primitive.ptr()));
  Assembly assembly;
  const Op& op = *py::cast<PrimitiveObject&>(primitive).op;
  Equation eqn{&op, op_params(op, params), {}, {}, current_location(), current_names()};
  for (const py::handle atom : inputs) {
    const auto define = [&](const VarObject& given) { return assembly.define(given); };
    eqn.inputs.push_back(assembly.use(atom, define));
  }
  for (const py::handle var : outputs)
    eqn.outputs.push_back(assembly.define(Assembly::var_of(var)));
  assembly.program->equations.push_back(std::move(eqn));
  return {assembly.program, 0, assembly.shown()};
}

// The equation, its variables those of the program in the making.
void add_equation(Assembly& assembly, const EquationObject& e) {
  const Equation& given = e.equation();
  Equation eqn{given.op, given.params, {}, {}, given.location, given.names};
  for (const Var v : given.inputs)
    eqn.inputs.push_back(
        assembly.used(shown_variable(e.program, e.shown, v), given.op->name.data()));
  for (const Var v : given.outputs)
    eqn.outputs.push_back(assembly.define(Assembly::var_of(shown_variable(e.program, e.shown, v))));
  assembly.program->equations.push_back(std::move(eqn));
}

// Types as the ops' rules tell them: a program that comes from Python is not trusted.
void check(const Program& program) { check_program(program, "Jaxpr", false); }

ProgramObject make_program(const py::list& constvars, const py::list& invars,
                           const py::list& outvars, const py::list& eqns, const py::list& consts,
                           const std::string& name) {
  Assembly assembly;
  Program& program = *assembly.program;
  program.name = name;
  for (const py::handle var : invars)
    program.inputs.push_back(assembly.define(Assembly::var_of(var)));
  for (const py::handle var : constvars)
    program.inputs.push_back(assembly.define(Assembly::var_of(var)));
  for (const py::handle eqn : eqns) {
    if (!py::isinstance<EquationObject>(eqn))
      type_error("Jaxpr: expected an equation, got ", repr(eqn.ptr()));
    add_equation(assembly, py::cast<EquationObject&>(eqn));
  }
  for (const py::handle atom : outvars) program.outputs.push_back(assembly.used(atom, "outvars"));
  check(program);
  Values captured;
  for (const py::handle value : consts) captured.push_back(objects::to_value(value.ptr()));
  if (!captured.empty() && captured.size() != constvars.size()) {
    value_error("ClosedJaxpr: ", captured.size(), " consts for ", constvars.size(),
                " constvars; one for each is expected.");
  }
  captured.resize(constvars.size());
  ProgramObject out{assembly.program, std::make_shared<const KeptFunctions>(program),
                    std::move(captured), assembly.shown()};
  return out;
}

}  // namespace

void init_program_parts(py::module_& module) {
  module.def("equation", make_equation, "An equation of variables of any programs, or of none.");
  module.def("program", make_program,
             "A program of such equations; consts may be missing, else are one for each constvar.");
  module.def("check_program", [](const ProgramObject& p) { check(*p.program); });
}

}  // namespace shardax::callables
