// callables/transforms/linear_functions.cpp - the functions that vjp and linearize return.
#include "callables/transforms/linear_functions.h"

#include <tuple>

#include "array/checked_axis.h"
#include "base/index.h"
#include "callables/call.h"
#include "callables/host_function.h"
#include "callables/program/object.h"
#include "callables/staging/context.h"
#include "callables/staging/locate.h"
#include "callables/staging/traced.h"
#include "callables/transforms/linear.h"
#include "ops/ops.h"
#include "trace/stage.h"
#include "transform/dce.h"
#include "transform/inline_calls.h"
#include "transform/transpose.h"

namespace shardax::callables {
namespace {

// The axes of shard_map over which devices have values of their own where `expected` has one value.
AxisSet excess(const Type& type, const Type& expected) {
  return lacking(expected.varying, checked_axes(type.varying));
}

// The parts of a function linearised at a point beside the residuals: structures and types of
// inputs and outputs.
struct Linearization {
  LinearMap map;  // without primal outputs and residuals
  std::vector<TreeDefPtr> in_trees;
  Types in_types;
  std::vector<bool> nonzero;  // the inputs with tangents
  TreeDefPtr out_tree;
  Types out_types;
  Types residual_types;
  std::string name;
};

struct Differentiated {
  Linearization linear;
  Values inputs;
  Values outputs;
  Values residuals;
  Ref aux;  // null without has_aux
};

Differentiated differentiate(PyObject* fun, PyObject* const* primals, std::size_t count,
                             bool has_aux) {
  check_callable(fun);
  Differentiated d;
  Linearization& linear = d.linear;
  linear.name = function_name(fun);
  const FlatObjects inputs = flatten_objects(primals, count);
  linear.in_trees = inputs.trees;
  linear.in_types = types_of(inputs.values);
  for (const Type& type : linear.in_types) linear.nonzero.push_back(differentiable(type));
  std::size_t out_count = 0;
  Aux aux;
  const auto body = [&](const Values& in) {
    const TransformationScope names("jvp");
    const std::vector<Ref> traced = inputs.unflatten(wrap_all(in));
    Ref result = checked(call_unlocked([&] {
      return PyObject_Vectorcall(fun, pytree::pointers(traced).data(), traced.size(), nullptr);
    }));
    Ref aux_object;
    if (has_aux) std::tie(result, aux_object) = split_aux(result.get());
    FlatResult flat = flatten_result(result.get(), "vjp", fun);
    linear.out_tree = flat.tree;
    out_count = flat.values.size();
    if (aux_object) aux.take(aux_object.get(), flat.values);
    return flat.values;
  };
  linear.map = linearize(body, inputs.values, linear.nonzero);
  const Values all = std::exchange(linear.map.out, {});
  d.residuals = std::exchange(linear.map.residuals, {});
  linear.map.program = hoist_constants(*linear.map.program, d.residuals);
  d.outputs.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(out_count));
  if (has_aux) d.aux = aux.rebuild(all, out_count);
  linear.out_types = types_of(d.outputs);
  linear.residual_types = types_of(d.residuals);
  d.inputs = inputs.values;
  return d;
}

std::vector<Ref> unflatten_all(const std::vector<TreeDefPtr>& trees,
                               const std::vector<Ref>& leaves) {
  FlatObjects flat;
  flat.trees = trees;
  return flat.unflatten(leaves);
}

// A function of the residuals and the one argument that the user gives.
class Vjp final : public Transform {
 public:
  explicit Vjp(Linearization linear)
      : linear_(std::move(linear)), functions_(*linear_.map.program) {}
  int traverse(visitproc visit, void* arg) override { return functions_.traverse(visit, arg); }
  PyObject* call(PyObject*, const CallArguments& arguments) override {
    if (arguments.count != 2 || arguments.keyword_count() != 0) {
      type_error(
          "The function returned by vjp applied to ", linear_.name, " was called with ",
          arguments.count - 1 + arguments.keyword_count(),
          " arguments, but functions returned by vjp "
          "must be called with a single argument corresponding to the single value returned by the "
          "function being differentiated (even if that returned value is a tuple or other "
          "container).");
    }
    LinearMap map = linear_.map;
    map.residuals = residual_values(arguments, linear_.residual_types);
    Values cotangents = flat_cotangents(arguments.values[1]);
    cotangents.resize(map.nonzero.size());
    const TransformationScope names("transpose");
    const Values found = apply_transpose(map, cotangents);
    std::vector<Ref> leaves;
    for (std::size_t i = 0, next = 0; i < linear_.nonzero.size(); ++i) {
      const Value ct = linear_.nonzero[i] ? found[next++] : Value();
      leaves.push_back(tangent_object(ct, linear_.in_types[i]));
    }
    return tuple_of(unflatten_all(linear_.in_trees, leaves)).release();
  }

