// callables/transforms/jit.cpp - calls of jitted functions, and their methods.
#include "callables/transforms/jit.h"

#include "analysis/device_sets.h"
#include "analysis/nonfinite.h"
#include "analysis/shardings.h"
#include "base/index.h"
#include "base/lists.h"
#include "callables/program/object.h"
#include "callables/staging/automatic_mesh.h"
#include "callables/staging/compile_log.h"
#include "callables/staging/locate.h"
#include "callables/staging/miss_log.h"
#include "callables/transforms/references.h"
#include "callables/value_lists.h"
#include "ir/core_ops.h"
#include "objects/config.h"
#include "objects/sharding_conversion.h"
#include "objects/transfers.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

Ref objects(const std::vector<Ref>& values) {
  const Ref list = checked(PyList_New(0));
  for (const Ref& value : values) check(PyList_Append(list.get(), value.get()));
  return list;
}

// Set while a function, and the functions that it calls, run op by op in this thread.
constinit thread_local bool op_by_op = false;

// Calls the function itself, whose ops look for NaN one by one: the traceback has the user's lines.
void call_op_by_op(PyObject* fun, const CallArguments& arguments, const std::string& error) {
  const Ref users = call_python("_transform.jit", "announce_call_op_by_op", fun, error);
  if (users.get() != Py_True) return;
  struct Scope {
    Scope() { op_by_op = true; }
    ~Scope() { op_by_op = false; }
  } scope;
  try {
    Ref::checked(
        PyObject_Vectorcall(fun, arguments.values, index(arguments.count), arguments.names));
  } catch (const PythonError&) {
    if (!PyErr_ExceptionMatches(PyExc_RecursionError)) throw;
    PyErr_Clear();  // functions within functions nest deeper than programs do
  }
}

// An entry knows the arguments that its call donates.
Ref options_key(const JitOptions& o) {
  const Ref positions = list_of(o.statics.positions), names = objects(o.statics.names);
  const Ref donated = list_of(o.donated_positions), donated_names = objects(o.donated_names);
  const auto shown = [](const Ref& shardings) { return shardings ? shardings.get() : Py_None; };
  return checked(Py_BuildValue("(sOOOOiiOO)", "jit", positions.get(), names.get(), donated.get(),
                               donated_names.get(), int{o.inlined}, int{o.patient},
                               shown(o.in_shardings), shown(o.out_shardings)));
}

PyObject* cache_size(PyObject* self, PyObject*) {
  const CoreLock lock;
  return PyLong_FromSize_t(static_cast<Jit&>(behaviour_of(self)).cache().size());
}

PyObject* clear_cache(PyObject* self, PyObject*) {
  const CoreLock lock;
  static_cast<Jit&>(behaviour_of(self)).cache().clear();
  Py_RETURN_NONE;
}

PyObject* out_shardings(PyObject* self, PyObject*) {
  const CoreLock lock;
  const Ref& given = static_cast<Jit&>(behaviour_of(self)).options().out_shardings;
  return Py_NewRef(given ? given.get() : Py_None);
}

PyTypeObject* jit_type() {
  static PyTypeObject* type = nullptr;
  made_once(type, [] {
    return make_function_type(
        "shardax.PjitFunction",
        "A function that is staged once per signature and then runs as one program.",
        staging_methods(
            {{"clear_cache", clear_cache, METH_NOARGS,
              "Forgets the programs kept for all signatures."},
             {"_cache_size", cache_size, METH_NOARGS, "How many signatures have a program."},
             {"_out_shardings", out_shardings, METH_NOARGS,
              "What jit was given for the results; None where nothing."}}));
  });
  return type;
}

}  // namespace

Ref Jit::recipe(PyObject*) const {
  const JitOptions& o = options_;
  const Ref positions = list_of(o.statics.positions), names = objects(o.statics.names),
            donated = list_of(o.donated_positions), donated_names = objects(o.donated_names);
  const auto or_none = [](const Ref& object) { return object ? object.get() : Py_None; };
  return checked(Py_BuildValue("sOOOOOOO", "jit", positions.get(), names.get(), donated.get(),
                               donated_names.get(), o.inlined ? Py_True : Py_False,
                               or_none(o.in_shardings), or_none(o.out_shardings)));
}

Ref make_jit(PyObject* fun, JitOptions options) {
  check_callable(fun);
  const Ref key = options_key(options);
  auto cache = shared_cache<JitCache>(fun, key.get());
  return make_function(jit_type(), fun,
                       std::make_unique<Jit>(std::move(options), std::move(cache)));
}

