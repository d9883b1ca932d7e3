// callables/program/object.cpp - the Python classes of programs and their parts.
#include "callables/program/object.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "base/index.h"
#include "callables/object.h"
#include "callables/program/primitive.h"
#include "callables/program/shown.h"
#include "callables/staging/trace_state.h"
#include "ir/structural_equal.h"
#include "ir/text/print_captured.h"
#include "trace/eval_program.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

bool is_literal(const Constant& c) { return c.value->type().rank() == 0; }

template <class List>
py::list variables(const ProgramPtr& program, const ShownVars& shown, const List& vars) {
  py::list out;
  for (const Var v : vars) out.append(shown_variable(program, shown, v));
  return out;
}

// The number that a literal stands for; null for variables.
const Array* literal_value(const Program& program, Var v) {
  for (const Constant& c : program.constants) {
    if (c.var == v && is_literal(c)) return c.value.get();
  }
  return nullptr;
}

template <class List>
Ref types_of_vars(const Program& program, const List& vars) {
  Types types;
  for (const Var v : vars) types.push_back(program.type(v));
  return wrap_types(types);
}

std::string address_text(const void* object, Var v) {
  return concat(
      "Var(id=", reinterpret_cast<std::uintptr_t>(object) + static_cast<std::uintptr_t>(v), ")");
}

py::set effects_of(const Program& program) {
  py::set out;
  for (const std::string_view effect : effects(program)) out.add(py::str(std::string(effect)));
  return out;
}

// The variable that it was given as, where its program was put together in Python.
VarObject given_variable(const EquationObject& e, Var v) {
  return e.shown ? (*e.shown)[index(v)] : VarObject{e.program, v};
}

// Is it one equation, perhaps in two programs: the second put together of the first's?
bool same_equation(const EquationObject& a, const EquationObject& b) {
  if (a.program == b.program) return a.index == b.index;
  const Equation &x = a.equation(), &y = b.equation();
  const auto same_variable = [&](Var v, Var w) {
    const Array *c = literal_value(*a.program, v), *d = literal_value(*b.program, w);
    return c || d ? c == d : given_variable(a, v) == given_variable(b, w);
  };
  return x.op == y.op && !x.outputs.empty() &&
         std::ranges::equal(x.outputs, y.outputs, same_variable) &&
         std::ranges::equal(x.inputs, y.inputs, same_variable) &&
         structurally_equal_params(x.params, y.params);
}

py::list equations_of(const ProgramObject& p) {
  py::list out;
  for (std::size_t i = 0; i < p.program->equations.size(); ++i)
    out.append(EquationObject{p.program, i, p.shown});
  return out;
}

// Scalars are literals where they are used; the others are listed.
std::vector<const Constant*> listed_constants(const Program& program) {
  std::vector<const Constant*> out;
  for (const Constant& c : program.constants) {
    if (!is_literal(c)) out.push_back(&c);
  }
  return out;
}

py::list constants_of(const ProgramObject& p) {
  py::list out;
  for (const Constant* c : listed_constants(*p.program))
    out.append(to_object(checked(wrap(c->value))));
  for (const Value& value : p.captured) {
    if (value) out.append(to_object(checked(wrap(value))));
  }
  return out;
}

// The inputs that are given, and those that stand for captured values.
std::span<const Var> given_inputs(const ProgramObject& p) {
  return std::span(p.program->inputs).first(p.program->inputs.size() - p.captured.size());
}
std::span<const Var> captured_inputs(const ProgramObject& p) {
  return std::span(p.program->inputs).last(p.captured.size());
}

std::string text_of(const ProgramObject& p, const PrintOptions& options) {
  return to_string(*p.program, options, p.captured.size());
}

py::list constant_variables_of(const ProgramObject& p) {
  std::vector<Var> vars;
  for (const Constant* c : listed_constants(*p.program)) vars.push_back(c->var);
  for (const Var v : captured_inputs(p)) vars.push_back(v);
  return variables(p.program, p.shown, vars);
}

// The object that Python has of a variable, one as long as anyone holds it: users compare variables
// with `is`.
using SharedVar = std::shared_ptr<VarObject>;
SharedVar shared_var(const VarObject& var) {
  static auto& known = *new std::unordered_map<VarObject, std::weak_ptr<VarObject>, VarHash>;
  std::weak_ptr<VarObject>& kept = known[var];
  if (SharedVar found = kept.lock()) return found;
  const SharedVar made(new VarObject(var), [](VarObject* gone) {
    known.erase(*gone);
    delete gone;
  });
  kept = made;
  return made;
}

}  // namespace

std::size_t VarHash::operator()(const VarObject& v) const {
  return mix(std::hash<const void*>{}(v.program.get()), index(v.var));
}

