// callables/host_function.cpp - calling Python from programs, and the ops that do.
#include "callables/host_function.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "callables/call.h"
#include "callables/program/object.h"
#include "callables/program/primitive.h"
#include "callables/value_lists.h"
#include "control/control.h"
#include "ops/callback.h"
#include "ops/ops.h"
#include "runtime/flush_denormals.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

// Says in the exception in flight which slice of a mapped program it comes from.
void note_slice() {
  if (callback_slice().empty()) return;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const std::string note = "raised in a callback for " + callback_slice();
  const Ref done = Ref::steal(PyObject_CallMethod(value, "add_note", "s", note.c_str()));
  if (!done) PyErr_Clear();  // before Python 3.11 exceptions have no notes
  PyErr_Restore(type, value, traceback);
}

class PythonFunction final : public HostObject {
 public:
  PythonFunction(PyObject* callable, std::string name)
      : HostObject(callable), name_(std::move(name)) {}
  std::string text() const override { return name_; }

  std::vector<Values> call(const Values& in) const override {
    const Locked locked;
    const runtime::FlushDenormals keep(false);
    const LocationScope own_lines(nullptr);
    Ref list = checked(PyList_New(static_cast<Py_ssize_t>(in.size())));
    for (std::size_t i = 0; i < in.size(); ++i) {
      PyObject* item = in[i] ? checked(wrap(in[i])).release() : Py_NewRef(Py_None);
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
    }
    const Ref result =
        Ref::steal(call_unlocked([&] { return PyObject_CallOneArg(object(), list.get()); }));
    if (!result) {
      note_slice();
      throw PythonError();
    }
    std::vector<Values> groups;
    const Ref sequence = pytree::checked_sequence(result.get(), "groups");
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence.get()); ++i) {
      const Ref group =
          pytree::checked_sequence(PySequence_Fast_GET_ITEM(sequence.get(), i), "a group");
      Values values;
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(group.get()); ++k) {
        PyObject* item = PySequence_Fast_GET_ITEM(group.get(), k);
        values.push_back(item == Py_None ? Value() : objects::to_value(item));
      }
      groups.push_back(std::move(values));
    }
    return groups;
  }

 private:
  std::string name_;
};

const HostObject* host_object(const Function* function) {
  while (const Function* origin = function->origin()) function = origin;
  return dynamic_cast<const HostObject*>(function);
}

using FunctionList = std::vector<FunctionPtr>;

void add_once(FunctionList& list, const FunctionPtr& function) {
  const auto is_it = [&](const FunctionPtr& f) { return f.get() == function.get(); };
  if (std::none_of(list.begin(), list.end(), is_it)) list.push_back(function);
}

// The host's functions in a program and those within it, each once. Programs share regions, and a
// function is staged after those that it calls: each program is looked through once.
const FunctionList& functions_of(const Program& program) {
  return *program.derived<FunctionList>("host_functions", [&] {
    auto list = std::make_shared<FunctionList>();
    const auto add_body = [&](const ProgramPtr& body) {
      for (const FunctionPtr& function : functions_of(*body)) add_once(*list, function);
    };
    for (const Equation& eqn : program.equations) {
      for (const auto& [name, value] : eqn.params) {
        if (const auto* function = std::get_if<FunctionPtr>(&value)) {
          if (const HostObject* own = host_object(function->get())) add_once(*list, own);
        }
      }
      for_each_program(eqn.params, add_body);
    }
    return list;
  });
}

class PythonPolicy final : public CheckpointPolicy {
 public:
  explicit PythonPolicy(PyObject* callable) : callable_(callable) {}
  std::string text() const override {
    const Locked locked;
    return repr(callable_.get());
  }

  bool saves(const Program& program, const Equation& eqn) const override {
    const Locked locked;
    py::list arguments;
    arguments.append(to_object(wrap_primitive(*eqn.op)));
    for (Var v : eqn.inputs) arguments.append(to_object(wrap_type(program.type(v))));
    const py::dict params = to_object(params_to_python(*eqn.op, eqn.params));
    const py::object answer =
        py::reinterpret_borrow<py::object>(callable_.get())(*py::tuple(arguments), **params);
    const int truth = PyObject_IsTrue(answer.ptr());
    if (truth < 0) throw PythonError();
    return truth == 1;
  }

 private:
  GilSafeRef callable_;
};

