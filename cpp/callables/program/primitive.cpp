// callables/program/primitive.cpp - primitives as Python objects, and records made at run time.
#include "callables/program/primitive.h"

#include <pybind11/stl.h>

#include <memory>
#include <unordered_map>

#include "callables/program/object.h"
#include "callables/transforms/linear.h"
#include "callables/value_lists.h"
#include "control/control.h"
#include "control/map_divergent.h"
#include "ir/text/grouped_values.h"
#include "ops/ops.h"
#include "transform/transpose.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

// The functions that rules call.
constexpr const char* rules = "_transform.primitives";

// The user's parameters, and whose they are: the only param of such an op.
class UserParams final : public HostObject {
 public:
  UserParams(const Op& op, PyObject* dict) : HostObject(dict), op_(op) {}
  const Op& op() const { return op_; }
  std::string text() const override {
    const Locked locked;
    return repr(object());
  }
  std::vector<Values> call(const Values&) const override {
    throw InternalError(concat("the parameters of '", op_.name, "' were called"));
  }

 private:
  const Op& op_;
};

const UserParams& given(const Params& params) {
  return static_cast<const UserParams&>(params.function(param::params));
}

// ---- conversions ---------------------------------------------------------------------------

// None stands for null.
py::list with_none(const Values& values) {
  py::list out;
  for (const Value& value : values)
    out.append(value ? to_object(checked(wrap(value))) : py::object(py::none()));
  return out;
}

Values from_list(const py::handle& list) {
  Values out;
  for (const py::handle item : list)
    out.push_back(item.is_none() ? Value() : objects::to_value(item.ptr()));
  return out;
}

py::list to_list(const std::vector<bool>& flags) {
  py::list out;
  for (const bool flag : flags) out.append(flag);
  return out;
}

py::object type_list(const Types& types) { return to_object(wrap_types(types)); }

py::object axis_object(AxisName name) {
  return name < 0 ? py::object(py::none()) : py::str(axis_text(name));
}

// rules.name(primitive, params, args...)
template <class... Args>
py::object ask(const char* name, const Params& params, const Args&... args) {
  const UserParams& own = given(params);
  return to_object(call_python(rules, name, wrap_primitive(own.op()), own.object(), args.ptr()...));
}

std::pair<py::object, py::object> two(const py::object& pair) {
  const auto items = py::cast<py::tuple>(pair);
  return {items[0], items[1]};
}

// ---- rules ---------------------------------------------------------------------------------

// A record, with the texts that it refers to.
struct UserOp {
  std::string name;
  std::string effect;
  std::unique_ptr<Op> op;
};

// Never destroyed: programs refer to records until the very end.
std::unordered_map<const Op*, UserOp>& user_ops() {
  static auto* ops = new std::unordered_map<const Op*, UserOp>;
  return *ops;
}

// An op with an effect must run, and in order.
void declare_effect(const Op& op, const std::string& effect) {
  UserOp& own = user_ops().at(&op);
  own.effect = effect;
  own.op->effect = own.effect;
}

Types user_type(const Op& op, const Types& in, const Params& params) {
  const Locked locked;
  const auto [types, effects] = two(ask("abstract", params, type_list(in)));
  if (op.effect.empty() && !effects.is_none()) declare_effect(op, py::cast<std::string>(effects));
  Types out;
  for (const py::handle type : types) {
    const Type* own = find_type(type.ptr());
    if (!own) type_error("the abstract evaluation of '", op.name, "' gave ", repr(type.ptr()));
    out.push_back(*own);
  }
  return out;
}

JvpResult user_jvp(const Params& params, const Values& in, const Values& t) {
  const Locked locked;
  const auto [out, tangents] = two(ask("jvp", params, with_none(in), with_none(t)));
  return {from_list(out), from_list(tangents)};
}

Values user_transpose(const TransposeArgs& a) {
  const Locked locked;
  return from_list(ask("transpose", a.params, with_none(a.ct), with_none(a.in),
                       type_list(a.in_types), type_list(a.out_types)));
}

// The transpose of an op of the package that has no rule in its record.
Values given_transpose(const Op& op, const TransposeArgs& a) {
  const Locked locked;
  const Ref params = params_to_python(op, a.params);
  const Ref found =
      call_python(rules, "transpose", wrap_primitive(op), params.get(), with_none(a.ct).ptr(),
                  with_none(a.in).ptr(), type_list(a.in_types).ptr(), type_list(a.out_types).ptr());
  return from_list(py::handle(found.get()));
}

ProgramPtr user_expand(const Params& params, const Types& in) {
  const Locked locked;
  return unwrap_program(ask("lower", params, type_list(in)).ptr());
}

// Over devices, the program that the op stands for; else by the user's rule.
Batched user_batch(const BatchArgs& a) {
  if (a.axis.devices) {
    Types slices = types_of(a.in);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (a.batched[i]) slices[i].erase_dimension(0);
    }
    const BatchedProgram body = batch_program(user_expand(a.params, slices), a.batched, a.axis);
    return {bind_jit(body.program, a.in), body.batched};
  }
  const Locked locked;
  const py::int_ size(a.axis.size);
  const auto [out, flags] = two(
      ask("batch", a.params, with_none(a.in), to_list(a.batched), size, axis_object(a.axis.name)));
  Batched result{from_list(out), {}};
  for (const py::handle flag : flags) result.batched.push_back(py::cast<bool>(flag));
  return result;
}

Values user_eager(const Params& params, const Values& in) {
  const Locked locked;
  return from_list(ask("run", params, with_none(in)));
}

