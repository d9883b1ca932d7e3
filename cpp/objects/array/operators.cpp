// objects/array/operators.cpp - x + y and its kin: parse, promote, bind.
#include "objects/array/operators.h"

#include <string_view>

#include "numpy/compose.h"
#include "objects/array/array_methods.h"
#include "objects/array/buffer.h"
#include "objects/array/convert.h"
#include "objects/config.h"

namespace shardax::objects {
namespace {

using numpy::Promote;

// The behaviour of an operator. Ops with a record promote and bind it; the others call `compose`,
// and so do complex operands where both are given.
struct Operator {
  const char* symbol;
  const char* record;
  Promote promote = Promote::any;
  Value (*compose)(const Value&, const Value&) = nullptr;
  const Op* op = nullptr;  // the record, found at first use

  const Op& found() {
    if (!op) op = find_op(record);
    if (!op) throw InternalError(concat("no op is named '", record, "'"));
    return *op;
  }
};

enum Id {
  id_add,
  id_sub,
  id_mul,
  id_div,
  id_floordiv,
  id_mod,
  id_and,
  id_or,
  id_xor,
  id_lshift,
  id_rshift,
  id_matmul,
  id_pow,
  id_lt,
  id_le,
  id_eq,
  id_ne,
  id_gt,
  id_ge,
  id_divmod
};

Operator operators[] = {
    {"+", "add", Promote::any, nullptr},
    {"-", "sub", Promote::any, nullptr},
    {"*", "mul", Promote::any, nullptr},
    {"/", "div", Promote::inexact, nullptr},
    {"//", nullptr, Promote::any, numpy::floor_divide},
    {"%", nullptr, Promote::any, numpy::remainder},
    {"&", "and", Promote::any, nullptr},
    {"|", "or", Promote::any, nullptr},
    {"^", "xor", Promote::any, nullptr},
    {"<<", "shift_left", Promote::numeric, nullptr},
    {">>", nullptr, Promote::any, numpy::right_shift},
    {"@", nullptr, Promote::any, nullptr},
    {"** or pow()", nullptr, Promote::any, numpy::power},
    {"<", "lt", Promote::any, numpy::less},
    {"<=", "le", Promote::any, numpy::less_equal},
    {"==", "eq", Promote::any, nullptr},
    {"!=", "ne", Promote::any, nullptr},
    {">", "gt", Promote::any, numpy::greater},
    {">=", "ge", Promote::any, numpy::greater_equal},
    {"divmod()", nullptr, Promote::any, nullptr},
};

// "ArrayImpl": the last part of a type's name.
std::string short_type_name(PyObject* object) {
  const std::string name = Py_TYPE(object)->tp_name;
  return name.substr(name.rfind('.') + 1);
}

// Python's containers. Their subclasses (a namedtuple, say) may know the operator themselves.
bool rejected(PyObject* object) {
  return PyList_CheckExact(object) || PyTuple_CheckExact(object) || PyDict_CheckExact(object) ||
         PyAnySet_CheckExact(object);
}

[[noreturn]] void unsupported(const char* symbol, PyObject* a, PyObject* b) {
  type_error("unsupported operand type(s) for ", symbol, ": '", short_type_name(a), "' and '",
             short_type_name(b), "'");
}

// The operands, or false where Python should ask the other one's type.
bool parse(const char* symbol, PyObject* a, PyObject* b, Operand& left, Operand& right) {
  left = parse_operand(a);
  right = parse_operand(b);
  if (left.kind != Operand::Kind::none && right.kind != Operand::Kind::none) return true;
  if (rejected(a) || rejected(b)) unsupported(symbol, a, b);
  return false;
}

Value bind_record(Operator& rule, const Operand& left, const Operand& right) {
  const WeakDType types[] = {left.lattice_type(), right.lattice_type()};
  const WeakDType type = numpy::adjusted(types[0] == types[1] && !types[0].weak
                                             ? types[0]
                                             : numpy::join_types(types, rule.found().name),
                                         rule.promote);
  Values in;
  in.reserve(2);
  in.push_back(materialise(left, type));
  in.push_back(materialise(right, type));
  if (rule.compose && is_complex(type.dtype)) return rule.compose(in[0], in[1]);
  const Op* op = &rule.found();
  if (type.dtype == DType::boolean) {
    // JAX adds and multiplies truth values as `or` and `and`.
    if (&rule == &operators[id_add]) op = &operators[id_or].found();
    if (&rule == &operators[id_mul]) op = &operators[id_and].found();
  }
  const Shape& a = in[0]->shape();
  const Shape& b = in[1]->shape();
  if (!(a == b) && !a.empty() && !b.empty()) in = numpy::promote_ranks(in, op->name);
  return std::move(shardax::bind(*op, {}, in)[0]);
}

template <Id id>
PyObject* binary_slot(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Operator& rule = operators[id];
    Operand left, right;
    if (!parse(rule.symbol, a, b, left, right)) Py_RETURN_NOTIMPLEMENTED;
    if (!rule.record) return wrap(rule.compose(materialise(left), materialise(right)));
    return wrap(bind_record(rule, left, right));
  });
}

