// objects/indexing/index.cpp - x[...]: views where the index is static, gather where arrays name
// elements.
#include "objects/indexing/index.h"

#include <utility>

#include "analysis/shardings.h"
#include "ir/sharding_given.h"
#include "numpy/compose.h"
#include "numpy/promote.h"
#include "objects/array/convert.h"
#include "objects/dtypes.h"
#include "objects/indexing/gather_spec.h"
#include "ops/sharding_rules/ambiguity.h"

namespace shardax::objects {
namespace {

using Kind = Selector::Kind;

// Takes slices and integers as views. Afterwards slices are whole, integers applied, and bool
// scalars have a dimension of their own.
Value apply_static(const Value& x, IndexPlan& plan) {
  Ints start, limit, step, reversed, squeezed, truths;
  std::int64_t dimension = 0, kept = 0;
  bool changed = false;
  for (Selector& s : plan.selectors) {
    if (s.kind == Kind::added) continue;
    if (s.kind == Kind::array && s.start == -1) {
      truths.push_back(kept++);
      continue;
    }
    std::int64_t first = 0, end = s.size, stride = 1;
    if (s.kind == Kind::integer) {
      first = std::clamp<std::int64_t>(s.start, 0, s.size - 1);
      end = first + 1;
      squeezed.push_back(dimension);
      s.applied = true;
    } else if (s.kind == Kind::slice) {
      stride = s.step < 0 ? -s.step : s.step;
      const std::int64_t last = s.start + (s.count - 1) * s.step;
      first = s.count == 0 ? 0 : std::min(s.start, last);
      end = s.count == 0 ? 0 : std::max(s.start, last) + 1;
      if (s.step < 0 && s.count > 1) reversed.push_back(dimension);
      s = {Kind::slice, s.count, 0, 1, s.count, nullptr};
    }
    changed = changed || first != 0 || end != x->shape()[static_cast<std::size_t>(dimension)] ||
              stride != 1;
    start.push_back(first);
    limit.push_back(end);
    step.push_back(stride);
    if (s.kind != Kind::integer) ++kept;
    ++dimension;
  }
  if (changed && !x->is_tracer() && asked_explicit(x->type().sharding) && !sharding_given())
    ops::check_split_indexed(x->type(), start, limit, step);
  Value out = changed ? ops::slice(x, start, limit, step) : x;
  if (!reversed.empty()) out = ops::rev(out, reversed);
  return ops::expand_dims(ops::squeeze(out, squeezed), truths);
}

Value with_added(const Value& x, const IndexPlan& plan) {
  Ints added;
  std::int64_t position = 0;
  for (const Selector& s : plan.selectors) {
    if (s.kind == Kind::added) added.push_back(position++);
    if (s.kind == Kind::slice) ++position;
  }
  return ops::expand_dims(x, added);
}

// Scalars whose values are unknown while tracing: one element along their dimensions.
Value take_traced_scalars(const Value& x, const IndexPlan& plan) {
  Values starts;
  Ints sizes, dropped;
  DType dtype = DType::int32;
  for (const Value& index : index_arrays(plan)) {
    if (itemsize(index->dtype()) == 8) dtype = DType::int64;
  }
  for (const Selector& s : plan.selectors) {
    if (s.kind != Kind::slice && s.kind != Kind::array) continue;
    const auto dimension = static_cast<std::int64_t>(sizes.size());
    if (s.kind == Kind::array) {
      starts.push_back(numpy::as_type(normalised(s.index, s.size), {dtype, false}));
      dropped.push_back(dimension);
    } else {
      starts.push_back(ops::scalar(dtype, 0));
    }
    sizes.push_back(s.kind == Kind::array ? 1 : s.size);
  }
  const Value part = ops::dynamic_slice(x, starts, sizes);
  return with_added(ops::squeeze(part, dropped), plan);
}

Value take_arrays(const Value& x, const IndexPlan& plan) {
  const GatherSpec spec = make_gather_spec(plan);
  Values in{x};
  const Values arrays = index_arrays(plan);
  in.insert(in.end(), arrays.begin(), arrays.end());
  const auto take = [&spec](const Values& v) {
    const Value gathered =
        gather(v[0], spec, Values(v.begin() + 1, v.end()), "promise_in_bounds", std::monostate{});
    return finish_result(gathered, spec);
  };
  return numpy::jitted_at_once("getitem", in, take, plan.key());
}

// An integer beyond the ends takes the nearest element. A program records it, and the integers
// beside it, as the indices that they are, so that checkify can find it.
void keep_out_of_bounds(IndexPlan& plan) {
  if (plan.arrays || !staging_in_progress()) return;
  const auto outside = [](const Selector& s) {
    return s.kind == Kind::integer && s.size > 0 && (s.start < 0 || s.start >= s.size);
  };
  if (std::none_of(plan.selectors.begin(), plan.selectors.end(), outside)) return;
  plan.traced_scalars = true;
  for (Selector& s : plan.selectors) {
    if (s.kind != Kind::integer || s.size == 0) continue;
    const std::int64_t given = s.start < 0 ? s.start - s.size : s.start;
    const DType dtype = std::in_range<std::int32_t>(given) ? DType::int32 : DType::int64;
    s = {Kind::array, s.size, 0, 1, 1, scalar_array_int(dtype, given)};
  }
}

}  // namespace

Value get_item(const Value& x, PyObject* index) {
  IndexPlan plan = parse_index(index, x->shape());
  keep_out_of_bounds(plan);
  const Value rest = apply_static(x, plan);
  if (plan.arrays) return take_arrays(rest, plan);
  if (plan.traced_scalars) return take_traced_scalars(rest, plan);
  return with_added(rest, plan);
}

PyObject* array_getitem(PyObject* self, PyObject* index) {
  return guarded([&] {
    const Value& x = value_of(self);
    check_not_deleted(x);
    Value item = get_item(x, index);
    return item == x ? Py_NewRef(self) : wrap(std::move(item));
  });
}

int array_setitem(PyObject*, PyObject*, PyObject* value) {
  PyErr_SetString(PyExc_TypeError,
                  value ? "JAX arrays are immutable and do not support in-place item assignment. "
                          "Instead of x[idx] = y, "
                          "use x = x.at[idx].set(y) or another .at[] method: "
                          "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"
                        : "JAX arrays are immutable and do not support deletion of items.");
  return -1;
}

PyObject* array_sequence_item(PyObject* self, Py_ssize_t i) {
  return guarded([&] {
    const Value& x = value_of(self);
    check_not_deleted(x);
    if (x->shape().empty() || i < 0 || i >= x->shape()[0]) {
      fail(ErrorKind::index_error, "index ", i, " is out of bounds");
    }
    return wrap(ops::index_in_dim(x, i, 0));
  });
}

PyObject* array_iter(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (value_of(self)->shape().empty()) type_error("iteration over a 0-d array");
    return PySeqIter_New(self);
  });
}