std::vector<std::string> user_show(const Params& params) {
  const Locked locked;
  return py::cast<std::vector<std::string>>(
      to_object(call_python(rules, "show", given(params).object())));
}

std::vector<UserValue> user_value_list(const py::handle& pairs) {
  std::vector<UserValue> out;
  for (const py::handle pair : pairs) {
    const auto items = py::cast<py::tuple>(pair);
    out.push_back({py::cast<std::size_t>(items[0]), py::cast<std::string>(items[1])});
  }
  return out;
}

UserValues user_values(const Equation& eqn) {
  if (!user_ops().contains(eqn.op)) return {};
  const Locked locked;
  const py::object found = ask("user_values", eqn.params);
  if (found.is_none()) return {};
  const auto [in, out] = two(found);
  return {user_value_list(in), user_value_list(out)};
}

const Op& make_op(const std::string& name) {
  UserOp own{name, "", nullptr};
  own.op = std::make_unique<Op>(OpSpec{}, Op::Unlisted());
  Op& op = *own.op;
  UserOp& kept = user_ops().emplace(&op, std::move(own)).first->second;
  op.name = kept.name;
  op.doc = "A primitive of the user's own.";
  op.kind = Kind::other;
  op.type = user_type;
  op.jvp_body = user_jvp;
  op.transpose = user_transpose;
  op.batch = user_batch;
  op.eager = user_eager;
  op.expand = user_expand;
  op.show = user_show;
  return op;
}

// ---- the Python class ------------------------------------------------------------------------

// One object for each op that Python has seen, for the life of the process.
std::unordered_map<const Op*, PyObject*>& objects() {
  static auto* map = new std::unordered_map<const Op*, PyObject*>;
  return *map;
}

bool gives_list(const Op& op) { return op.multiple_results || op.kind == Kind::control; }

py::object results_of(const Op& op, const Values& out) {
  if (!gives_list(op)) return to_object(checked(wrap(out.at(0))));
  return list_of(out);
}

py::object bind_primitive(const PrimitiveObject& p, const py::args& operands,
                          const py::kwargs& params) {
  Values in;
  for (const py::handle operand : operands) in.push_back(objects::to_value(operand.ptr()));
  return results_of(*p.op, shardax::bind(*p.op, op_params(*p.op, params), in));
}

}  // namespace

Params op_params(const Op& op, const py::dict& params) {
  if (!user_ops().count(&op)) return params_from_python(params);
  return Params{{"params", kept(new UserParams(op, params.ptr()))}};
}

Ref wrap_primitive(const Op& op) {
  const auto known = objects().find(&op);
  if (known != objects().end()) return Ref::borrow(known->second);
  const Ref made = call_python(rules, "of_op", to_python(std::string(op.name)));
  return made;
}

PyObject* user_params(const Params& params) {
  const ParamValue* value = params.find("params");
  const auto* function = value ? std::get_if<FunctionPtr>(value) : nullptr;
  const auto* own = function ? dynamic_cast<const UserParams*>(function->get()) : nullptr;
  return own ? own->object() : nullptr;
}

void init_primitives(py::module_& module) {
  set_user_values_rule(user_values);
  module.def(
      "set_gradient_opener",
      [](const py::object& opener) { OpenedObjects::set_opener(opener.ptr()); },
      "Says what gives (arrays, a function from arrays to values, one from arrays to gradients), "
      "lists each, for a list of values that are no arrays.");
  set_given_transpose(given_transpose);
  py::class_<PrimitiveObject>(module, "PrimitiveBase", py::dynamic_attr(),
                              "An op; str() is its name.")
      .def(py::init([](const std::string& name, bool existing) {
             if (!existing) return PrimitiveObject{&make_op(name)};
             const Op* op = find_op(name);
             if (!op) value_error("there is no op '", name, "'");
             return PrimitiveObject{op};
           }),
           py::arg("name"), py::arg("existing") = false)
      .def("_keep",
           [](const py::object& self) {
             objects().try_emplace(py::cast<PrimitiveObject&>(self).op, self.inc_ref().ptr());
           })
      .def_property_readonly("name", [](const PrimitiveObject& p) { return p.op->name; })
      .def_property(
          "multiple_results", [](const PrimitiveObject& p) { return gives_list(*p.op); },
          [](const PrimitiveObject& p, bool several) {
            const auto own = user_ops().find(p.op);
            if (own == user_ops().end())
              value_error("'", p.op->name, "' is an op of the package: its results are fixed.");
            own->second.op->multiple_results = several;
          })
      .def_property_readonly(
          "is_users", [](const PrimitiveObject& p) { return user_ops().count(p.op) > 0; },
          "Whether the op is one of the user's own.")
      .def("_bind", bind_primitive)
      .def("__str__", [](const PrimitiveObject& p) { return p.op->name; })
      .def("__repr__", [](const PrimitiveObject& p) { return p.op->name; })
      .def("__hash__", [](const PrimitiveObject& p) { return std::hash<const void*>{}(p.op); })
      .def("__eq__", [](const PrimitiveObject& p, const py::object& other) {
        return py::isinstance<PrimitiveObject>(other) &&
               py::cast<PrimitiveObject&>(other).op == p.op;
      });
  module.def(
      "tangent_type", [](const ShapedArray& type) { return ShapedArray{tangent_type(type.type)}; },
      "The type of tangents of values of a type.");
  module.def(
      "zeros_of",
      [](const ShapedArray& type) { return to_object(checked(wrap(ops::zeros(type.type)))); },
      "Zeros of a type.");
}

}  // namespace shardax::callables
