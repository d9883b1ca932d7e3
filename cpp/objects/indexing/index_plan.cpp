// objects/indexing/index_plan.cpp - parsing of indices: entries, the ellipsis, masks.
#include "objects/indexing/index_plan.h"

#include "kernels/sort/nonzero.h"
#include "numpy/promote.h"
#include "objects/array/convert.h"
#include "objects/array/scalars.h"
#include "objects/config.h"
#include "ops/contiguous.h"

namespace shardax::objects {
namespace {

// An entry before it is known which dimension it is for.
struct Entry {
  enum class Kind { none, ellipsis, slice, integer, array, mask, truth } kind;
  PyObject* object = nullptr;
  std::int64_t number = 0;
  Value value;
  std::size_t dimensions() const {
    if (kind == Kind::mask) return value->shape().size();
    return kind == Kind::slice || kind == Kind::integer || kind == Kind::array ? 1 : 0;
  }
};

[[noreturn]] void wrong_dtype(std::string_view dtype) {
  type_error("Indexer must have integer or boolean type, got indexer with type ", dtype);
}

// NumPy objects are refused by their own dtype, before they become arrays.
void check_index_dtype(PyObject* object) {
  const Ref dtype = Ref::checked(PyObject_GetAttrString(object, "dtype"));
  const Ref kind = Ref::checked(PyObject_GetAttrString(dtype.get(), "kind"));
  const std::string letter = pytree::text_of(kind.get());
  if (letter != "i" && letter != "u" && letter != "b") wrong_dtype(pytree::str(dtype.get()));
}

// Does the entry of a list index a dimension by itself, so that the list stands for a tuple?
bool indexes_alone(PyObject* entry) {
  if (entry == Py_None || entry == Py_Ellipsis || PySlice_Check(entry)) return true;
  if (PyList_Check(entry) || PyTuple_Check(entry)) return true;
  const Value value = is_array_object(entry) || is_numpy_array(entry) ? try_value(entry) : nullptr;
  return value && !value->shape().empty();
}

[[noreturn]] void sequence_error(PyObject* list) {
  const char* remedy = "array";
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    const Ref item = pytree::item_of(list, i);
    if (item && indexes_alone(item.get())) remedy = "tuple";
  }
  type_error(
      "Using a non-tuple sequence for multidimensional indexing is not allowed; use `arr[", remedy,
      "(seq)]` instead of `arr[seq]`. See https://github.com/jax-ml/jax/issues/4564 for more "
      "information.");
}

[[noreturn]] void mask_not_concrete(const Value& mask) {
  static_cast<const Tracer&>(*mask).trace();
  fail(ErrorKind::boolean_index_error, "Array boolean indices must be concrete; got ",
       weak_string(mask->type()), describe_tracer(mask));
}

Entry array_entry(PyObject* object, Value value) {
  Entry entry{Entry::Kind::array, object, 0, std::move(value)};
  const DType dtype = entry.value->dtype();
  if (dtype == DType::boolean) {
    const Array* known = readable(entry.value);
    if (!known) mask_not_concrete(entry.value);
    entry.kind = Entry::Kind::mask;
    if (entry.value->shape().empty()) {
      entry.kind = Entry::Kind::truth;
      entry.number = PyObject_IsTrue(python_scalar(*known, 0).get());
    }
    entry.value = Value(const_cast<Array*>(known));
  } else if (!is_integer(dtype)) {
    wrong_dtype(name(dtype));
  } else if (entry.value->shape().empty()) {
    if (const Array* known = readable(entry.value)) {
      entry.kind = Entry::Kind::integer;
      entry.number = PyLong_AsLongLong(python_scalar(*known, 0).get());
    }
  }
  return entry;
}

Entry parse_entry(PyObject* object) {
  if (object == Py_None) return {Entry::Kind::none, object, 0, nullptr};
  if (object == Py_Ellipsis) return {Entry::Kind::ellipsis, object, 0, nullptr};
  if (PySlice_Check(object)) return {Entry::Kind::slice, object, 0, nullptr};
  if (PyBool_Check(object)) return {Entry::Kind::truth, object, object == Py_True, nullptr};
  if (PyLong_Check(object)) {
    const Py_ssize_t number = PyNumber_AsSsize_t(object, PyExc_IndexError);
    if (number == -1 && PyErr_Occurred()) throw PythonError();
    return {Entry::Kind::integer, object, number, nullptr};
  }
  if (PyUnicode_Check(object)) {
    type_error("JAX does not support string indexing; got idx=", pytree::repr(object));
  }
  if (PyFloat_CheckExact(object)) wrong_dtype("float64");
  if (PyComplex_CheckExact(object)) wrong_dtype("complex128");
  if (PyList_Check(object) || PyTuple_Check(object)) {
    const Ref made = Ref::checked(make_array(object, std::nullopt, false, 0));
    const Value value = value_of(made.get());
    return array_entry(
        object, value->type().size() == 0 ? ops::convert(value, numpy::default_int()) : value);
  }
  if (is_numpy_array(object) || is_numpy_scalar(object)) check_index_dtype(object);
  Value value = try_value(object);
  if (!value && PyIndex_Check(object)) {
    const Py_ssize_t number = PyNumber_AsSsize_t(object, PyExc_IndexError);
    if (number == -1 && PyErr_Occurred()) throw PythonError();
    return {Entry::Kind::integer, object, number, nullptr};
  }
  if (!value) {
    fail(ErrorKind::index_error,
         "only integers, slices (`:`), ellipsis (`...`), newaxis (`None`) and integer "
         "or boolean arrays are valid indices. Got ",
         pytree::repr(object));
  }
  return array_entry(object, std::move(value));
}

Selector slice_selector(PyObject* object, std::int64_t size, std::size_t position) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(object, &start, &stop, &step) < 0) {
    const auto* slice = reinterpret_cast<PySliceObject*>(object);
    bool traced = false;
    for (PyObject* bound : {slice->start, slice->stop, slice->step}) {
      traced = traced || (is_array_object(bound) && value_of(bound)->is_tracer());
    }
    if (traced) {
      PyErr_Clear();
      fail(ErrorKind::index_error, "Slice entries must be static integers. Got ",
           pytree::repr(object), " at position ", position,
           "; use lax.dynamic_slice for a range whose start is traced.");
    }
    throw PythonError();
  }
  const Py_ssize_t count = PySlice_AdjustIndices(size, &start, &stop, step);
  if (count == 0) return {Selector::Kind::slice, size, 0, 1, 0, nullptr};
  return {Selector::Kind::slice, size, start, count == 1 ? 1 : step, count, nullptr};
}