Py_ssize_t array_length(PyObject* self) {
  return guarded_status([&]() -> Py_ssize_t {
    const Shape& shape = value_of(self)->shape();
    if (shape.empty()) type_error("len() of unsized object");
    return shape[0];
  });
}

namespace {

// The value that `fill` mode gives where an index is out of bounds, unless one is given.
ParamValue fill_param(PyObject* fill, DType dtype) {
  if (fill == Py_None) return std::monostate{};
  if (PyBool_Check(fill)) return fill == Py_True;
  if (PyUnicode_Check(fill)) type_error("fill_value must be a number, got a string.");
  if (PyLong_Check(fill)) {
    int overflow = 0;
    const std::int64_t value = PyLong_AsLongLongAndOverflow(fill, &overflow);
    if (overflow == 0) return value;
  }
  if (PyLong_Check(fill) && !is_inexact(dtype)) {
    // Up to 2**64 the low bits count, as those of any integer that is too wide for its array.
    const std::uint64_t low = PyLong_AsUnsignedLongLong(fill);
    if (!PyErr_Occurred()) return static_cast<std::int64_t>(low);
    PyErr_Clear();
    fail(ErrorKind::overflow_error, "Python int too large to convert to C long: fill_value must ",
         "fit into 64 bits.");
  }
  const Ref number = Ref::checked(PyNumber_Float(fill));
  return PyFloat_AS_DOUBLE(number.get());
}

// The index of x.at[index], and x with a dimension of size 1 for each True or False in it.
struct AtIndex {
  AtIndex(const Value& x, PyObject* index, bool wrap_negative, bool updating)
      : plan(parse_index(index, x->shape(), wrap_negative, updating)),
        spec(make_gather_spec(plan)) {
    std::int64_t dimension = 0;
    for (const Selector& s : plan.selectors) {
      if (s.kind == Kind::added) continue;
      if (s.kind == Kind::array && s.start == -1) truths.push_back(dimension);
      ++dimension;
    }
    // A component knows the size of its dimension in order to count negative indices from its end.
    if (!wrap_negative) {
      for (GatherSpec::Component& c : spec.components) c.size = 0;
    }
    array = ops::expand_dims(x, truths);
  }