 private:
  Values flat_cotangents(PyObject* object) const {
    Scratch scratch;
    pytree::flatten(object, scratch.leaves(), scratch.tree());
    if (!pytree::equal(scratch.tree().view(), linear_.out_tree->view())) {
      value_error(
          "unexpected tree structure. The argument to a VJP function returned by vjp must match "
          "the "
          "pytree structure of the output of the differentiated function ",
          linear_.name, ", ", linear_.out_tree->to_string(), ", but got ",
          scratch.tree().finish()->to_string(), ".");
    }
    Values out;
    for (std::size_t i = 0; i < scratch.leaves().size(); ++i) {
      const Type& type = linear_.out_types[i];
      if (!differentiable(type)) {
        out.push_back(nullptr);
        continue;
      }
      out.push_back(objects::to_value(scratch.leaves()[i].get()));
      if (same_shape_and_dtype(out.back()->type(), type) &&
          excess(out.back()->type(), type).empty())
        continue;
      value_error("unexpected JAX type (e.g. shape/dtype) for argument to VJP function: got ",
                  to_string(out.back()->type()), ", but expected ", to_string(type),
                  " because the corresponding output of the differentiated function had JAX type ",
                  to_string(type));
    }
    return out;
  }

  Linearization linear_;
  KeptFunctions functions_;
};

// Drops equations that no output's tangent needs. One may be a custom_vjp function's, which has no
// tangent.
Linearization without_unused(Linearization linear) {
  const ProgramPtr& program = linear.map.program;
  const std::vector<bool> outputs(program->outputs.size(), true);
  const std::vector<bool> inputs(program->inputs.size(), true);
  linear.map.program = dce_program(program, outputs, &inputs).program;
  return linear;
}

// A function of the residuals and a tangent per argument of the function that was linearised.
class Linear final : public Transform {
 public:
  explicit Linear(Linearization linear)
      : linear_(without_unused(std::move(linear))), functions_(*linear_.map.program) {}
  int traverse(visitproc visit, void* arg) override { return functions_.traverse(visit, arg); }
  PyObject* call(PyObject*, const CallArguments& arguments) override {
    LinearMap map = linear_.map;
    map.residuals = residual_values(arguments, linear_.residual_types);
    const FlatObjects tangents = flatten_objects(arguments.values + 1, index(arguments.count - 1));
    check_structure(tangents);
    Values selected;
    for (std::size_t i = 0; i < tangents.values.size(); ++i) {
      const Type& primal = linear_.in_types[i];
      const Type expected = tangent_type(primal);
      const Type& type = tangents.values[i]->type();
      const AxisSet over = excess(type, expected);
      if (!same_shape_and_dtype(type, expected) || !over.empty()) {
        value_error(
            "linearized function called on tangent values inconsistent with the original primal "
            "values: Got tangent aval ",
            objects::weak_string(type), " for primal aval ", objects::weak_string(primal),
            " but expected ", objects::weak_string(expected), ".",
            over.empty() ? ""
                         : concat(" This might be fixed by applying `jax.lax.pcast(..., ",
                                  to_string(ParamValue(AxisNames{over})),
                                  ", to='varying')` to the primal value passed to "
                                  "`jax.linearize`."));
      }
      if (linear_.nonzero[i]) selected.push_back(tangents.values[i]);
    }
    const Values out = shardax::apply(map, selected);
    std::vector<Ref> leaves;
    for (std::size_t i = 0; i < linear_.out_types.size(); ++i)
      leaves.push_back(tangent_object(out[i], linear_.out_types[i]));
    return pytree::unflatten(linear_.out_tree->view(), pytree::pointers(leaves)).release();
  }

  // The program of residuals and tangents.
  const ProgramPtr& program() const { return linear_.map.program; }

 private:
  void check_structure(const FlatObjects& tangents) const {
    bool same = tangents.trees.size() == linear_.in_trees.size();
    for (std::size_t i = 0; same && i < tangents.trees.size(); ++i)
      same = *tangents.trees[i] == *linear_.in_trees[i];
    if (same) return;
    type_error("expected ", pytree::TreeDef::tuple(linear_.in_trees)->to_string(), ", got ",
               pytree::TreeDef::tuple(tangents.trees)->to_string());
  }

