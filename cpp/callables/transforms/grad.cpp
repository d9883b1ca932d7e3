// callables/transforms/grad.cpp - calls of gradient functions.
#include "callables/transforms/grad.h"

#include <algorithm>
#include <tuple>

#include "base/index.h"
#include "callables/call.h"
#include "callables/staging/context.h"
#include "callables/transforms/linear.h"
#include "ops/ops.h"

namespace shardax::callables {
namespace {

class Grad final : public Transform {
 public:
  explicit Grad(GradOptions options) : options_(std::move(options)) {}
  PyObject* call(PyObject* function, const CallArguments& arguments) override;
  Ref recipe(PyObject* function) const override;

 private:
  const char* api() const { return options_.value ? "value_and_grad" : "grad"; }
  std::vector<std::size_t> positions(Py_ssize_t count) const;
  void check_inputs(const Values& values) const;
  void check_output(PyObject* out) const;
  Ref gradient(const LinearMap& map, const FlatObjects& inputs, const std::vector<bool>& nonzero,
               const OpenedObjects& opened) const;

  GradOptions options_;
};

Ref Grad::recipe(PyObject* function) const {
  const auto flag = [](bool b) { return b ? Py_True : Py_False; };
  const Ref argnums = list_of(options_.argnums),
            doc = checked(PyObject_GetAttrString(function, "__doc__"));
  return checked(Py_BuildValue("sOOOOOOO", "grad", argnums.get(), flag(options_.several),
                               flag(options_.value), flag(options_.has_aux),
                               flag(options_.holomorphic), flag(options_.allow_int), doc.get()));
}

// argnums as positions among `count` arguments.
std::vector<std::size_t> Grad::positions(Py_ssize_t count) const {
  const int highest = *std::max_element(options_.argnums.begin(), options_.argnums.end());
  if (highest >= count) {
    std::string text;
    for (int n : options_.argnums) text += concat(text.empty() ? "" : ", ", n);
    if (options_.several) text = "(" + text + (options_.argnums.size() == 1 ? ",)" : ")");
    type_error("differentiating with respect to argnums=", text, " requires at least ", highest + 1,
               " positional arguments to be passed by the caller, but got only ", count,
               " positional arguments.");
  }
  std::vector<std::size_t> out;
  for (int n : options_.argnums) {
    if (n < -count) {
      value_error(
          "Positional argument indices, e.g. for `static_argnums`, must have value greater "
          "than or equal to -len(args) and less than len(args), but got value ",
          n, " for len(args) == ", count, ".");
    }
    out.push_back(index(n < 0 ? n + count : n));
  }
  return out;
}

void Grad::check_inputs(const Values& values) const {
  for (const Value& value : values) {
    const DType dtype = value->dtype();
    if (options_.holomorphic && !is_complex(dtype)) {
      type_error(api(), " with holomorphic=True requires inputs with complex dtype, but got ",
                 name(dtype), ".");
    }
    if (!options_.holomorphic && !options_.allow_int && !is_inexact(dtype)) {
      type_error(api(),
                 " requires real- or complex-valued inputs (input dtype that is a sub-dtype of "
                 "np.inexact), but got ",
                 name(dtype),
                 ". If you want to use Boolean- or integer-valued "
                 "inputs, use vjp or set allow_int to True.");
    }
  }
}

void Grad::check_output(PyObject* out) const {
  const Value value = try_value(out);
  if (!value) {
    type_error("Gradient only defined for scalar-output functions. Output was ", str(out), ".");
  }
  if (value->type().rank() != 0) {
    type_error("Gradient only defined for scalar-output functions. Output had shape: ",
               to_string(value->shape()), ".");
  }
  const DType dtype = value->dtype();
  if (options_.holomorphic && !is_complex(dtype)) {
    type_error(api(), " with holomorphic=True requires outputs with complex dtype, but got ",
               name(dtype), ".");
  }
  if (options_.holomorphic || is_floating(dtype)) return;
  type_error(
      api(),
      " requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got ",
      name(dtype), ". ",
      is_complex(dtype)
          ? "For holomorphic differentiation, pass holomorphic=True. For differentiation of "
            "non-holomorphic functions involving complex outputs, use shardax.vjp directly."
          : "For differentiation of functions with integer outputs, use shardax.vjp directly.");
}

PyObject* Grad::call(PyObject* function, const CallArguments& arguments) {
  PyObject* fun = wrapped_function(function);
  const std::vector<std::size_t> at = positions(arguments.count);
  std::vector<PyObject*> selected;
  for (std::size_t position : at) selected.push_back(arguments.values[position]);
  FlatObjects inputs = flatten_objects(selected.data(), selected.size());
  const OpenedObjects opened(selected, inputs);
  check_inputs(inputs.values);

  Aux aux;
  Ref out;  // the value as the function returned it, for errors only
  const auto body = [&](const Values& in) -> Values {
    const TransformationScope names("jvp");
    const std::vector<Ref> traced = opened.values(inputs.unflatten(wrap_all(in)));
    const auto count = index(arguments.count + arguments.keyword_count());
    std::vector<PyObject*> all(arguments.values, arguments.values + count);
    for (std::size_t i = 0; i < at.size(); ++i) all[at[i]] = traced[i].get();
    Ref result = checked(call_unlocked([&] {
      return PyObject_Vectorcall(fun, all.data(), index(arguments.count), arguments.names);
    }));
    Ref aux_object;
    if (options_.has_aux) std::tie(result, aux_object) = split_aux(result.get());
    check_output(result.get());
    Values values{objects::to_value(result.get())};
    if (aux_object) aux.take(aux_object.get(), values);
    return values;
  };
  std::vector<bool> nonzero;
  for (const Value& value : inputs.values) nonzero.push_back(differentiable(value->type()));
  const LinearMap map = linearize(body, inputs.values, nonzero);

  Ref answer = gradient(map, inputs, nonzero, opened);
  if (!options_.value && !options_.has_aux) return answer.release();
  Ref value = checked(wrap(map.out[0]));
  if (!options_.has_aux) return PyTuple_Pack(2, value.get(), answer.get());
  const Ref extra = aux.rebuild(map.out, 1);
  if (!options_.value) return PyTuple_Pack(2, answer.get(), extra.get());
  value = checked(PyTuple_Pack(2, value.get(), extra.get()));
  return PyTuple_Pack(2, value.get(), answer.get());
}

Ref Grad::gradient(const LinearMap& map, const FlatObjects& inputs,
                   const std::vector<bool>& nonzero, const OpenedObjects& opened) const {
  Values cotangents(map.out.size());
  cotangents[0] = ops::scalar(map.out[0]->dtype(), 1.0, map.out[0]->type().weak);
  const TransformationScope names("transpose");
  const Values found = apply_transpose(map, cotangents);
  std::vector<Ref> leaves;
  for (std::size_t i = 0, next = 0; i < nonzero.size(); ++i) {
    leaves.push_back(
        tangent_object(nonzero[i] ? found[next++] : Value(), inputs.values[i]->type()));
  }
  const std::vector<Ref> gradients = opened.gradients(inputs.unflatten(leaves));
  if (!options_.several) return gradients[0];
  Ref all = checked(PyTuple_New(static_cast<Py_ssize_t>(gradients.size())));
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), Py_NewRef(gradients[i].get()));
  }
  return all;
}

}  // namespace

Ref make_grad(PyObject* fun, GradOptions options, PyObject* doc) {
  static PyTypeObject* type = nullptr;
  made_once(type, [] {
    return make_function_type("shardax.GradientFunction",
                              "A function that gives the gradient of another.", nullptr);
  });
  check_callable(fun);
  if (options.argnums.empty())
    value_error("grad: argnums is empty; name at least one positional argument.");
  return make_function(type, fun, std::make_unique<Grad>(std::move(options)), doc);
}

}  // namespace shardax::callables
