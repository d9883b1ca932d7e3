// api/linear_functions.cpp - the functions that vjp, linearize and linear_transpose return.
#include "api/call.h"
#include "api/host_function.h"
#include "api/linear.h"
#include "api/locate.h"
#include "api/traced.h"
#include "ops/ops.h"
#include "transform/transpose.h"

namespace shardax::api {
namespace {

// A function linearised at a point, with the structures of what goes in and comes out.
struct Derivative {
  LinearMap map;
  FlatObjects inputs;         // one tree per argument; the values are the primals
  std::vector<bool> nonzero;  // which of them have tangents
  TreeDefPtr out_tree;
  std::size_t out_count = 0;
  Aux aux;
  std::string name;

  Values outputs() const {
    return {map.out.begin(), map.out.begin() + static_cast<std::ptrdiff_t>(out_count)};
  }
};

Derivative differentiate(PyObject* fun, PyObject* const* primals, std::size_t count, bool has_aux) {
  check_callable(fun);
  Derivative d;
  d.name = function_name(fun);
  d.inputs = flatten_objects(primals, count);
  for (const Value& value : d.inputs.values) d.nonzero.push_back(differentiable(value->type()));
  const auto body = [&](const Values& in) {
    const std::vector<Ref> traced = d.inputs.unflatten(wrap_all(in));
    Ref result =
        checked(PyObject_Vectorcall(fun, pytree::pointers(traced).data(), traced.size(), nullptr));
    Ref aux_object;
    if (has_aux) std::tie(result, aux_object) = split_aux(result.get());
    FlatResult flat = flatten_result(result.get(), "vjp", fun);
    d.out_tree = flat.tree;
    d.out_count = flat.values.size();
    if (aux_object) d.aux.take(aux_object.get(), flat.values);
    return flat.values;
  };
  d.map = linearize(body, d.inputs.values, d.nonzero);
  return d;
}

PyObject* with_aux(const Derivative& d, bool has_aux, const Ref& function) {
  const Ref out = unflatten_values(d.out_tree, d.outputs());
  if (!has_aux) return PyTuple_Pack(2, out.get(), function.get());
  return PyTuple_Pack(3, out.get(), function.get(), d.aux.rebuild(d.map.out, d.out_count).get());
}

Ref tuple_of(const std::vector<Ref>& items) {
  Ref tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  for (std::size_t i = 0; i < items.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), Py_NewRef(items[i].get()));
  }
  return tuple;
}

class Vjp final : public Behaviour {
 public:
  explicit Vjp(Derivative derivative) : d_(std::move(derivative)), functions_(*d_.map.program) {}
  int traverse(visitproc visit, void* arg) override { return functions_.traverse(visit, arg); }
  const Derivative& derivative() const { return d_; }
  PyObject* call(PyObject*, const CallArguments& arguments) override {
    if (arguments.count != 1 || arguments.keyword_count() != 0) {
      type_error(
          "The function returned by vjp applied to ", d_.name, " was called with ",
          arguments.count + arguments.keyword_count(),
          " arguments, but functions returned by vjp "
          "must be called with a single argument corresponding to the single value returned by the "
          "function being differentiated (even if that returned value is a tuple or other "
          "container).");
    }
    Values cotangents = flat_cotangents(arguments.values[0]);
    cotangents.resize(d_.map.out.size());
    const Values found = apply_transpose(d_.map, cotangents);
    std::vector<Ref> leaves;
    for (std::size_t i = 0, next = 0; i < d_.nonzero.size(); ++i) {
      const Value ct = d_.nonzero[i] ? found[next++] : Value();
      leaves.push_back(tangent_object(ct, d_.inputs.values[i]->type()));
    }
    return tuple_of(d_.inputs.unflatten(leaves)).release();
  }

 private:
  Values flat_cotangents(PyObject* object) const {
    Scratch scratch;
    pytree::flatten(object, scratch.leaves(), scratch.tree());
    if (!pytree::equal(scratch.tree().view(), d_.out_tree->view())) {
      value_error(
          "unexpected tree structure. The argument to a VJP function returned by vjp must match "
          "the "
          "pytree structure of the output of the differentiated function ",
          d_.name, ", ", d_.out_tree->to_string(), ", but got ",
          scratch.tree().finish()->to_string(), ".");
    }
    Values out;
    for (std::size_t i = 0; i < scratch.leaves().size(); ++i) {
      const Type& type = d_.map.out[i]->type();
      if (!differentiable(type)) {
        out.push_back(nullptr);
        continue;
      }
      out.push_back(bindings::to_value(scratch.leaves()[i].get()));
      if (same_shape_and_dtype(out.back()->type(), type)) continue;
      value_error("unexpected JAX type (e.g. shape/dtype) for argument to VJP function: got ",
                  to_string(out.back()->type()), ", but expected ", to_string(type),
                  " because the corresponding output of the differentiated function had JAX type ",
                  to_string(type));
    }
    return out;
  }

  Derivative d_;
  KeptFunctions functions_;
};