PyObject* matmul_slot(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Operand left, right;
    if (!parse(operators[id_matmul].symbol, a, b, left, right)) Py_RETURN_NOTIMPLEMENTED;
    if (call_flags.shows_precision) {
      PyObject* operands[] = {a, b};
      return call_package_function("numpy._linear_algebra.products", "matmul", operands, 2,
                                   nullptr);
    }
    return wrap(numpy::matmul(materialise(left), materialise(right)));
  });
}

PyObject* divmod_slot(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Operand left, right;
    if (!parse(operators[id_divmod].symbol, a, b, left, right)) Py_RETURN_NOTIMPLEMENTED;
    return wrap_tuple(numpy::divmod(materialise(left), materialise(right)));
  });
}

}  // namespace

Value power_of(const Operand& left, PyObject* b, const Operand& right) {
  if (right.kind == Operand::Kind::integer || right.kind == Operand::Kind::boolean) {
    return numpy::power(materialise(left), right.integer);
  }
  const bool known = right.kind == Operand::Kind::array && !right.value->is_tracer() &&
                     !is_numpy_array(b) && right.value->shape().empty() &&
                     is_integer(right.value->dtype());
  if (known) {
    const Ref exponent = python_scalar(as_array(right.value), 0);
    return numpy::power(materialise(left), PyLong_AsLongLong(exponent.get()));
  }
  return numpy::power(materialise(left), materialise(right));
}

namespace {

PyObject* power_slot(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) {
    PyErr_SetString(PyExc_TypeError,
                    "pow() of arrays takes 2 arguments; the third is for integers only");
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    Operand left, right;
    if (!parse(operators[id_pow].symbol, a, b, left, right)) Py_RETURN_NOTIMPLEMENTED;
    return wrap(power_of(left, b, right));
  });
}

template <Value (*f)(const Value&)>
PyObject* unary_slot(PyObject* self) {
  return guarded([&]() -> PyObject* {
    check_not_deleted(value_of(self));
    return wrap(f(value_of(self)));
  });
}

Value negative(const Value& a) { return ops::neg(a); }
Value inverted(const Value& a) { return ops::logical_not(a); }

PyObject* positive_slot(PyObject* self) {
  return guarded([&] {
    check_not_deleted(value_of(self));
    return wrap(another(value_of(self)));
  });
}

template <class F>
PyType_Slot slot(int id, F* function) {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace

PyObject* array_compare(PyObject* a, PyObject* b, int comparison) {
  static constexpr Id ids[] = {id_lt, id_le, id_eq, id_ne, id_gt, id_ge};  // Py_LT ... Py_GE
  return guarded([&]() -> PyObject* {
    Operator& rule = operators[ids[comparison]];
    Operand left, right;
    if (!parse(rule.symbol, a, b, left, right)) Py_RETURN_NOTIMPLEMENTED;
    return wrap(bind_record(rule, left, right));
  });
}

const std::vector<PyType_Slot>& number_slots() {
  static const std::vector<PyType_Slot> slots{
      slot(Py_nb_add, binary_slot<id_add>),
      slot(Py_nb_subtract, binary_slot<id_sub>),
      slot(Py_nb_multiply, binary_slot<id_mul>),
      slot(Py_nb_true_divide, binary_slot<id_div>),
      slot(Py_nb_floor_divide, binary_slot<id_floordiv>),
      slot(Py_nb_remainder, binary_slot<id_mod>),
      slot(Py_nb_divmod, divmod_slot),
      slot(Py_nb_power, power_slot),
      slot(Py_nb_and, binary_slot<id_and>),
      slot(Py_nb_or, binary_slot<id_or>),
      slot(Py_nb_xor, binary_slot<id_xor>),
      slot(Py_nb_lshift, binary_slot<id_lshift>),
      slot(Py_nb_rshift, binary_slot<id_rshift>),
      slot(Py_nb_matrix_multiply, matmul_slot),
      slot(Py_nb_negative, unary_slot<negative>),
      slot(Py_nb_positive, positive_slot),
      slot(Py_nb_absolute, unary_slot<numpy::absolute>),
      slot(Py_nb_invert, unary_slot<inverted>),
  };
  return slots;
}

}  // namespace shardax::objects