PyObject* Jit::call(PyObject* function, const CallArguments& arguments) {
  PyObject* fun = wrapped_function(function);
  if (jit_disabled() || op_by_op) {
    return PyObject_Vectorcall(fun, arguments.values, index(arguments.count), arguments.names);
  }
  if (meets_references_) return call_with_refs(fun, arguments);
  try {
    return call_program(fun, arguments).release();
  } catch (const PythonError&) {
    if (!met_reference(fun)) throw;
  } catch (const UserError& error) {
    if (error.kind() != ErrorKind::floating_point_error || !watching_nonfinite()) throw;
    call_op_by_op(fun, arguments, error.what());
    throw;
  }
  meets_references_ = true;
  return call_with_refs(fun, arguments);
}

PyObject* Jit::call_with_refs(PyObject* fun, const CallArguments& arguments) const {
  return call_with_references("call_jitted", fun, arguments, list_of(options_.statics.positions),
                              objects(options_.statics.names));
}

Ref Jit::call_program(PyObject* fun, const CallArguments& arguments) {
  FlatCall call(arguments, options_.statics, fun);
  Values values;
  call.values(fun, true, values);
  if (objects::transfers_guarded && options_.in_shardings) {
    const std::vector<Ref> leaves(call.leaves().begin(), call.leaves().end());
    const auto [args, kwargs] = rebuild_arguments(call.form(), leaves);
    call_python("_devices.jit_shardings", "guard_moves", args.get(), options_.in_shardings.get(),
                options_.out_shardings.get(), list_of(options_.statics.positions).get());
  }
  std::shared_ptr<JitEntry> entry =
      options_.patient ? patient_entry(fun, call, values) : cache_->find(call, values);
  if (!entry && options_.patient) {
    Ref result = checked(
        PyObject_Vectorcall(fun, arguments.values, index(arguments.count), arguments.names));
    expect_again(call, values);
    return result;
  }
  if (!entry) entry = stage(fun, call, values);
  entry->donation.require_distinct(values);
  const std::size_t given = values.size();
  if (entry->references) entry = with_held_values(std::move(entry), fun, call, values);
  Values outputs;
  const KeptFunctions::Scope scope(entry->functions);
  if (!entry->closed.empty() || !computes_at_once(values)) {
    outputs = entry->op.bind(joined(entry->closed, values));
  } else {
    if (options_.in_shardings && options_.in_shardings.get() != Py_None)
      require_given(call, values, *entry);
    try {
      outputs = entry->op.compute(values, entry->donation.mask());
    } catch (const Misplaced& error) {
      throw error.named(argument_paths(fun, call.form()));
    }
    for (std::size_t i = 0; i < entry->asked.size(); ++i) {
      if (entry->asked[i]) as_array(outputs[i]).set_sharding(entry->asked[i]);
    }
    entry->donation.apply(values);  // a program that calls this one would still need them
  }
  if (!entry->references) return unflatten_values(entry->out_tree, outputs);
  const std::size_t results = outputs.size() - entry->held_out;
  const py::list held = list_of(part(outputs, results, entry->held_out));
  values.resize(given);
  return call_python("_transform.refs.binding", "write_held", entry->references, held.ptr(),
                     list_of(values).ptr(),
                     unflatten_values(entry->out_tree, part(outputs, 0, results)));
}

// Python is asked once for arrays that lie like this.
void Jit::require_given(FlatCall& call, const Values& values, JitEntry& entry) const {
  const auto lies_so = [](const Value& value, const ShardingPtr& placed) {
    return as_array(value).sharding() == placed;
  };
  if (entry.placed.empty()) entry.placed.resize(values.size());
  if (std::equal(values.begin(), values.end(), entry.placed.begin(), entry.placed.end(), lies_so))
    return;
  const std::vector<Ref> leaves(call.leaves().begin(), call.leaves().end());
  const auto [args, kwargs] = rebuild_arguments(call.form(), leaves);
  call_python("_devices.jit_shardings", "check_placed", args.get(), options_.in_shardings.get(),
              list_of(options_.statics.positions).get());
  entry.placed = shardings_of(values);
}

// Adds the values of the references that the function closes over. If their types differ from those
// at staging, the function is staged again.
std::shared_ptr<JitEntry> Jit::with_held_values(std::shared_ptr<JitEntry> entry, PyObject* fun,
                                                FlatCall& call, Values& values) {
  if (call_python("_transform.refs.binding", "has_changed", entry->references).get() == Py_True)
    entry = stage(fun, call, values);
  if (!entry->references) return entry;
  const Ref held = call_python("_transform.refs.binding", "held_values", entry->references,
                               list_of(values).ptr());
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(held.get()); ++i)
    values.push_back(objects::to_value(PyList_GET_ITEM(held.get(), i)));
  return entry;
}

namespace {

// Is one of them an array that lies on a mesh?
bool on_mesh(const Values& values) {
  return std::ranges::any_of(values, [](const Value& value) {
    const ShardingPtr own = value->is_tracer() ? nullptr : as_array(value).sharding();
    return own && own->named;
  });
}

}  // namespace