Selector array_selector(Value index, std::int64_t size) {
  return {Selector::Kind::array, size, 0, 1, 1, std::move(index)};
}

// The positions of the true elements of a dense mask, an array of I for each dimension.
template <class I>
std::vector<ArrayPtr> positions_in(const bool* mask, const Shape& shape, std::int64_t n) {
  constexpr DType dtype = sizeof(I) == 8 ? DType::int64 : DType::int32;
  const std::int64_t count = kernels::count_true(mask, n);
  std::vector<ArrayPtr> positions;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    positions.push_back(empty_array(Type{dtype, false, {count}, {}}));
  }
  const auto row = [&](std::size_t d) { return reinterpret_cast<I*>(positions[d]->data()); };
  kernels::nonzero(mask, n, row(shape.size() - 1), count);
  for (std::size_t d = shape.size(); --d > 0;) {
    const auto size = static_cast<I>(shape[d]);
    I *const inner = row(d), *const outer = row(d - 1);
    for (std::int64_t i = 0; i < count; ++i) {
      outer[i] = inner[i] / size;
      inner[i] -= outer[i] * size;
    }
  }
  return positions;
}

// int64 positions where int32 does not hold them, which x64 has to allow.
std::vector<ArrayPtr> positions_of(const Array& mask) {
  const Shape& shape = mask.shape();
  const std::int64_t n = mask.type().size();
  const bool wide = n > INT32_MAX;
  if (wide && !numpy::x64_enabled())
    value_error("Indexing with a boolean array of ", n,
                " elements, whose positions int32 does not hold; at most ", INT32_MAX,
                " were expected. Enable x64 with jax.config.update('jax_enable_x64', True).");
  const ops::DenseInput dense({mask.data(), DType::boolean, shape, mask.strides()});
  const bool* const values = dense.as<bool>();
  return wide ? positions_in<std::int64_t>(values, shape, n)
              : positions_in<std::int32_t>(values, shape, n);
}

void add_mask(const Entry& entry, const Shape& shape, std::size_t dimension, std::size_t position,
              IndexPlan& plan) {
  const Array& mask = as_array(entry.value);
  const std::size_t rank = mask.shape().size();
  for (std::size_t d = 0; d < rank; ++d) {
    // A mask without elements selects none, for any shape.
    if (mask.shape()[d] == shape[dimension + d] || mask.type().size() == 0) continue;
    std::string expected;
    for (std::size_t e = 0; e < rank; ++e) {
      expected += (e ? ", " : "") + std::to_string(shape[dimension + e]);
    }
    fail(ErrorKind::index_error, "boolean index did not match shape of indexed array in index ",
         position, ": got ", to_string(mask.shape()), ", expected [", expected, "]");
  }
  const std::vector<ArrayPtr> found = positions_of(mask);
  for (std::size_t d = 0; d < rank; ++d) {
    plan.selectors.push_back(array_selector(found[d], shape[dimension + d]));
  }
  plan.arrays = true;
}