struct PolicyObject {
  FunctionPtr policy;
};

}  // namespace

KeptFunctions::KeptFunctions(const Program& program, Ref object)
    : functions_(functions_of(program)), object_(std::move(object)) {
  for (const FunctionPtr& f : functions_) ++host_object(f.get())->owners();
}

namespace {

KeptFunctions*& current_owner() {
  constinit thread_local KeptFunctions* owner = nullptr;
  return owner;
}

}  // namespace

KeptFunctions::Scope::Scope(KeptFunctions& owner) : outer_(current_owner()) {
  current_owner() = &owner;
}
KeptFunctions::Scope::~Scope() { current_owner() = outer_; }

void KeptFunctions::add(FunctionPtr function) {
  ++host_object(function.get())->owners();
  functions_.push_back(std::move(function));
}

KeptFunctions::~KeptFunctions() {
  for (const FunctionPtr& f : functions_) --host_object(f.get())->owners();
}

int KeptFunctions::traverse(visitproc visit, void* arg) const {
  for (const FunctionPtr& f : functions_) {
    const HostObject* function = host_object(f.get());
    if (function->owners() == 1) Py_VISIT(function->object());
  }
  Py_VISIT(object_.get());
  return 0;
}

FunctionPtr kept(const HostObject* object) {
  const FunctionPtr function = object;
  if (KeptFunctions* owner = current_owner()) owner->add(function);
  return function;
}

FunctionPtr host_function(PyObject* callable, std::string name) {
  return kept(new PythonFunction(callable, std::move(name)));
}

void init_host_functions(py::module_& module) {
  module.def("custom_jvp_call",
             [](const std::string& name, const py::object& fun, const py::object& rule,
                const std::string& rule_name, bool symbolic_zeros, const py::iterable& leaves) {
               return list_of(bind_custom_jvp(name, host_function(fun.ptr(), name),
                                              host_function(rule.ptr(), rule_name), symbolic_zeros,
                                              values_of(leaves)));
             });
  module.def("custom_vjp_call", [](const std::string& name, const py::object& fun,
                                   const py::object& forward, const std::string& forward_name,
                                   const py::object& backward, const std::string& backward_name,
                                   bool symbolic_zeros, const py::iterable& leaves) {
    return list_of(bind_custom_vjp(
        name, host_function(fun.ptr(), name), host_function(forward.ptr(), forward_name),
        host_function(backward.ptr(), backward_name), symbolic_zeros, values_of(leaves)));
  });
  module.def("remat_opt_call", [](const std::string& name, const py::object& fun,
                                  const py::object& forward, const std::string& forward_name,
                                  const py::iterable& leaves) {
    return list_of(bind_remat_opt(host_function(fun.ptr(), name),
                                  host_function(forward.ptr(), forward_name), values_of(leaves)));
  });
  module.def("custom_vmap_call", [](const py::object& program, const py::object& rule,
                                    const std::string& rule_name, const py::iterable& values) {
    return list_of(bind_custom_vmap(unwrap_program(program.ptr()),
                                    host_function(rule.ptr(), rule_name), values_of(values)));
  });
  py::class_<PolicyObject>(module, "CheckpointPolicy",
                           "A policy of checkpoint: callable(primitive, *avals, **params) -> bool.")
      .def(py::init([](const py::object& callable) {
        return PolicyObject{new PythonPolicy(callable.ptr())};
      }));
  module.def("checkpoint_call", [](const py::object& program, const PolicyObject* policy,
                                   const std::vector<bool>& barriers, const py::iterable& values) {
    return list_of(bind_checkpoint(unwrap_program(program.ptr()), policy ? policy->policy : nullptr,
                                   barriers, values_of(values)));
  });
  module.def("optimization_barrier", [](const py::object& x) {
    const Value out = ops::optimization_barrier(objects::to_value(x.ptr()));
    return py::reinterpret_steal<py::object>(checked(wrap(out)).release());
  });
  module.def("call_host", [](const std::string& op, const py::object& callable,
                             const std::string& name, const py::iterable& result_types,
                             const std::string& vmap_method, const py::iterable& values) {
    Types types;
    for (const py::handle type : result_types) types.push_back(abstract_type(type.ptr()));
    return list_of(ops::call_host(op, host_function(callable.ptr(), name), types, vmap_method,
                                  values_of(values)));
  });
}

}  // namespace shardax::callables