// Null for the first call of a signature, since one call is not worth a program. An exception is a
// call on a mesh, for which the program gives the splits of results.
std::shared_ptr<JitEntry> Jit::patient_entry(PyObject* fun, FlatCall& call, const Values& values) {
  std::shared_ptr<JitEntry> known = cache_->find(call, values);
  if (!known && on_mesh(values)) {
    expect_again(call, values);
    known = cache_->find(call, values);
  }
  if (known && !known->program) known->program = stage(fun, call, values);
  return known ? known->program : nullptr;
}

void Jit::expect_again(FlatCall& call, const Values& values) {
  const Op* op = &core_ops().jit;
  JitEntry first{BoundOp(*op, {}), {}, nullptr, {}, KeptFunctions(Program()),
                 nullptr,          {}, 0,       0,  {}};
  cache_->insert(call, values, std::make_shared<JitEntry>(std::move(first)));
}

std::shared_ptr<JitEntry> Jit::stage(PyObject* fun, FlatCall& call, const Values& values) {
  const Types types = types_of(values);
  const AutomaticMesh mesh(values);
  return keep(call, types, trace(fun, call, types));
}

Staged Jit::trace(PyObject* fun, FlatCall& call, const Types& types) {
  const CallForm form = call.form();
  if (objects::flag("jax_no_tracing")) {
    fail(ErrorKind::runtime_error, "re-tracing function ", describe_function(fun),
         " for `jit`, but 'no_tracing' is set");
  }
  if (objects::flag("jax_explain_cache_misses"))
    explain_miss(fun, form, types, cache_->signatures());
  const CompileLog log;
  Staged staged = stage_call("jit", this->staged(fun).get(), form, types, false, true);
  log.traced("jit", staged.program->name, types);
  return staged;
}

// Programs that captured tracers are good for this call only.
std::shared_ptr<JitEntry> Jit::keep(FlatCall& call, const Types& types, const Staged& staged) {
  const Op* op = &core_ops().jit;
  const bool captures = !staged.captured.empty();
  ClosedBody body = captures ? closed_body(staged) : ClosedBody{staged.program, {}};
  Params params{{"name", staged.program->name}, {"jaxpr", body.program}};
  if (options_.inlined) params = params.with("inline", true);
  auto entry = std::make_shared<JitEntry>(
      JitEntry{BoundOp(*op, std::move(params)),
               std::move(body.values),
               staged.out_tree,
               Donation(call.form(), options_.donated_positions, options_.donated_names, types,
                        staged.program->output_types()),
               KeptFunctions(*staged.program, staged.references),
               nullptr,
               staged.references,
               staged.held_in,
               staged.held_out,
               {}});
  if (options_.out_shardings && options_.out_shardings.get() != Py_None)
    entry->asked = asked_of_results(staged);
  const std::shared_ptr<JitCache> cache = cache_;  // tracing may have dropped it
  if (cache && !captures && !options_.patient) {
    entry->shown = KeepsShown(*staged.program);
    cache->insert(call, types, entry);
  }
  return entry;
}

Shardings Jit::asked_of_results(const Staged& staged) const {
  Types types = staged.program->output_types();
  types.resize(types.size() - staged.held_out);
  const Ref asked =
      call_python("_devices.jit_shardings", "asked_of_results", staged.out_tree.object(),
                  wrap_types(types).get(), options_.out_shardings.get());
  Shardings out;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(asked.get()); ++i) {
    PyObject* description = PyList_GET_ITEM(asked.get(), i);
    out.push_back(description == Py_None ? nullptr : objects::sharding_from(description));
  }
  return out;
}

Staged Jit::program_for(PyObject* fun, FlatCall& call, const Types& types) {
  const auto known = options_.patient ? nullptr : cache_->find(call, types);
  if (known) {
    return {known->op.params().program(param::jaxpr),
            {},
            known->out_tree,
            known->references,
            known->held_in,
            known->held_out};
  }
  Staged staged = trace(fun, call, types);
  keep(call, types, staged);
  return staged;
}

Ref Jit::staged(PyObject* fun) const {
  if (!options_.in_shardings) return Transform::staged(fun);
  return call_python("_devices.jit_shardings", "Constrained", fun, options_.in_shardings.get(),
                     options_.out_shardings.get(), list_of(options_.statics.positions).get());
}

int Jit::traverse(visitproc visit, void* arg) {
  Py_VISIT(options_.in_shardings.get());
  Py_VISIT(options_.out_shardings.get());
  for (const Ref& name : options_.statics.names) Py_VISIT(name.get());
  return JitCache::traverse_own(cache_, visit, arg);
}

}  // namespace shardax::callables
