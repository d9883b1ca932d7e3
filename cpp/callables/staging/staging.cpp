// callables/staging/staging.cpp - staged functions as Python objects, and binding ops that carry
// them.
#include "callables/staging/staging.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <deque>

#include "analysis/residuals.h"
#include "base/index.h"
#include "base/lists.h"
#include "callables/cache.h"
#include "callables/host_function.h"
#include "callables/program/object.h"
#include "callables/staging/automatic_mesh.h"
#include "callables/staging/locate.h"
#include "callables/transforms/axes.h"
#include "callables/transforms/linear.h"
#include "callables/transforms/references.h"
#include "callables/transforms/shard_map_params.h"
#include "callables/unpacked.h"
#include "callables/value_lists.h"
#include "control/forwarding.h"
#include "ir/param_name.h"
#include "ir/sharding_given.h"
#include "numpy/promote.h"
#include "objects/array/array_type.h"
#include "objects/config.h"
#include "objects/functions/bind.h"
#include "ops/ops.h"
#include "trace/eval_program.h"
#include "trace/stage.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

struct StagedEntry {
  Staged staged;
  KeptFunctions functions;
};

// Do the references that a function closes over hold values of other types than at staging?
bool has_changed(const Staged& staged) {
  return staged.references &&
         call_python("_transform.refs.binding", "has_changed", staged.references).get() == Py_True;
}

// Functions of control flow are staged once per signature while they live, as jit's are.
Staged stage_once(const std::string& api, const py::function& fun, const py::tuple& args,
                  const py::dict& kwargs, const std::vector<int>& static_argnums) {
  using StagedCache = Cache<StagedEntry>;
  const auto cache = shared_cache<StagedCache>(fun.ptr(), to_python(api).get());
  const Unpacked unpacked(args, kwargs);
  StaticSpec statics;
  statics.positions = static_argnums;
  FlatCall call(unpacked.arguments(), statics, fun.ptr());
  const CallForm form = call.form();
  const Types types = abstract_types(fun.ptr(), form, call.leaves());
  if (const auto found = cache->find(call, types); found && !has_changed(found->staged))
    return found->staged;
  const Staged staged = stage_call(api, fun.ptr(), form, types, false, true);
  if (staged.captured.empty()) {
    cache->insert(call, types,
                  std::make_shared<StagedEntry>(
                      StagedEntry{staged, KeptFunctions(*staged.program, staged.references)}));
  }
  return staged;
}

std::string describe(const Residual& residual, const std::vector<std::string>& arguments) {
  using Source = Residual::Source;
  switch (residual.source) {
    case Source::literal: return "from a literal";
    case Source::constant: return "from a constant";
    case Source::input:
      return residual.input < arguments.size() ? "from the argument " + arguments[residual.input]
                                               : "from a value that the function closes over";
    case Source::output: break;
  }
  const std::string made = residual.checkpoint_name.empty()
                               ? concat("output of ", residual.op->name)
                               : concat("named '", residual.checkpoint_name, "'");
  const LocationPtr& at = residual.location;
  return at ? concat(made, " from ", to_string(*at)) : made;
}

// The residuals of the reverse derivative of fun(*args, **kwargs): pairs of a type and its
// description.
py::list residuals(const py::object& fun, const py::tuple& args, const py::dict& kwargs) {
  const Unpacked unpacked(args, kwargs);
  FlatCall call(unpacked.arguments(), {}, fun.ptr());
  const CallForm form = call.form();
  const Types types = abstract_types(fun.ptr(), form, call.leaves());
  const Staged staged = stage_call("saved_residuals", fun.ptr(), form, types);
  std::vector<bool> nonzero;
  for (const Type& type : types) nonzero.push_back(differentiable(type));
  nonzero.resize(staged.program->inputs.size(), false);
  const std::vector<std::string> paths = argument_paths(fun.ptr(), form);
  py::list out;
  for (const Residual& residual : saved_residuals(staged.program, nonzero))
    out.append(py::make_tuple(to_object(wrap_type(residual.type)), describe(residual, paths)));
  return out;
}