  IndexPlan plan;
  GatherSpec spec;
  Ints truths;
  Value array;
};

// at_get(x, index, mode, fill, wrap): mode "clip", "fill" or "promise_in_bounds"; whether negative
// indices count from the end.
PyObject* at_get(PyObject*, PyObject* args) {
  PyObject *object, *index, *fill;
  const char* mode;
  int wrap_negative;
  if (!PyArg_ParseTuple(args, "OOsOp", &object, &index, &mode, &fill, &wrap_negative))
    return nullptr;
  return guarded([&] {
    const AtIndex at(to_value(object), index, wrap_negative != 0, false);
    const auto take = [&](const Value& x, const ParamValue& missing) {
      return finish_result(gather(x, at.spec, index_arrays(at.plan), mode, missing), at.spec);
    };
    if (PyComplex_Check(fill) && is_complex(at.array->dtype())) {
      return wrap(ops::binary("complex", take(numpy::real(at.array), PyComplex_RealAsDouble(fill)),
                              take(numpy::imag(at.array), PyComplex_ImagAsDouble(fill))));
    }
    return wrap(take(at.array, fill_param(fill, at.array->dtype())));
  });
}

// Truth values can be set and compared, not computed with.
void check_scatter_dtype(std::string_view kind, DType dtype) {
  constexpr std::string_view prefix = "scatter-";
  if (dtype != DType::boolean || kind.substr(0, prefix.size()) != prefix) return;
  const std::string_view name = kind.substr(prefix.size());
  if (name == "min" || name == "max") return;
  type_error(name,
             " does not accept dtype bool at position 0. Accepted dtypes at position 0 are "
             "subtypes of integer, floating, complexfloating.");
}

// at_scatter(kind, x, index, updates, mode, sorted, unique, wrap). Types are promoted, and the
// result has x's.
PyObject* at_scatter(PyObject*, PyObject* args) {
  const char *kind, *mode;
  PyObject *object, *index, *y;
  int sorted, unique, wrap_negative;
  if (!PyArg_ParseTuple(args, "sOOOsppp", &kind, &object, &index, &y, &mode, &sorted, &unique,
                        &wrap_negative)) {
    return nullptr;
  }
  return guarded([&] {
    const Value x = to_value(object);
    const Ref made = Ref::checked(make_array(y, std::nullopt, false, 0));
    const AtIndex at(x, index, wrap_negative != 0, true);
    const GatherSpec& spec = at.spec;
    const Value updates = value_of(made.get());
    if (updates->shape().size() > final_shape(spec).size()) {
      value_error("Cannot broadcast to shape with fewer dimensions: arr_shape=",
                  to_string(updates->shape()), " shape=", to_string(final_shape(spec)));
    }
    if (!numpy::broadcasts_to(updates->shape(), final_shape(spec))) {
      value_error(
          "Incompatible types for broadcasting: input type=", to_string(updates->type()),
          " and requested type=", to_string(with_shape(updates->type(), final_shape(spec))));
    }
    const numpy::UserOperands operands;
    const WeakDType own = numpy::lattice_type(x);
    const WeakDType joined = numpy::result_type({x, updates});
    if (joined.dtype != own.dtype) {
      const std::string text = concat(
          "scatter inputs have incompatible types: cannot safely cast value from dtype=",
          name(updates->dtype()), " to dtype=", name(x->dtype()),
          " with jax_numpy_dtype_promotion=standard. In future JAX releases this will result in an "
          "error.");
      pytree::check(PyErr_WarnEx(PyExc_FutureWarning, text.c_str(), 2));
    }
    const WeakDType type{joined.dtype, false};
    check_scatter_dtype(kind, type.dtype);
    if (x->type().size() == 0) return wrap(x);
    const Value in = numpy::as_type(at.array, type);
    const Value out = scatter(kind, in, spec, index_arrays(at.plan),
                              prepare_updates(numpy::as_type(updates, type), spec),
                              {mode, sorted != 0, unique != 0});
    return wrap(ops::squeeze(numpy::as_type(out, own), at.truths));
  });
}

PyMethodDef index_functions[] = {
    {"at_get", at_get, METH_VARARGS, "x[index] with a mode for indices out of bounds."},
    {"at_scatter", at_scatter, METH_VARARGS, "x with updates scattered to x[index]."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_index(PyObject* module) { pytree::check(PyModule_AddFunctions(module, index_functions)); }

}  // namespace shardax::objects
