// objects/transfers.cpp - the transfer guards of JAX: levels, messages, functions of the module.
#include "objects/transfers.h"

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "base/index.h"
#include "objects/array/convert.h"
#include "objects/errors.h"
#include "trace/trace.h"

namespace shardax::objects {

bool transfers_guarded = false;

namespace {

enum Level : std::uint8_t { allow, log, disallow, log_explicit, disallow_explicit };
std::array<std::uint8_t, 3> levels{};

// Set while transfers of this thread are explicit, as by device_put.
constinit thread_local bool explicit_now = false;

const char* name_of(Transfer kind) {
  constexpr const char* names[] = {"host-to-device", "device-to-device", "device-to-host"};
  return names[index(kind)];
}

PyObject* explicit_transfers(PyObject*, PyObject* on) {
  const bool before = explicit_now;
  explicit_now = on == Py_True;
  return PyBool_FromLong(before);
}

PyObject* guard_move(PyObject*, PyObject* args) {
  PyObject* object;
  int asked;
  if (!PyArg_ParseTuple(args, "Op", &object, &asked)) return nullptr;
  return guarded([&]() -> PyObject* {
    if (transfers_guarded)
      guard_transfer(Transfer::device_to_device, to_value(object)->type(), asked != 0);
    Py_RETURN_NONE;
  });
}

PyObject* guards(PyObject*, PyObject*) { return PyBool_FromLong(transfers_guarded); }

PyMethodDef transfers_functions[] = {
    {"explicit_transfers", explicit_transfers, METH_O,
     "Whether transfers of this thread are explicit from now on; gives what held before."},
    {"guard_device_to_device", guard_move, METH_VARARGS,
     "Raises JaxRuntimeError where transfers between devices, asked for by name or not, are "
     "disallowed."},
    {"transfers_guarded", guards, METH_NOARGS, "Whether any transfer guard is set."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void set_transfer_guard(Transfer kind, std::size_t level) {
  levels[index(kind)] = static_cast<std::uint8_t>(level);
  transfers_guarded = std::any_of(levels.begin(), levels.end(), [](auto l) { return l != allow; });
}

void guard_transfer(Transfer kind, const Type& type, bool asked) {
  if (staging_in_progress()) return;  // a constant of the program
  const std::uint8_t level = levels[index(kind)];
  asked = asked || explicit_now;
  const bool refused = level == disallow_explicit || (level == disallow && !asked);
  const bool logged = level == log_explicit || (level == log && !asked);
  if (logged) {
    const std::string text =
        concat(name_of(kind), " transfer: aval=ShapedArray(", to_string(type), ")\n");
    PySys_FormatStderr("%s", text.c_str());
  }
  if (!refused) return;
  const std::string text =
      concat("INVALID_ARGUMENT: Disallowed ", name_of(kind), " transfer: aval=ShapedArray(",
             to_string(type), "). Allow it with jax.transfer_guard('allow')",
             level == disallow ? ", or ask for it with jax.device_put." : ".");
  const Ref module = Ref::checked(PyImport_ImportModule("shardax.errors"));
  const Ref type_of_error = Ref::checked(PyObject_GetAttrString(module.get(), "JaxRuntimeError"));
  PyErr_SetString(type_of_error.get(), text.c_str());
  throw PythonError();
}

void init_transfers(PyObject* module) {
  pytree::check(PyModule_AddFunctions(module, transfers_functions));
}

}  // namespace shardax::objects