  Linearization linear_;
  KeptFunctions functions_;
};

Ref objects_of(const Values& values) {
  Ref list = checked(PyList_New(static_cast<Py_ssize_t>(values.size())));
  for (std::size_t i = 0; i < values.size(); ++i) {
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), checked(wrap(values[i])).release());
  }
  return list;
}

// A linear function as Python sees it is a node whose leaves are the residuals, so that it goes
// through transformations as other results do.
PyObject* program_tuple(PyObject* self, void*) {
  return guarded([&] {
    const auto* linear = dynamic_cast<const Linear*>(&behaviour_of(self));
    return linear ? PyTuple_Pack(1, wrap_program(linear->program()).get()) : PyTuple_New(0);
  });
}

PyTypeObject* linear_function_type() {
  static PyGetSetDef args{"args", program_tuple, nullptr,
                          "The program of what linearize gives, of residuals and tangents.",
                          nullptr};
  PyTypeObject* type =
      make_function_type("shardax.LinearFunction",
                         "A linear function of residuals, then tangents or cotangents.", nullptr);
  const Ref descriptor = checked(PyDescr_NewGetSet(type, &args));
  check(PyObject_SetAttrString(reinterpret_cast<PyObject*>(type), args.name, descriptor.get()));
  return type;
}

Ref function_of_residuals(PyObject* fun, std::unique_ptr<Transform> behaviour) {
  static PyTypeObject* type = nullptr;
  return make_function(made_once(type, linear_function_type), fun, std::move(behaviour));
}

// Residuals that are inputs are told from the others.
Ref vjp_node(PyObject* fun, const Differentiated& d) {
  std::vector<int> origins;
  for (const Value& residual : d.residuals) {
    const auto at = std::find_if(d.inputs.begin(), d.inputs.end(),
                                 [&](const Value& input) { return same_value(residual, input); });
    origins.push_back(at == d.inputs.end() ? -1 : static_cast<int>(at - d.inputs.begin()));
  }
  const Ref trees = checked(PyList_New(0));
  for (const TreeDefPtr& tree : d.linear.in_trees) check(PyList_Append(trees.get(), tree.object()));
  const Ref function = function_of_residuals(fun, std::make_unique<Vjp>(d.linear));
  return call_python("_transform.vjp", "vjp_function", function, trees, callables::list_of(origins),
                     objects_of(d.residuals));
}

PyObject* results(const Differentiated& d, const Ref& function) {
  const Ref out = unflatten_values(d.linear.out_tree, d.outputs);
  if (!d.aux) return PyTuple_Pack(2, out.get(), function.get());
  return PyTuple_Pack(3, out.get(), function.get(), d.aux.get());
}

}  // namespace

Ref tuple_of(const std::vector<Ref>& items) {
  Ref tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  for (std::size_t i = 0; i < items.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), Py_NewRef(items[i].get()));
  }
  return tuple;
}

Values residual_values(const CallArguments& arguments, const Types& types) {
  if (arguments.count == 0) type_error("a linear function takes its residuals first");
  const Ref list = pytree::checked_sequence(arguments.values[0], "residuals must be a list");
  Values residuals;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
    residuals.push_back(objects::to_value(PySequence_Fast_GET_ITEM(list.get(), i)));
    objects::check_not_deleted(residuals.back());
  }
  bool same = residuals.size() == types.size();
  for (std::size_t i = 0; same && i < types.size(); ++i)
    same = same_shape_and_dtype(residuals[i]->type(), types[i]);
  if (same) return residuals;
  type_error("a linear function was made with residuals of the types ",
             to_string(ParamValue(types)), ", but was called with ",
             to_string(ParamValue(types_of(residuals))),
             "; of a batch of linear functions, each is called inside vmap.");
}

Ref partial(PyObject* fun, std::unique_ptr<Transform> behaviour, const Values& residuals) {
  const Ref function = function_of_residuals(fun, std::move(behaviour));
  return call_python("tree_util", "Partial", function.get(), objects_of(residuals).get());
}

PyObject* vjp(PyObject* fun, PyObject* const* primals, std::size_t count, bool has_aux) {
  const Differentiated d = differentiate(fun, primals, count, has_aux);
  return results(d, vjp_node(fun, d));
}

PyObject* linearize_of(PyObject* fun, PyObject* const* primals, std::size_t count, bool has_aux) {
  const Differentiated d = differentiate(fun, primals, count, has_aux);
  return results(d, partial(fun, std::make_unique<Linear>(d.linear), d.residuals));
}

}  // namespace shardax::callables
