// callables/auto_jit.cpp - calls of a composition that run as a jitted function.
#include "callables/auto_jit.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/key_reuse.h"
#include "analysis/nonfinite.h"
#include "base/index.h"
#include "callables/staging/concrete_values.h"
#include "callables/transforms/jit.h"
#include "ir/sharding_given.h"
#include "numpy/promote.h"
#include "objects/transfers.h"

namespace shardax::callables {
namespace {

// Do equal static values mean the same? Not NaN, nor a zero with a sign, nor tuples of 1 and 1.0.
bool tells_apart(PyObject* value) {
  if (PyFloat_Check(value)) {
    const double number = PyFloat_AS_DOUBLE(value);
    return !std::isnan(number) && (number != 0 || !std::signbit(number));
  }
  if (PyTuple_CheckExact(value)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
      PyObject* item = PyTuple_GET_ITEM(value, i);
      if (PyFloat_Check(item) || PyComplex_Check(item) || !tells_apart(item)) return false;
    }
    return true;
  }
  if (PyObject_Hash(value) != -1) return true;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError();
  PyErr_Clear();  // a list, where a tuple would do
  return false;
}

// A dtype that gives way to a narrower one, of which every call warns.
bool is_narrowed_dtype(PyObject* value) {
  if (numpy::x64_enabled() || value == Py_None || PyLong_Check(value) || PyTuple_Check(value))
    return false;
  constexpr Py_ssize_t longest_name = 10;  // "complex128"
  if (PyUnicode_Check(value) && PyUnicode_GET_LENGTH(value) > longest_name) return false;
  const std::optional<DType> dtype = objects::find_dtype(value);
  return dtype && numpy::canonical_dtype(*dtype) != *dtype;
}

// A list of numbers is an array of its own, a list of arrays is a tree.
bool is_concrete(PyObject* value) {
  if (value == Py_None || is_concrete_number(value)) return true;
  if (!PyList_CheckExact(value) && !PyTuple_CheckExact(value)) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
    const Ref item = pytree::item_of(value, i);
    if (!item || !Py_IS_TYPE(item.get(), objects::array_impl_type)) return false;
  }
  return true;
}

// Is any part of the system recording or watching single ops?
bool runs_op_by_op() {
  return staging_in_progress() || !bound_axes().empty() || watching_key_reuse() ||
         watching_nonfinite() || objects::transfers_guarded;
}

class OneProgram final : public Transform {
 public:
  OneProgram(PyObject* fun, StaticSpec statics, bool at_once)
      : statics_(std::move(statics)), at_once_(at_once) {
    JitOptions options;
    options.statics = statics_;
    options.patient = at_once;
    program_ = make_jit(fun, std::move(options));
  }

  PyObject* call(PyObject* function, const CallArguments& arguments) override {
    // Programs that are kept have asked how results are split, or must ask again.
    const bool fitting = !sharding_given() && !(at_once_ && runs_op_by_op()) && fits(arguments);
    return PyObject_Vectorcall(fitting ? program_.get() : wrapped_function(function),
                               arguments.values, index(arguments.count), arguments.names);
  }
  int traverse(visitproc visit, void* arg) override {
    Py_VISIT(program_.get());
    return 0;
  }
  const StaticSpec& statics() const override { return statics_; }

 private:
  bool fits(const CallArguments& arguments) const {
    const auto& [positions, names, _] = statics_;
    for (Py_ssize_t i = 0; i < arguments.count + arguments.keyword_count(); ++i) {
      PyObject* name =
          i < arguments.count ? nullptr : PyTuple_GET_ITEM(arguments.names, i - arguments.count);
      const bool is_static =
          name ? std::any_of(names.begin(), names.end(),
                             [&](const Ref& n) { return n.get() == name; })
               : std::find(positions.begin(), positions.end(), i) != positions.end();
      PyObject* value = arguments.values[i];
      if (!(is_static ? tells_apart(value) : is_concrete(value))) return false;
      if (at_once_ && is_static && is_narrowed_dtype(value)) return false;
    }
    return true;
  }

  StaticSpec statics_;
  bool at_once_;
  Ref program_;
};

PyTypeObject* one_program_type() {
  static PyTypeObject* type = nullptr;
  made_once(type, [] {
    return make_function_type("shardax.CompositionFunction",
                              "A function that runs as one program on arrays.", nullptr);
  });
  return type;
}

}  // namespace

Ref make_auto_jit(PyObject* fun, StaticSpec statics, bool at_once) {
  check_callable(fun);
  return make_function(one_program_type(), fun,
                       std::make_unique<OneProgram>(fun, std::move(statics), at_once));
}

}  // namespace shardax::callables