std::vector<Entry> parse_entries(PyObject* index) {
  std::vector<Entry> entries;
  if (PyList_Check(index)) sequence_error(index);
  if (!PyTuple_Check(index)) {
    entries.push_back(parse_entry(index));
    return entries;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i) {
    entries.push_back(parse_entry(PyTuple_GET_ITEM(index, i)));
  }
  return entries;
}

void add_entry(const Entry& entry, const Shape& shape, std::size_t& dimension, std::size_t position,
               IndexPlan& plan) {
  using Kind = Entry::Kind;
  switch (entry.kind) {
    case Kind::none: plan.selectors.push_back({Selector::Kind::added, 1, 0, 1, 1, nullptr}); return;
    case Kind::truth: {
      // A new dimension of size 1, of which all or nothing is taken.
      const ArrayPtr zeros = empty_array(Type{DType::int32, false, {entry.number}, {}});
      std::memset(zeros->data(), 0, static_cast<std::size_t>(entry.number) * 4);
      plan.selectors.push_back({Selector::Kind::array, 1, -1, 1, 1, zeros});
      plan.arrays = true;
      return;
    }
    case Kind::ellipsis: return;
    case Kind::slice:
      plan.selectors.push_back(slice_selector(entry.object, shape[dimension], position));
      break;
    case Kind::integer: {
      const std::int64_t size = shape[dimension];
      const bool from_end = entry.number < 0 && plan.wrap_negative;
      const std::int64_t start = from_end ? entry.number + size : entry.number;
      if (call_flags.check_static_indices && (start < 0 || start >= size)) {
        fail(ErrorKind::index_error, "index ", entry.number, " out of bounds for axis ", dimension,
             " with size ", size);
      }
      plan.selectors.push_back({Selector::Kind::integer, size, start, 1, 1, nullptr});
      break;
    }
    case Kind::array:
      if (entry.value->shape().empty())
        plan.traced_scalars = true;
      else
        plan.arrays = true;
      plan.selectors.push_back(array_selector(entry.value, shape[dimension]));
      break;
    case Kind::mask: add_mask(entry, shape, dimension, position, plan); break;
  }
  dimension += entry.dimensions();
}

}  // namespace

IndexPlan parse_index(PyObject* index, const Shape& shape, bool wrap_negative, bool updating) {
  const std::vector<Entry> entries = parse_entries(index);
  std::size_t used = 0, ellipses = 0;
  for (const Entry& entry : entries) {
    used += entry.dimensions();
    ellipses += entry.kind == Entry::Kind::ellipsis;
  }
  if (ellipses > 1)
    fail(ErrorKind::index_error, "an index can only have a single ellipsis ('...')");
  if (used > shape.size()) {
    fail(ErrorKind::index_error, "Too many indices: array is ", shape.size(), "-dimensional, but ",
         used, " were indexed");
  }
  IndexPlan plan;
  plan.wrap_negative = wrap_negative;
  std::size_t dimension = 0;
  const auto fill = [&] {
    for (std::size_t n = shape.size() - used; n-- > 0; ++dimension) {
      const std::int64_t size = shape[dimension];
      plan.selectors.push_back({Selector::Kind::slice, size, 0, 1, size, nullptr});
    }
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].kind == Entry::Kind::ellipsis) {
      plan.ellipsis = plan.selectors.size();
      fill();
    }
    add_entry(entries[i], shape, dimension, i, plan);
  }
  if (ellipses == 0) fill();
  std::size_t axis = 0;
  for (const Selector& s : plan.selectors) {
    const bool truth = s.kind == Selector::Kind::array && s.start < 0;
    const std::size_t own = s.kind == Selector::Kind::added || truth ? axis : axis++;
    if (!s.advanced() || s.size != 0) continue;
    if (s.kind == Selector::Kind::integer || (!updating && s.index->type().size() > 0)) {
      fail(ErrorKind::index_error, "index is out of bounds for axis ", own, " with size 0");
    }
  }
  return plan;
}

std::string IndexPlan::key() const {
  std::string text = std::to_string(ellipsis) + ';';
  for (const Selector& s : selectors) {
    text +=
        concat(static_cast<int>(s.kind), ',', s.size, ',', s.start, ',', s.step, ',', s.count, ';');
  }
  return text;
}

Value normalised(const Value& index, std::int64_t size) {
  const bool wide = itemsize(index->dtype()) == 8;
  const DType dtype = wide ? index->dtype() : DType::int32;
  const WeakDType plain{dtype, false};
  const Value given = index->dtype() == dtype ? index : numpy::as_type(index, plain);
  if (is_unsigned_integer(index->dtype())) return numpy::as_type(given, plain);
  // In JAX's order, a weak index before its conversion: programs show it.
  const Value zero = ops::scalar(dtype, 0), n = ops::scalar(dtype, static_cast<double>(size));
  const Value from_end = ops::lt(given, zero);
  const Value moved = ops::add(numpy::as_type(given, plain), n);
  return ops::where(from_end, moved, given);
}

}  // namespace shardax::objects