// `program` with other arrays in place of those among its constants that it lists.
Values evaluate_with(const Program& program, const Values& inputs, const Values& constants) {
  Values held;
  const ProgramPtr hoisted = hoist_constants(program, held);
  std::size_t next = 0;
  for (Value& value : held) {
    value = constant_operand(value);
    if (value->type().rank() == 0) continue;
    if (next < constants.size()) value = constants[next];
    ++next;
  }
  if (next != constants.size())
    type_error("the program has ", next, " constants, got ", constants.size());
  return shardax::evaluate(*hoisted, joined(inputs, held));
}

py::list bind_op(const std::string& name, const py::dict& params, const py::iterable& values) {
  const Op* op = find_op(name);
  if (!op) value_error("there is no op '", name, "'");
  Params converted;
  for (const auto& [key, value] : params) {
    if (name == "shard_map" && is_shown_only(py::cast<std::string>(key))) continue;
    converted.set(ParamName::from_outside(py::cast<std::string>(key)),
                  param_from_python(key.ptr(), value.ptr()));
  }
  return list_of(bind_forwarding(*op, converted, values_of(values)));
}

// The mapped axes that a program is staged under: [("i", 4), ...].
class AxisEnv {
 public:
  explicit AxisEnv(const std::vector<std::pair<std::string, std::int64_t>>& axes) {
    for (const auto& [name, size] : axes)
      scopes_.emplace_back(BoundAxis{new_axis(name), size, false});
  }
  ~AxisEnv() {
    while (!scopes_.empty()) scopes_.pop_back();
  }

 private:
  std::deque<AxisScope> scopes_;
};

// A Python context in which the user says how results are split, and over which axes sums are left
// to do. A function staged in it has no shardings from propagation, and serves no call outside of
// it.
class ShardingContext {
 public:
  explicit ShardingContext(std::vector<std::string> unreduced) : unreduced_(std::move(unreduced)) {}
  void enter() {
    scopes_.emplace_back(unreduced_);
    setting();
  }
  void exit() {
    scopes_.pop_back();
    setting();
  }

 private:
  static void setting() {
    std::string text = sharding_given() ? "given" : "";
    for (const std::string& axis : sums_asked()) text += concat(" ", axis);
    objects::set_traced_setting("sharding_given", text);
  }

  std::vector<std::string> unreduced_;
  std::deque<ShardingGiven> scopes_;
};

// A Python context in which ops on plain arrays compute at once, also inside a function that is
// being staged.
class EagerContext {
 public:
  void enter() { scopes_.emplace_back(); }
  void exit() { scopes_.pop_back(); }

 private:
  std::deque<EagerScope> scopes_;
};

// The automatic mesh of an existing array.
ShardingPtr mesh_shown(PyObject* object) {
  return objects::is_array_object(object) ? automatic_mesh_of(objects::unwrap(object)) : nullptr;
}

Values arrays_among(std::span<const Ref> leaves) {
  Values out;
  for (const Ref& leaf : leaves) {
    if (objects::is_array_object(leaf.get())) out.push_back(objects::unwrap(leaf.get()));
  }
  return out;
}

}  // namespace

Staged stage_abstract(const std::string& api, PyObject* fun, const py::tuple& args,
                      const py::dict& kwargs, const StaticSpec& statics, bool arrays_captured,
                      bool references) {
  const Unpacked unpacked(args, kwargs);
  FlatCall call(unpacked.arguments(), statics, fun);
  const CallForm form = call.form();
  const AutomaticMesh mesh(arrays_among(call.leaves()));
  return stage_call(api, fun, form, abstract_types(fun, form, call.leaves()), arrays_captured,
                    references);
}

Types abstract_types(PyObject* fun, const CallForm& form, std::span<const Ref> leaves) {
  Types types;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (objects::converts_itself(leaves[i].get()))
      refuse_conversion(leaves[i].get(), argument_paths(fun, form)[i]);
    try {
      types.push_back(abstract_type(leaves[i].get()));
    } catch (const UserError& error) {
      if (error.kind() != ErrorKind::type_error) throw;
      check_no_reference(leaves[i].get());
      raise_in_python("not_an_array", fun, leaves[i], argument_paths(fun, form)[i]);
    }
  }
  return types;
}