py::object shown_variable(const ProgramPtr& program, const ShownVars& shown, Var v) {
  for (const Constant& c : program->constants) {
    if (c.var == v && is_literal(c)) return py::cast(LiteralObject{c.value});
  }
  return py::cast(shared_var(shown ? (*shown)[index(v)] : VarObject{program, v}));
}

Ref wrap_program(const ProgramPtr& program, Values captured) {
  const auto make = [&] {
    return Ref::steal(
        py::cast(ProgramObject{program, std::make_shared<const KeptFunctions>(*program),
                               std::move(captured)})
            .release()
            .ptr());
  };
  if (!captured.empty()) return make();
  const auto shown = shown_program(*program);
  if (Ref known = shown->get()) return known;
  Ref made = make();
  shown->set(made.get(), py::cast<ProgramObject&>(to_object(made)).functions->empty());
  return made;
}

const ProgramObject& program_object(PyObject* object) {
  if (!py::isinstance<ProgramObject>(object))
    type_error("expected a Program, got ", repr(type_object(object)));
  return py::cast<ProgramObject&>(py::handle(object));
}

ProgramPtr closed_program(const ProgramObject& p) {
  const bool arrays =
      std::ranges::all_of(p.captured, [](const Value& v) { return v && !v->is_tracer(); });
  if (p.captured.empty() || !arrays) return p.program;
  const MutableProgram out = copy_of(*p.program);
  const std::size_t given = out->inputs.size() - p.captured.size();
  for (std::size_t i = 0; i < p.captured.size(); ++i) {
    out->constants.push_back(
        {out->inputs[given + i], ArrayPtr(static_cast<Array*>(p.captured[i].get()))});
  }
  out->inputs.resize(given);
  return out;
}

ProgramPtr unwrap_program(PyObject* object) { return closed_program(program_object(object)); }

