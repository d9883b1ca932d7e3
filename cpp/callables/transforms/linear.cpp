// callables/transforms/linear.cpp - flattening for derivatives, and jvp.
#include "callables/transforms/linear.h"

#include <algorithm>
#include <tuple>

#include "base/index.h"
#include "callables/call.h"
#include "ops/ops.h"
#include "pytree/python.h"

namespace shardax::callables {

std::vector<Ref> FlatObjects::unflatten(const std::vector<Ref>& leaves) const {
  std::vector<Ref> objects;
  std::size_t begin = 0;
  for (const TreeDefPtr& tree : trees) {
    objects.push_back(pytree::unflatten(
        tree->view(), pytree::pointers(leaves).subspan(begin, tree->num_leaves())));
    begin += tree->num_leaves();
  }
  return objects;
}

FlatObjects flatten_objects(PyObject* const* objects, std::size_t count) {
  FlatObjects flat;
  for (std::size_t i = 0; i < count; ++i) {
    Scratch scratch;
    pytree::flatten(objects[i], scratch.leaves(), scratch.tree());
    flat.trees.push_back(scratch.tree().finish());
    for (const Ref& leaf : scratch.leaves()) {
      flat.values.push_back(objects::to_value(leaf.get()));
      objects::check_not_deleted(flat.values.back());
    }
  }
  return flat;
}

namespace {

PyObject* opener = nullptr;

bool holds_opened(const TreeDefPtr& tree) {
  for (const pytree::Node& node : tree->view().nodes) {
    if (node.kind == pytree::Kind::custom && pytree::registration(node.type_id).calls_only)
      return true;
  }
  return false;
}

std::vector<Ref> given_by(const Ref& function, std::vector<Ref> arrays) {
  if (!function) return arrays;
  const Ref list = pytree::to_list(arrays);
  const Ref found = checked(PyObject_CallOneArg(function.get(), list.get()));
  std::vector<Ref> out;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(found.get()); ++i)
    out.push_back(Ref::borrow(PyList_GET_ITEM(found.get(), i)));
  return out;
}

}  // namespace

void OpenedObjects::set_opener(PyObject* function) { opener = Py_NewRef(function); }

OpenedObjects::OpenedObjects(const std::vector<PyObject*>& objects, FlatObjects& flat) {
  if (!opener || std::none_of(flat.trees.begin(), flat.trees.end(), holds_opened)) return;
  std::vector<Ref> given;
  for (PyObject* object : objects) given.push_back(Ref::borrow(object));
  const Ref list = pytree::to_list(given);
  const Ref parts = checked(PyObject_CallOneArg(opener, list.get()));
  PyObject* arrays = PyTuple_GET_ITEM(parts.get(), 0);
  values_ = Ref::borrow(PyTuple_GET_ITEM(parts.get(), 1));
  gradients_ = Ref::borrow(PyTuple_GET_ITEM(parts.get(), 2));
  std::vector<PyObject*> items;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(arrays); ++i)
    items.push_back(PyList_GET_ITEM(arrays, i));
  flat = flatten_objects(items.data(), items.size());
}

std::vector<Ref> OpenedObjects::values(std::vector<Ref> arrays) const {
  return given_by(values_, std::move(arrays));
}
std::vector<Ref> OpenedObjects::gradients(std::vector<Ref> arrays) const {
  return given_by(gradients_, std::move(arrays));
}

std::pair<Ref, Ref> split_aux(PyObject* result) {
  if (!PyTuple_Check(result) || PyTuple_GET_SIZE(result) != 2) {
    type_error("expected function with aux output to return a two-element tuple, but got type ",
               repr(type_object(result)), " with value ", repr(result));
  }
  return {Ref::borrow(PyTuple_GET_ITEM(result, 0)), Ref::borrow(PyTuple_GET_ITEM(result, 1))};
}

void Aux::take(PyObject* aux, Values& outputs) {
  Scratch scratch;
  pytree::flatten(aux, scratch.leaves(), scratch.tree());
  tree_ = scratch.tree().finish();
  leaves_ = scratch.leaves();
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    if (!objects::is_array_object(leaves_[i].get())) continue;
    array_leaves_.push_back(i);
    outputs.push_back(objects::value_of(leaves_[i].get()));
  }
}

Ref Aux::rebuild(const Values& values, std::size_t begin) const {
  std::vector<Ref> leaves = leaves_;
  for (std::size_t leaf : array_leaves_) leaves[leaf] = checked(wrap(values[begin++]));
  return pytree::unflatten(tree_->view(), pytree::pointers(leaves));
}

Value with_weak(const Value& value, bool weak) {
  if (value->type().weak == weak) return value;
  if (value->is_tracer()) return ops::convert(value, value->dtype(), weak);
  const Array& array = as_array(value);
  Type type = array.type();
  type.weak = weak;
  return view_of(array, type, array.strides(), 0);
}

