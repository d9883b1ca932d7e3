// callables/staging/python_trace.cpp - the traces, and the Python contexts that set them.
#include "callables/staging/python_trace.h"

#include <pybind11/pybind11.h>

#include <optional>

#include "base/per_thread.h"
#include "callables/gil_safe_ref.h"
#include "callables/program/object.h"
#include "callables/program/primitive.h"
#include "callables/value_lists.h"
#include "objects/python_tracer.h"
#include "trace/current.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

constexpr const char* handlers = "_transform.python_traces";

// A Function that an op carries, as a callable: a list of values to a list of lists.
py::object callable(const FunctionPtr& function) {
  return py::cpp_function([function](const py::list& values) {
    const CoreLock lock;
    Values in;
    for (const py::handle value : values)
      in.push_back(value.is_none() ? Value() : objects::to_value(value.ptr()));
    py::list groups;
    for (const Values& group : function->call(in)) {
      py::list out;
      for (const Value& value : group)
        out.append(value ? to_object(checked(wrap(value))) : py::object(py::none()));
      groups.append(out);
    }
    return groups;
  });
}

class PythonTrace final : public Trace {
 public:
  explicit PythonTrace(PyObject* object) : Trace(true), object_(object) {
    traces().push_back(this);
  }
  ~PythonTrace() override { traces().pop_back(); }

  Values process(const Op& op, const Params& params, const Values& in) override {
    const Locked locked;
    Params plain;
    py::dict functions;
    for (const auto& [name, value] : params) {
      const auto* function = std::get_if<FunctionPtr>(&value);
      if (function && !user_params(params)) {
        functions[py::str(std::string(name))] = callable(*function);
      } else {
        plain.set(name, value);
      }
    }
    const Ref out = call_python(handlers, "process", object_.get(), wrap_primitive(op),
                                list_of(in).ptr(), params_to_python(op, plain), functions.ptr());
    return values_of(py::reinterpret_borrow<py::iterable>(out.get()));
  }

  // The innermost one that `object` handles; null: none.
  static const PythonTrace* of(PyObject* object) {
    for (auto trace = traces().rbegin(); trace != traces().rend(); ++trace) {
      if ((*trace)->object_.get() == object) return *trace;
    }
    return nullptr;
  }

 private:
  static std::vector<const PythonTrace*>& traces() {
    return per_thread<std::vector<const PythonTrace*>, PythonTrace>();
  }

  GilSafeRef object_;
};

Value fill(PyObject* trace, PyObject* given, PyObject* object) {
  const PythonTrace* known = PythonTrace::of(trace);
  if (!known) {
    fail(ErrorKind::unexpected_tracer_error, "a ", Py_TYPE(object)->tp_name,
         " was used where its trace, ", repr(trace),
         ", does not handle ops: set it with core.set_current_trace.");
  }
  const Ref aval = given ? Ref::borrow(given) : checked(PyObject_GetAttrString(object, "aval"));
  const Type* type = find_type(aval.get());
  if (!type) type_error("the aval of a ", Py_TYPE(object)->tp_name, " is ", repr(aval.get()));
  return new objects::PythonTracer(*known, *type, object);
}

// A block in which the given trace of Python handles ops.
class PythonContext {
 public:
  explicit PythonContext(py::object trace) : trace_(std::move(trace)) {}
  void enter() {
    const PythonTrace* active = PythonTrace::of(trace_.ptr());
    if (active) {
      scope_.emplace(active->level());
    } else {
      pushed_.emplace(trace_.ptr());
    }
  }
  void exit() {
    scope_.reset();
    pushed_.reset();
  }

 private:
  py::object trace_;
  std::optional<PythonTrace> pushed_;
  std::optional<DynamicScope> scope_;
};

// The trace that handles ops where it is made; entered, a block in which it does so.
class CurrentContext {
 public:
  CurrentContext() : level_(current_trace().dynamic), generation_(generation_at(level_)) {}
  bool alive() const { return generation_at(level_) == generation_; }
  void enter() {
    if (!alive()) {
      fail(ErrorKind::unexpected_tracer_error,
           "set_current_trace: the trace is over. Set a trace only inside of the block or function "
           "that it was taken in.");
    }
    scope_.emplace(level_);
  }
  void exit() { scope_.reset(); }

 private:
  int level_;
  std::uint64_t generation_;
  std::optional<DynamicScope> scope_;
};

}  // namespace

void init_python_traces(py::module_& module) {
  objects::set_tracer_filler(fill);
  const auto context = [](auto c) {
    using T = typename decltype(c)::type;
    c.def("__enter__", &T::enter).def("__exit__", [](T& self, const py::args&) { self.exit(); });
  };
  context(py::class_<PythonContext>(module, "PythonTraceContext").def(py::init<py::object>()));
  context(py::class_<CurrentContext>(module, "CurrentTraceContext")
              .def(py::init())
              .def_property_readonly("alive", &CurrentContext::alive));
}

}  // namespace shardax::callables
