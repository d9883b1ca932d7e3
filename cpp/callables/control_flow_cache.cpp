// callables/control_flow_cache.cpp - programs of control flow by the functions that it was given.
#include "callables/control_flow_cache.h"

#include <algorithm>
#include <list>
#include <optional>
#include <utility>

#include "analysis/key_reuse.h"
#include "analysis/nonfinite.h"
#include "base/index.h"
#include "callables/cache.h"
#include "callables/host_function.h"
#include "callables/run.h"
#include "callables/staging/concrete_values.h"
#include "callables/staging/traced.h"
#include "callables/transforms/references.h"
#include "ir/core_ops.h"
#include "objects/transfers.h"

namespace shardax::callables {
namespace {

// An argument that is no tree of arrays, as the caller passed it.
struct FixedArgument {
  Py_ssize_t position;  // -1: by name
  PyObject* name;       // interned, or null
  PyObject* value;

  bool is_at(const FixedArgument& other) const {
    return position == other.position && name == other.name;
  }
};

// A call's arguments by kind. All is borrowed, from the caller or from `sequences`.
struct Arguments {
  std::vector<Ref> sequences;        // of functions
  std::vector<PyObject*> functions;  // those of sequences one after another
  std::vector<FixedArgument> fixed;  // functions, sequences of them, and statics
  std::vector<FixedArgument> statics;
  std::vector<PyObject*> dynamic;
  std::size_t positional = 0;  // of the dynamic ones
  Ref names;                   // of the others; null: none
};

bool is_listed(const StaticSpec& spec, Py_ssize_t position, PyObject* name) {
  if (position < 0)
    return std::any_of(spec.names.begin(), spec.names.end(),
                       [&](const Ref& n) { return n.get() == name; });
  return std::find(spec.positions.begin(), spec.positions.end(), position) != spec.positions.end();
}

bool is_plain(PyObject* value) {
  return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) ||
         PyUnicode_CheckExact(value);
}

bool add_function(Arguments& out, PyObject* value) {
  if (!PyTuple_CheckExact(value) && !PyList_CheckExact(value)) {
    if (!PyCallable_Check(value)) return false;
    out.functions.push_back(value);
    return true;
  }
  PyObject* functions =
      out.sequences.emplace_back(pytree::checked_sequence(value, "functions")).get();
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(functions); ++i) {
    PyObject* function = PySequence_Fast_GET_ITEM(functions, i);
    if (!PyCallable_Check(function)) return false;
    out.functions.push_back(function);
  }
  return true;
}

// False if an argument is not of the kind of its place.
bool sort_arguments(const ControlFlowOptions& options, const CallArguments& given, Arguments& out) {
  std::vector<PyObject*> names;
  for (Py_ssize_t i = 0; i < given.count + given.keyword_count(); ++i) {
    const bool named = i >= given.count;
    const FixedArgument argument{named ? -1 : i,
                                 named ? PyTuple_GET_ITEM(given.names, i - given.count) : nullptr,
                                 given.values[i]};
    if (is_listed(options.functions, argument.position, argument.name)) {
      if (!add_function(out, argument.value)) return false;
      out.fixed.push_back(argument);
    } else if (is_listed(options.statics, argument.position, argument.name)) {
      if (!is_plain(argument.value)) return false;
      out.fixed.push_back(argument);
      out.statics.push_back(argument);
    } else {
      out.dynamic.push_back(argument.value);
      if (named) names.push_back(argument.name);
      out.positional += named ? 0 : 1;
    }
  }
  if (!names.empty()) {
    out.names = checked(PyTuple_New(static_cast<Py_ssize_t>(names.size())));
    for (std::size_t i = 0; i < names.size(); ++i)
      PyTuple_SET_ITEM(out.names.get(), static_cast<Py_ssize_t>(i), Py_NewRef(names[i]));
  }
  return !out.functions.empty();
}

struct RecalledEntry {
  std::optional<BoundOp> op;  // none: the call runs in Python
  bool settled = false;       // false: it has been made once
  TreeDefPtr out_tree;
  KeptFunctions functions;
};
using EntryPtr = std::shared_ptr<RecalledEntry>;

EntryPtr empty_entry() {
  return std::make_shared<RecalledEntry>(
      RecalledEntry{std::nullopt, false, nullptr, KeptFunctions(Program())});
}

// The object of a weak reference; null where it has gone.
Ref referent(PyObject* reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* object = nullptr;
  return PyWeakref_GetRef(reference, &object) == 1 ? Ref::steal(object) : Ref();
#else
  PyObject* object = PyWeakref_GET_OBJECT(reference);
  return object == Py_None ? Ref() : Ref::borrow(object);
#endif
}

// The programs for one list of functions and static arguments.
class Group {
 public:
  explicit Group(const Arguments& arguments) {
    for (PyObject* function : arguments.functions)
      functions_.push_back(checked(PyWeakref_NewRef(function, nullptr)));
    for (const FixedArgument& fixed : arguments.statics) {
      places_.push_back(fixed);
      values_.push_back(Ref::borrow(fixed.value));
    }
  }

  bool is_of(const Arguments& arguments) const {
    return std::equal(functions_.begin(), functions_.end(), arguments.functions.begin(),
                      arguments.functions.end(),
                      [](const Ref& reference, PyObject* function) {
                        return referent(reference.get()).get() == function;
                      }) &&
           std::equal(places_.begin(), places_.end(), arguments.statics.begin(),
                      arguments.statics.end(), [&](const auto& place, const auto& fixed) {
                        if (!place.is_at(fixed)) return false;
                        PyObject* value = values_[index(&place - places_.data())].get();
                        return Py_TYPE(value) == Py_TYPE(fixed.value) &&
                               PyObject_RichCompareBool(value, fixed.value, Py_EQ) == 1;
                      });
  }

