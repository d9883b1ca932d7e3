// callables/transforms/linear_transpose.cpp - the transposes of linear functions.
#include "callables/call.h"
#include "callables/host_function.h"
#include "callables/staging/traced.h"
#include "callables/transforms/linear.h"
#include "callables/transforms/linear_functions.h"
#include "ops/ops.h"
#include "trace/stage.h"
#include "transform/dce.h"
#include "transform/inline_calls.h"
#include "transform/transpose.h"

namespace shardax::callables {
namespace {

// A function of the values that the transposed function captured and of a cotangent.
class Transposed final : public Transform {
 public:
  Transposed(Staged staged, FlatObjects inputs)
      : staged_(std::move(staged)),
        inputs_(std::move(inputs)),
        functions_(*staged_.program),
        captured_types_(types_of(staged_.captured)) {
    staged_.captured.clear();
  }
  int traverse(visitproc visit, void* arg) override { return functions_.traverse(visit, arg); }
  PyObject* call(PyObject*, const CallArguments& arguments) override {
    const Values captured = residual_values(arguments, captured_types_);
    if (arguments.count != 2)
      type_error("a transposed function takes one argument, got ", arguments.count - 1);
    const Values cotangents = flat_cotangents(arguments.values[1]);
    const std::size_t count = inputs_.values.size();
    std::vector<bool> linear(count + captured.size(), false);
    std::fill_n(linear.begin(), count, true);
    Values values(count);
    values.insert(values.end(), captured.begin(), captured.end());
    const Values found = backward(*staged_.program, linear, values, cotangents);
    std::vector<Ref> leaves;
    for (std::size_t i = 0; i < count; ++i) {
      leaves.push_back(checked(wrap(found[i] ? found[i] : ops::zeros(inputs_.values[i]->type()))));
    }
    return tuple_of(inputs_.unflatten(leaves)).release();
  }

 private:
  Values flat_cotangents(PyObject* object) const {
    Scratch scratch;
    pytree::flatten(object, scratch.leaves(), scratch.tree());
    if (!pytree::equal(scratch.tree().view(), staged_.out_tree->view())) {
      type_error("cotangent tree does not match function output, expected ",
                 staged_.out_tree->to_string(), " but got ", scratch.tree().finish()->to_string());
    }
    const Types types = staged_.program->output_types();
    Values cotangents;
    for (std::size_t i = 0; i < types.size(); ++i) {
      cotangents.push_back(objects::to_value(scratch.leaves()[i].get()));
      if (same_shape_and_dtype(types[i], cotangents[i]->type())) continue;
      type_error("cotangent type does not match function output, expected ", to_string(types[i]),
                 " but got ", to_string(cotangents[i]->type()));
    }
    return cotangents;
  }

  Staged staged_;
  FlatObjects inputs_;
  KeptFunctions functions_;
  Types captured_types_;
};

void check_linear_types(const Types& in, const Types& out) {
  const auto all = [&](bool (*test)(DType)) {
    const auto holds = [&](const Type& type) { return test(type.dtype); };
    return std::all_of(in.begin(), in.end(), holds) && std::all_of(out.begin(), out.end(), holds);
  };
  if (all(is_inexact) || all(is_integer)) return;
  type_error(
      "linear_transpose only supports [float or complex] -> [float or complex], and integer -> "
      "integer functions, but got ",
      to_string(ParamValue(in)), " -> ", to_string(ParamValue(out)), ".");
}

}  // namespace

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
  check_linear_types(types, staged.program->output_types());
  // A derivative within a called function stands beside the call that it is the derivative of.
  staged.program = hoist_constants(*inlined(staged.program), staged.captured);
  const Values captured = staged.captured;
  return partial(fun, std::make_unique<Transposed>(std::move(staged), std::move(inputs)), captured)
      .release();
}

}  // namespace shardax::callables