void init_program_objects(py::module_& module) {
  init_program_params(module);
  init_type_object(module);

  init_primitives(module);
  py::class_<VarObject, SharedVar>(module, "Var", "A variable of a program.")
      .def(py::init([](const py::object& aval) {
             const Type* type = find_type(aval.ptr());
             if (!type) type_error("Var: expected a ShapedArray, got ", repr(aval.ptr()));
             const MutableProgram alone(new Program);
             const Var var = alone->add(*type);
             return shared_var({alone, var});
           }),
           py::arg("aval"))
      .def_property_readonly("aval",
                             [](const VarObject& v) { return to_object(wrap_type(v.type())); })
      .def("__repr__",
           [](const VarObject& v) {
             return concat(address_text(v.program.get(), v.var), ":", to_string(v.type()));
           })
      .def("__hash__", VarHash())
      .def("__eq__", [](const VarObject& v, const py::object& other) {
        return py::isinstance<VarObject>(other) && py::cast<VarObject&>(other) == v;
      });
  py::class_<LiteralObject>(module, "Literal", "A scalar constant of a program.")
      .def(py::init([](const py::object& value, const py::object&) {
             const Value scalar = objects::to_value(value.ptr());
             if (scalar->is_tracer() || scalar->type().rank() != 0)
               type_error("Literal: expected a scalar, got ", repr(value.ptr()));
             return LiteralObject{ArrayPtr(static_cast<Array*>(scalar.get()))};
           }),
           py::arg("val"), py::arg("aval") = py::none())
      .def_property_readonly("val",
                             [](const LiteralObject& l) {
                               return to_object(checked(wrap(constant_operand(l.value))));
                             })
      .def_property_readonly(
          "aval", [](const LiteralObject& l) { return to_object(wrap_type(l.value->type())); })
      .def("__repr__", [](const LiteralObject& l) {
        const std::string text = literal_text(*l.value);
        return concat("Literal(", text.substr(0, text.find(':')), ")");
      });

  py::class_<EquationObject>(module, "Equation", "One op of a program, with its parameters.")
      .def_property_readonly(
          "primitive",
          [](const EquationObject& e) { return to_object(wrap_primitive(*e.equation().op)); })
      .def_property_readonly(
          "params",
          [](const EquationObject& e) {
            return to_object(params_to_python(*e.equation().op, e.equation().params));
          })
      .def_property_readonly("invars",
                             [](const EquationObject& e) {
                               return variables(e.program, e.shown, e.equation().inputs);
                             })
      .def_property_readonly("outvars",
                             [](const EquationObject& e) {
                               return variables(e.program, e.shown, e.equation().outputs);
                             })
      .def_property_readonly("in_avals",
                             [](const EquationObject& e) {
                               return to_object(types_of_vars(*e.program, e.equation().inputs));
                             })
      .def_property_readonly("out_avals",
                             [](const EquationObject& e) {
                               return to_object(types_of_vars(*e.program, e.equation().outputs));
                             })
      .def_property_readonly("effects",
                             [](const EquationObject& e) {
                               const MutableProgram alone(new Program);
                               alone->equations.push_back(e.equation());
                               return effects_of(*alone);
                             })
      .def_property_readonly(
          "source_info",
          [](const EquationObject& e) {
            const LocationPtr& place = e.equation().location;
            const py::object names = name_stack(e.equation().names);
            return to_object(call_python("_transform.program_parts", "SourceInfo",
                                         place ? to_string(*place) : "", names.ptr()));
          })
      .def_property_readonly(
          "ctx",
          [](const EquationObject&) {
            return to_object(call_python("_transform.program_parts", "EquationContext"));
          })
      .def(
          "replace",
          [](const py::object& self, const py::kwargs& changes) {
            return to_object(call_python("_transform.program_parts", "changed_equation", self.ptr(),
                                         changes.ptr()));
          },
          "The same equation with other invars, outvars, primitive or params.")
      .def("__hash__",
           [](const EquationObject& e) {
             const auto& outputs = e.equation().outputs;
             return outputs.empty() ? std::hash<const void*>()(e.equation().op)
                                    : VarHash()(given_variable(e, outputs.front()));
           })
      .def("__eq__",
           [](const EquationObject& e, const py::object& other) {
             return py::isinstance<EquationObject>(other) &&
                    same_equation(e, py::cast<EquationObject&>(other));
           })
      .def("__repr__", [](const EquationObject& e) { return to_string(*e.program, e.equation()); });

  py::class_<ProgramObject>(module, "Program",
                            "A staged function; str() shows it as JAX shows a jaxpr.")
      .def(py::init([](const py::args& args, const py::kwargs& kwargs) {
        const Ref made =
            call_python("_transform.program_parts", "make_program", args.ptr(), kwargs.ptr());
        return py::cast<ProgramObject>(py::handle(made.get()));
      }))
      .def(
          "replace",
          [](const py::object& self, const py::kwargs& changes) {
            return to_object(call_python("_transform.program_parts", "changed_program", self.ptr(),
                                         changes.ptr()));
          },
          "The same program with other constvars, invars, outvars, eqns or consts.")
      .def_property_readonly(
          "debug_info",
          [](const py::object& self) {
            const Ref& about = py::cast<const ProgramObject&>(self).about;
            if (about) return to_object(checked(PyObject_CallNoArgs(about.get())));
            return to_object(call_python("_transform.program_parts", "debug_info", self.ptr()));
          })
      .def(
          "describe",
          [](ProgramObject& p, const py::object& about) { p.about = Ref::borrow(about.ptr()); },
          "Keeps a function that gives the DebugInfo.")
      .def("__str__", [](const ProgramObject& p) { return text_of(p, {}); })
      .def("__repr__", [](const ProgramObject& p) { return text_of(p, {}); })
      .def(
          "pretty_print",
          [](const ProgramObject& p, bool source_info, bool print_shapes, bool print_effects,
             const py::object&, bool,
             bool) { return text_of(p, {print_shapes, source_info, print_effects}); },
          py::kw_only(), py::arg("source_info") = false, py::arg("print_shapes") = true,
          py::arg("print_effects") = false, py::arg("use_color") = py::none(),
          py::arg("custom_pp_eqn_rules") = true, py::arg("name_stack") = false,
          "The program as text: with the user's lines, without types, with its effects.\n\n"
          "use_color, custom_pp_eqn_rules and name_stack are accepted for compatibility.")
      .def_property_readonly("effects",
                             [](const ProgramObject& p) { return effects_of(*p.program); })
      .def_property_readonly("jaxpr", [](const py::object& self) { return self; })
      .def_property_readonly("name", [](const ProgramObject& p) { return p.program->name; })
      .def_property_readonly("eqns", equations_of)
      .def_property_readonly("consts", constants_of)
      .def_property_readonly("literals", constants_of)
      .def_property_readonly("constvars", constant_variables_of)
      .def_property_readonly(
          "invars",
          [](const ProgramObject& p) { return variables(p.program, p.shown, given_inputs(p)); })
      .def_property_readonly(
          "outvars",
          [](const ProgramObject& p) { return variables(p.program, p.shown, p.program->outputs); })
      .def_property_readonly("in_avals",
                             [](const ProgramObject& p) {
                               return to_object(types_of_vars(*p.program, given_inputs(p)));
                             })
      .def_property_readonly("out_avals", [](const ProgramObject& p) {
        return to_object(wrap_types(p.program->output_types()));
      });
}

}  // namespace shardax::callables