  Cache<RecalledEntry> programs;

 private:
  std::vector<Ref> functions_;  // weak
  std::vector<FixedArgument> places_;
  std::vector<Ref> values_;
};

// The programs kept with a function, most recently used first.
class Groups {
 public:
  // Shared: user code, which runs while signatures are compared, may make others take its place.
  std::shared_ptr<Group> of(const Arguments& arguments) {
    auto found = groups_.begin();
    while (found != groups_.end() && !(*found)->is_of(arguments)) ++found;
    std::shared_ptr<Group> gone;  // dropped last: that may run Python
    if (found == groups_.end()) {
      groups_.push_front(std::make_shared<Group>(arguments));
      if (groups_.size() > most_groups) {
        gone = std::move(groups_.back());
        groups_.pop_back();
      }
    } else if (found != groups_.begin()) {
      groups_.splice(groups_.begin(), groups_, found);
    }
    return groups_.front();
  }
  void clear() { const auto dying = std::exchange(groups_, {}); }

 private:
  static constexpr std::size_t most_groups = 32;  // bounds of fori_loop, say, that come and go
  std::list<std::shared_ptr<Group>> groups_;
};

// A function that closes over tracers makes some of arrays.
bool holds_tracers(PyObject* tree) {
  Scratch scratch;
  pytree::flatten(tree, scratch.leaves(), scratch.tree());
  return std::any_of(scratch.leaves().begin(), scratch.leaves().end(), [](const Ref& leaf) {
    return objects::is_array_object(leaf.get()) &&
           !Py_IS_TYPE(leaf.get(), objects::array_impl_type);
  });
}

class ControlFlowCache final : public Transform {
 public:
  ControlFlowCache(const char* name, ControlFlowOptions options)
      : name_(name), options_(std::move(options)), key_(to_python("control flow " + name_)) {}

  PyObject* call(PyObject* function, const CallArguments& arguments) override {
    PyObject* fun = wrapped_function(function);
    EntryPtr first;
    if (Ref result = recall(fun, arguments, first)) return result.release();
    Ref result = checked(
        PyObject_Vectorcall(fun, arguments.values, index(arguments.count), arguments.names));
    if (first && holds_tracers(result.get())) first->settled = true;
    return result.release();
  }

 private:
  // Null where Python is to run the call. `first` is the new entry, if it is the first one.
  Ref recall(PyObject* fun, const CallArguments& given, EntryPtr& first);
  void stage(PyObject* fun, const Arguments& arguments, FlatCall& call, const Values& values,
             RecalledEntry& entry) const;

  std::string name_;
  ControlFlowOptions options_;
  Ref key_;
};

Ref ControlFlowCache::recall(PyObject* fun, const CallArguments& given, EntryPtr& first) {
  if (jit_disabled() || references_exist() || watching_key_reuse() || watching_nonfinite() ||
      objects::transfers_guarded)
    return {};
  Arguments arguments;
  if (!sort_arguments(options_, given, arguments)) return {};
  FlatCall call({arguments.dynamic.data(), static_cast<Py_ssize_t>(arguments.positional),
                 arguments.names.get()},
                {}, fun);
  Values values;
  if (!concrete_values(call.leaves(), values) || !computes_at_once(values)) return {};
  const auto groups = shared_cache<Groups>(arguments.functions[0], key_.get());
  if (groups.use_count() == 1) return {};  // the function cannot be referenced weakly
  const std::shared_ptr<Group> group = groups->of(arguments);
  Cache<RecalledEntry>& programs = group->programs;
  const EntryPtr entry = programs.find(call, values);
  if (!entry) {
    first = empty_entry();
    programs.insert(call, values, first);
    return {};
  }
  if (!entry->settled) stage(fun, arguments, call, values, *entry);
  if (!entry->op) return {};
  return unflatten_values(entry->out_tree, entry->op->compute(values));
}

// Leaves the entry without an op where the program would be good for this call only, or would keep
// functions of the host alive. Errors are for Python's call to raise.
void ControlFlowCache::stage(PyObject* fun, const Arguments& arguments, FlatCall& call,
                             const Values& values, RecalledEntry& entry) const {
  const Op* op = &core_ops().jit;
  entry.settled = true;
  CallForm form = call.form();
  for (const FixedArgument& fixed : arguments.fixed) {
    if (fixed.position >= 0) form.statics.positions.push_back(static_cast<int>(fixed.position));
    if (fixed.name) form.statics.names.push_back(Ref::borrow(fixed.name));
    form.statics.values.push_back(Ref::borrow(fixed.value));
  }
  try {
    Staged staged = stage_call(name_, fun, form, types_of(values));
    if (!staged.captured.empty() || !KeptFunctions(*staged.program).empty()) return;
    entry.out_tree = staged.out_tree;
    entry.op.emplace(*op, Params{{"name", staged.program->name}, {"jaxpr", staged.program}});
  } catch (const UserError&) {
  } catch (const PythonError&) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) throw;
    PyErr_Clear();
  }
}

PyTypeObject* control_flow_cache_type() {
  static PyTypeObject* type = nullptr;
  made_once(type, [] {
    return make_function_type(
        "shardax.ControlFunction",
        "Control flow that is a program from its second call with the same functions on.", nullptr);
  });
  return type;
}

}  // namespace

Ref make_control_flow_cache(PyObject* fun, const char* name, ControlFlowOptions options) {
  check_callable(fun);
  return make_function(control_flow_cache_type(), fun,
                       std::make_unique<ControlFlowCache>(name, std::move(options)));
}

}  // namespace shardax::callables