void init_staging(py::module_& module) {
  py::class_<Staged>(module, "Staged",
                     "A function as a program, with what its results are put together from.")
      .def_property_readonly("program",
                             [](const Staged& s) { return to_object(wrap_program(s.program)); })
      .def_property_readonly(
          "jaxpr", [](const Staged& s) { return to_object(wrap_program(s.program, s.captured)); },
          "The program with what the function captured among its constants.")
      .def_property_readonly(
          "out_tree",
          [](const Staged& s) { return py::reinterpret_borrow<py::object>(s.out_tree.object()); })
      .def_property_readonly("captured", [](const Staged& s) { return list_of(s.captured); })
      .def_property_readonly(
          "in_avals",
          [](const Staged& s) { return to_object(wrap_types(s.program->input_types())); })
      .def_property_readonly(
          "out_avals",
          [](const Staged& s) {
            const Types types = s.program->output_types();
            return to_object(wrap_types(part(types, 0, types.size() - s.held_out)));
          })
      .def_property_readonly(
          "references",
          [](const Staged& s) {
            return py::reinterpret_borrow<py::object>(s.references ? s.references.get() : Py_None);
          },
          "What it does with mutable references that it closes over; None: nothing.")
      .def(
          "closed",
          [](const Staged& s) {
            const ClosedBody body = closed_body(s, true);
            return py::make_tuple(to_object(wrap_program(body.program)), list_of(body.values));
          },
          "The program with what the function closes over as first inputs, and those values; what "
          "references hold follows, and comes out first.");

  py::class_<ShardingContext>(module, "ShardingGiven")
      .def(py::init<std::vector<std::string>>(), py::arg("unreduced") = std::vector<std::string>())
      .def("__enter__", &ShardingContext::enter)
      .def("__exit__", [](ShardingContext& context, const py::args&) { context.exit(); });
  py::class_<EagerContext>(module, "EagerContext")
      .def(py::init())
      .def("__enter__", &EagerContext::enter)
      .def("__exit__", [](EagerContext& context, const py::args&) { context.exit(); });

  module.def(
      "stage",
      [](const std::string& api, const py::object& fun, const py::tuple& args,
         const py::dict& kwargs, const std::vector<int>& static_argnums,
         const std::vector<std::pair<std::string, std::int64_t>>& axis_env, bool references,
         bool arrays_captured) {
        const AxisEnv axes(axis_env);
        StaticSpec statics;
        statics.positions = static_argnums;
        const auto staged = [&] {
          return stage_abstract(api, fun.ptr(), args, kwargs, statics, arrays_captured, references);
        };
        return references ? staged() : without_references(api, fun.ptr(), staged);
      },
      py::arg("api"), py::arg("fun"), py::arg("args"), py::arg("kwargs") = py::dict(),
      py::arg("static_argnums") = std::vector<int>(),
      py::arg("axis_env") = std::vector<std::pair<std::string, std::int64_t>>(),
      py::arg("references") = false, py::arg("arrays_captured") = false,
      "Stages fun(*args, **kwargs); leaves may be arrays or anything with shape and dtype. With "
      "`references`, the signal of those that it meets is passed on; with `arrays_captured`, "
      "arrays without dimensions that the function closes over are captured, not literals.");
  module.def("hoist_constants", [](const Staged& staged) {
    Values values = staged.captured;
    const ProgramPtr program = hoist_constants(*staged.program, values);
    return py::make_tuple(to_object(wrap_program(program)), list_of(values));
  });
  module.def("stage_once", stage_once, py::arg("api"), py::arg("fun"), py::arg("args"),
             py::arg("kwargs") = py::dict(), py::arg("static_argnums") = std::vector<int>(),
             "stage(), remembered per function and types.");
  module.def("saved_residuals", residuals, "What the reverse derivative of a call keeps.");
  module.def(
      "evaluate",
      [](const py::object& program, const py::iterable& values, const py::iterable& constants) {
        const ProgramObject& object = program_object(program.ptr());
        const Program& body = *object.program;
        Values inputs = values_of(values), others = values_of(constants);
        const std::size_t captured = object.captured.size(), count = body.inputs.size();
        const auto listed = index(std::ranges::count_if(
            body.constants, [](const Constant& c) { return c.value->type().rank() > 0; }));
        if (captured > 0 && others.size() > listed + captured)
          type_error("the program has ", listed + captured, " constants, got ", others.size());
        if (captured > 0 && inputs.size() == count - captured) {
          const Values& held = others.size() < captured ? object.captured : others;
          inputs.insert(inputs.end(), held.end() - static_cast<std::ptrdiff_t>(captured),
                        held.end());
          if (!others.empty()) others.resize(others.size() - std::min(captured, others.size()));
        }
        if (inputs.size() != count)
          type_error("the program takes ", count, " values, got ", inputs.size());
        if (std::ranges::find(inputs, Value()) != inputs.end())
          type_error("the program has ", captured, " constvars without values; give consts");
        return list_of(others.empty() ? shardax::evaluate(body, inputs)
                                      : evaluate_with(body, inputs, others));
      },
      py::arg("program"), py::arg("values"), py::arg("constants") = py::tuple(),
      "Runs a program on values, op by op; `constants` take the places of its own arrays.");
  module.def("bind", bind_op,
             "Binds an op by name; control flow without what only passes through it.");
  module.def(
      "sharding_given", [] { return sharding_given(); },
      "Is it known how results are split, or is it being asked?");
  module.def("typeof", [](const py::object& x) {
    return py::cast(ShapedArray{abstract_type(x.ptr()), mesh_shown(x.ptr())});
  });
  module.def(
      "element_type",
      [](const py::object& x) {
        Type type = abstract_type(x.ptr());
        type.erase_dimension(0);
        return to_object(wrap_type(type));
      },
      "The type of a slice along dimension 0.");
  module.def(
      "is_array_like", [](const py::object& x) { return bool(objects::try_value(x.ptr())); },
      "Is x an array, a tracer, a NumPy array or a scalar?");
  module.def("asarray", [](const py::object& x) {
    return to_object(checked(wrap(objects::to_value(x.ptr()))));
  });
  module.def(
      "convert",
      [](const py::object& x, const py::object& type) {
        const Type* wanted = find_type(type.ptr());
        Value value = objects::to_value(x.ptr());
        if (value->dtype() != wanted->dtype)
          value = ops::convert(value, wanted->dtype, wanted->weak);
        return to_object(checked(wrap(with_weak(value, wanted->weak))));
      },
      "x with the dtype and weak flag of a ShapedArray.");
  module.def(
      "promoted",
      [](const py::object& weak, const py::object& other) {
        const Type* a = find_type(weak.ptr());
        const Type* b = find_type(other.ptr());
        const WeakDType joined = promote({a->dtype, a->weak}, {b->dtype, b->weak});
        Type type = *a;
        type.dtype = numpy::canonical_dtype(joined.dtype);
        type.weak = joined.weak;
        return to_object(wrap_type(type));
      },
      "The first ShapedArray with the dtype to which both promote.");
  module.def(
      "describe_function", [](const py::object& fun) { return describe_function(fun.ptr()); },
      "'f at file.py:12'.");
  module.def("is_tracer", [](const py::object& x) {
    return objects::is_array_object(x.ptr()) && objects::value_of(x.ptr())->is_tracer();
  });
  module.def(
      "tracer_origin",
      [](const py::object& x) {
        const Value value = try_value(x.ptr());
        return value && value->is_tracer() ? describe_tracer(static_cast<const Tracer&>(*value))
                                           : "";
      },
      "Which function is being traced, and the arguments that the value depends on, for errors.");
  module.def(
      "is_concrete",
      [](const py::object& x) {
        const Value value = try_value(x.ptr());
        return value && concrete(value) != nullptr;
      },
      "Whether the elements of x are known now.");
  module.def("jit_disabled", jit_disabled);
  module.def("staging_in_progress", [] { return staging_in_progress(); });
}

}  // namespace shardax::callables