class Linear final : public Behaviour {
 public:
  explicit Linear(Derivative derivative) : d_(std::move(derivative)), functions_(*d_.map.program) {}
  int traverse(visitproc visit, void* arg) override { return functions_.traverse(visit, arg); }
  const Derivative& derivative() const { return d_; }
  PyObject* call(PyObject*, const CallArguments& arguments) override {
    const FlatObjects tangents =
        flatten_objects(arguments.values, static_cast<std::size_t>(arguments.count));
    check_structure(tangents);
    Values selected;
    for (std::size_t i = 0; i < tangents.values.size(); ++i) {
      const Type& primal = d_.inputs.values[i]->type();
      const Type& type = tangents.values[i]->type();
      if (!same_shape_and_dtype(type, primal)) {
        value_error(
            "linearized function called on tangent values inconsistent with the original primal "
            "values: Got tangent aval ",
            bindings::weak_string(type), " for primal aval ", bindings::weak_string(primal),
            " but expected ", bindings::weak_string(primal), ".");
      }
      if (d_.nonzero[i]) selected.push_back(tangents.values[i]);
    }
    const Values out = shardax::apply(d_.map, selected);
    std::vector<Ref> leaves;
    for (std::size_t i = 0; i < d_.out_count; ++i)
      leaves.push_back(tangent_object(out[i], d_.map.out[i]->type()));
    return pytree::unflatten(d_.out_tree->view(), pytree::pointers(leaves)).release();
  }

 private:
  void check_structure(const FlatObjects& tangents) const {
    bool same = tangents.trees.size() == d_.inputs.trees.size();
    for (std::size_t i = 0; same && i < tangents.trees.size(); ++i)
      same = *tangents.trees[i] == *d_.inputs.trees[i];
    if (same) return;
    type_error("expected ", pytree::TreeDef::tuple(d_.inputs.trees)->to_string(), ", got ",
               pytree::TreeDef::tuple(tangents.trees)->to_string());
  }

  Derivative d_;
  KeptFunctions functions_;
};

class Transposed final : public Behaviour {
 public:
  Transposed(Staged staged, FlatObjects inputs)
      : staged_(std::move(staged)), inputs_(std::move(inputs)) {}
  PyObject* call(PyObject*, const CallArguments& arguments) override {
    Scratch scratch;
    if (arguments.count != 1)
      type_error("a transposed function takes one argument, got ", arguments.count);
    pytree::flatten(arguments.values[0], scratch.leaves(), scratch.tree());
    if (!pytree::equal(scratch.tree().view(), staged_.out_tree->view())) {
      type_error("cotangent tree does not match function output, expected ",
                 staged_.out_tree->to_string(), " but got ", scratch.tree().finish()->to_string());
    }
    const Types types = staged_.program->output_types();
    Values cotangents;
    for (std::size_t i = 0; i < types.size(); ++i) {
      cotangents.push_back(bindings::to_value(scratch.leaves()[i].get()));
      if (same_shape_and_dtype(types[i], cotangents[i]->type())) continue;
      type_error("cotangent type does not match function output, expected ", to_string(types[i]),
                 " but got ", to_string(cotangents[i]->type()));
    }
    const std::size_t count = inputs_.values.size();
    std::vector<bool> linear(count + staged_.captured.size(), false);
    std::fill_n(linear.begin(), count, true);
    Values values(count);
    values.insert(values.end(), staged_.captured.begin(), staged_.captured.end());
    const Values found = backward(*staged_.program, linear, values, cotangents);
    std::vector<Ref> leaves;
    for (std::size_t i = 0; i < count; ++i) {
      leaves.push_back(checked(wrap(found[i] ? found[i] : ops::zeros(inputs_.values[i]->type()))));
    }
    return tuple_of(inputs_.unflatten(leaves)).release();
  }

 private:
  Staged staged_;
  FlatObjects inputs_;
};

// One Python type per behaviour.
template <class B>
Ref make_linear_function(const char* name, PyObject* fun, std::unique_ptr<B> behaviour) {
  static PyTypeObject* type =
      make_function_type(name, "A linear function of tangents or cotangents.", nullptr);
  return make_function(type, fun, std::move(behaviour));
}

}  // namespace

PyObject* vjp(PyObject* fun, PyObject* const* primals, std::size_t count, bool has_aux) {
  auto behaviour = std::make_unique<Vjp>(differentiate(fun, primals, count, has_aux));
  Vjp& kept = *behaviour;
  return with_aux(kept.derivative(), has_aux,
                  make_linear_function("shardax.VJP", fun, std::move(behaviour)));
}

PyObject* linearize_of(PyObject* fun, PyObject* const* primals, std::size_t count, bool has_aux) {
  auto behaviour = std::make_unique<Linear>(differentiate(fun, primals, count, has_aux));
  Linear& kept = *behaviour;
  return with_aux(kept.derivative(), has_aux,
                  make_linear_function("shardax.LinearizedFunction", fun, std::move(behaviour)));
}

PyObject* linear_transpose(PyObject* fun, PyObject* const* primals, std::size_t count) {
  check_callable(fun);
  FlatCall flat({primals, static_cast<Py_ssize_t>(count), nullptr}, {}, fun);
  const CallForm form = flat.form();
  Types types;
  for (const Ref& leaf : flat.leaves()) types.push_back(abstract_type(leaf.get()));
  FlatObjects inputs;
  for (const TreeDefPtr& tree : form.tree->children()[0]->children()) inputs.trees.push_back(tree);
  for (const Type& type : types) inputs.values.push_back(ops::zeros(type));
  Staged staged = stage_call("linear_transpose", fun, form, types);
  return make_linear_function("shardax.TransposedFunction", fun,
                              std::make_unique<Transposed>(std::move(staged), std::move(inputs)))
      .release();
}

}  // namespace shardax::api