Ref tangent_object(const Value& tangent, const Type& primal) {
  if (tangent) return checked(wrap(tangent));
  if (differentiable(primal)) return checked(wrap(ops::zeros(primal)));
  const Ref shape = checked(PyTuple_New(static_cast<Py_ssize_t>(primal.rank())));
  for (std::size_t i = 0; i < primal.rank(); ++i) {
    PyTuple_SET_ITEM(shape.get(), static_cast<Py_ssize_t>(i), to_python(primal.shape[i]).release());
  }
  return call_python("_transform.stages", "float0_zeros", shape);
}

namespace {

bool is_sequence(PyObject* object) { return PyTuple_Check(object) || PyList_Check(object); }

// The tangent of one leaf, null where the primal has none; checks dtype and shape.
Value tangent_leaf(PyObject* object, const Type& primal) {
  const std::string rule =
      "primal and tangent arguments to jax.jvp do not match; dtypes must be equal, or in case "
      "of int/bool primal dtype the tangent dtype must be float0. ";
  if (!differentiable(primal)) {
    if (!str(call_python("_transform.stages", "dtype_name", object).get()).starts_with("float0")) {
      type_error(rule, "Got primal dtype ", name(primal.dtype),
                 " and so expected tangent dtype float0, but got tangent ", repr(object),
                 " instead.");
    }
    return nullptr;
  }
  Value tangent = objects::to_value(object);
  if (tangent->dtype() != primal.dtype) {
    type_error(rule, "Got primal dtype ", name(primal.dtype), " and so expected tangent dtype ",
               name(primal.dtype), ", but got tangent dtype ", name(tangent->dtype()), " instead.");
  }
  if (!(tangent->shape() == primal.shape)) {
    value_error("jvp called with different primal and tangent shapes; Got primal shape ",
                to_string(primal.shape), " and tangent shape as ", to_string(tangent->shape()));
  }
  return tangent;
}

Values flat_tangents(PyObject* primals, PyObject* tangents, const FlatObjects& inputs) {
  Scratch a, b;
  pytree::flatten(primals, a.leaves(), a.tree());
  pytree::flatten(tangents, b.leaves(), b.tree());
  if (!pytree::equal(a.tree().view(), b.tree().view())) {
    type_error(
        "primal and tangent arguments to jax.jvp must have the same tree structure; primals have "
        "tree "
        "structure ",
        a.tree().finish()->to_string(), " whereas tangents have tree structure ",
        b.tree().finish()->to_string(), ".");
  }
  Values out;
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    out.push_back(tangent_leaf(b.leaves()[i].get(), inputs.values[i]->type()));
  }
  return out;
}

// Without the module.
std::string type_name(PyObject* object) {
  const std::string name = Py_TYPE(object)->tp_name;
  return name.substr(name.rfind('.') + 1);
}

Ref as_tuple(PyObject* sequence) { return checked(PySequence_Tuple(sequence)); }

}  // namespace

PyObject* jvp_of(PyObject* fun, PyObject* primals, PyObject* tangents, bool has_aux) {
  check_callable(fun);
  if (!is_sequence(primals) || !is_sequence(tangents)) {
    type_error("primal and tangent arguments to jax.jvp must be tuples or lists; found ",
               type_name(primals), " and ", type_name(tangents), ".");
  }
  const Ref args = as_tuple(primals);
  PyObject* const* items = &PyTuple_GET_ITEM(args.get(), 0);
  const FlatObjects inputs = flatten_objects(items, index(PyTuple_GET_SIZE(args.get())));
  const Values t = flat_tangents(primals, tangents, inputs);
  TreeDefPtr out_tree;
  Aux aux;
  std::size_t count = 0;
  const auto body = [&](const Values& in) {
    const TransformationScope names("jvp");
    const std::vector<Ref> traced = inputs.unflatten(wrap_all(in));
    Ref result = checked(call_unlocked([&] {
      return PyObject_Vectorcall(fun, pytree::pointers(traced).data(), traced.size(), nullptr);
    }));
    Ref aux_object;
    if (has_aux) std::tie(result, aux_object) = split_aux(result.get());
    FlatResult flat = flatten_result(result.get(), "jvp", fun);
    out_tree = flat.tree;
    count = flat.values.size();
    if (aux_object) aux.take(aux_object.get(), flat.values);
    return flat.values;
  };
  const JvpResult both = jvp(body, inputs.values, t);
  std::vector<Ref> out_tangents;
  for (std::size_t i = 0; i < count; ++i)
    out_tangents.push_back(tangent_object(both.t[i], both.out[i]->type()));
  const Values outputs(both.out.begin(), both.out.begin() + static_cast<std::ptrdiff_t>(count));
  const Ref out = unflatten_values(out_tree, outputs);
  const Ref tangent = pytree::unflatten(out_tree->view(), pytree::pointers(out_tangents));
  if (!has_aux) return PyTuple_Pack(2, out.get(), tangent.get());
  return PyTuple_Pack(3, out.get(), tangent.get(), aux.rebuild(both.out, count).get());
}

}  // namespace shardax::callables
