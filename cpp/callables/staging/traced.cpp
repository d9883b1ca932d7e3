// callables/staging/traced.cpp - staging with names.
#include "callables/staging/traced.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/index.h"
#include "base/lists.h"
#include "callables/staging/locate.h"
#include "callables/transforms/references.h"
#include "ir/core_ops.h"
#include "objects/array/constant_dedup.h"
#include "objects/config.h"
#include "runtime/progress.h"
#include "runtime/spans.h"
#include "trace/captures.h"
#include "trace/current.h"
#include "trace/depth.h"
#include "trace/leaks.h"

namespace shardax::callables {
namespace {

// Traces in progress on this thread, and the last ones that have ended, for leaks.
struct Ended {
  std::uint64_t generation = 0;
  std::string name;
  std::string api;
  Ref code;  // null where the function has none
};
struct Known {
  std::vector<NamedTrace*> active;
  std::array<Ended, 64> ended;
  std::size_t next = 0;
};
Known& core_ops() {
  // Never destroyed: its references must not be dropped after the interpreter has gone.
  static constinit thread_local Known* instance = nullptr;
  if (!instance) instance = new Known;
  return *instance;
}

std::string joined(const std::vector<std::string>& names) {
  if (names.size() == 1) return "the argument " + names[0];
  if (names.size() == 2) return "the arguments " + names[0] + " and " + names[1];
  std::string text = "the arguments ";
  for (std::size_t i = 0; i + 1 < names.size(); ++i) text += names[i] + ", ";
  return text + "and " + names.back();
}

// The positions of the inputs that `var` depends on.
std::vector<std::size_t> origins(const Program& program, Var var) {
  std::vector<bool> wanted(program.types.size(), false);
  wanted[index(var)] = true;
  for (auto eqn = program.equations.rbegin(); eqn != program.equations.rend(); ++eqn) {
    const bool needed = std::any_of(eqn->outputs.begin(), eqn->outputs.end(),
                                    [&](Var v) { return wanted[index(v)]; });
    if (!needed) continue;
    for (Var v : eqn->inputs) wanted[index(v)] = true;
  }
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (wanted[index(program.inputs[i])]) positions.push_back(i);
  }
  return positions;
}

}  // namespace

NamedTrace::NamedTrace(std::string api, PyObject* fun, const CallForm& form, bool references)
    : outer_dynamic_(current_trace().dynamic),
      trace_(true),
      api_(std::move(api)),
      name_(function_name(fun)),
      fun_(fun),
      form_(form),
      code_(function_code(fun)),
      references_(references) {
  trace_.name(name_);
  core_ops().active.push_back(this);
}

NamedTrace::~NamedTrace() {
  // Python's error indicator may be set here: nothing that could run Python code.
  Known& all = core_ops();
  all.active.pop_back();
  all.ended[all.next++ % all.ended.size()] = {trace_.generation(), std::move(name_),
                                              std::move(api_), std::move(code_)};
  if (all.active.empty()) objects::forget_numpy_arrays();
}

NamedTrace* NamedTrace::taking_references() {
  const std::uint64_t generation = staging_generation();
  for (NamedTrace* named : core_ops().active) {
    if (named->trace_.generation() == generation) return named->references_ ? named : nullptr;
  }
  return nullptr;
}

std::string NamedTrace::described() const {
  return concat(describe_code(name_, code_), " for ", api_);
}

std::string NamedTrace::describe(const JitTracer& tracer) const {
  std::string text = concat("\nThe error occurred while tracing the function ",
                            describe_code(name_, code_), " for ", api_, ". ");
  const std::vector<std::string> paths = argument_paths(fun_, form_);
  std::vector<std::string> names;
  for (std::size_t position : origins(trace_.program(), tracer.var())) {
    if (position < paths.size()) names.push_back(paths[position]);
  }
  if (names.empty()) return text;
  return concat(text,
                "This concrete value was not available in Python because it depends on the value",
                names.size() > 1 ? "s" : "", " of ", joined(names), ".");
}

void check_leaks(std::uint64_t generation, const char* trace, const std::string& described) {
  if (tracers_alive(generation).empty()) return;
  PyGC_Collect();  // those in cycles that nothing refers to have not leaked
  const std::vector<const Tracer*> alive = tracers_alive(generation);
  if (alive.empty()) return;
  std::vector<std::string> texts;
  for (const Tracer* tracer : alive) texts.push_back(tracer->text());
  std::sort(texts.begin(), texts.end());
  constexpr std::size_t most = 5;
  std::string list;
  for (std::size_t i = 0; i < std::min(most, texts.size()); ++i)
    list += (i > 0 ? ", " : "") + texts[i];
  if (texts.size() > most) list += ", ...";
  const std::string text =
      concat("Leaked trace ", trace, ". Leaked tracer(s): ", texts.size(),
             " outlived the tracing of ", described, ": ", list,
             ". Return them from the function instead of keeping them in a variable, list or "
             "attribute outside of it.");
  PyErr_SetString(PyExc_Exception, text.c_str());
  throw PythonError();
}

namespace {

// fun, which has met references that further inputs cannot stand for where it met them.
Ref call_of(NamedTrace& named, const std::string& api, PyObject* fun, const CallForm& form,
            const Types& types) {
  try {
    return call_with_values(fun, form, named.trace().inputs(types));
  } catch (const PythonError&) {
    if (!NamedTrace::taking_references() || !cleared_reference_signal(named.trace().generation()))
      throw;
  }
  fail(ErrorKind::not_implemented_error, api,
       ": a function with a rule of its own (custom_jvp), a callback or a pmapped function inside "
       "reads or writes a mutable array reference. Pass the value of the reference, ref[...], as "
       "an argument.");
}

// The values that the references met by a function hold when it is done.
struct HeldValues {
  Ref references;
  std::size_t in = 0;
  Values out;
};
HeldValues held_by(const NamedTrace& named) {
  HeldValues held;
  if (!named.met()) return held;
  const Ref found = call_python("_transform.refs.binding", "met_references", named.met());
  held.references = Ref::borrow(PyTuple_GET_ITEM(found.get(), 0));
  PyObject* values = PyTuple_GET_ITEM(found.get(), 1);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values); ++i)
    held.out.push_back(objects::to_value(PyList_GET_ITEM(values, i)));
  return held;
}

}  // namespace

Staged stage_call(const std::string& api, PyObject* fun, const CallForm& form, const Types& types,
                  bool arrays_captured, bool references) {
  std::optional<TracerWatch> watch;
  if (objects::flag("jax_check_tracer_leaks")) watch.emplace();
  NamedTrace named(api, fun, form, references);
  StagingTrace& trace = named.trace();
  const std::string name = trace.program().name;  // the program goes away before the end
  const auto text = [&]() -> runtime::SpanText { return {name, "tracing"}; };
  const runtime::Span span(text);
  const auto told = [&]() -> runtime::TaskText { return {name}; };
  const runtime::Task task(runtime::TaskKind::tracing, told);
  const CapturesArrays captures(arrays_captured);
  Ref result = call_of(named, api, fun, form, types);
  FlatResult flat = flatten_result(result.get(), api, fun);
  for (const Value& value : flat.values) {
    if (value->is_tracer()) static_cast<const Tracer&>(*value).trace();
  }
  HeldValues held = held_by(named);
  held.in = trace.program().inputs.size() - types.size();
  StagingTrace::Result recorded = trace.finish(joined(flat.values, held.out), arrays_captured);
  if (watch) {
    result = Ref();
    flat.values.clear();
    flat.leaves.clear();
    check_leaks(trace.generation(), "DynamicJaxprTrace", named.described());
  }
  return {std::move(recorded.program),
          std::move(recorded.captured),
          std::move(flat.tree),
          std::move(held.references),
          held.in,
          held.out.size()};
}

ProgramPtr hoist_constants(const Program& program, Values& values) {
  const MutableProgram hoisted = copy_of(program);
  for (const Constant& c : hoisted->constants) {
    hoisted->inputs.push_back(c.var);
    values.push_back(c.value);
  }
  hoisted->constants.clear();
  return hoisted;
}

namespace {

// A body with the values of references behind the first `closed` inputs, and first among the
// outputs; they are last.
ProgramPtr references_first(const ProgramPtr& program, std::size_t closed, const Staged& staged) {
  if (!staged.references) return program;
  return *program->derived<ProgramPtr>(concat("references_first", closed), [&] {
    const MutableProgram copy = copy_of(*program);
    const auto last = [](std::vector<Var>& vars, std::size_t from, std::size_t count) {
      std::rotate(vars.begin() + static_cast<std::ptrdiff_t>(from),
                  vars.end() - static_cast<std::ptrdiff_t>(count), vars.end());
    };
    last(copy->inputs, closed, staged.held_in);
    last(copy->outputs, 0, staged.held_out);
    return std::make_shared<ProgramPtr>(copy);
  });
}

}  // namespace

ClosedBody closed_body(const Staged& staged, bool in_front) {
  if (in_front) {
    ClosedBody body = closed_body(staged);
    body.program = references_first(body.program, body.values.size(), staged);
    return body;
  }
  const Program& program = *staged.program;
  const auto first_captured =
      program.inputs.end() - static_cast<std::ptrdiff_t>(staged.captured.size());
  std::vector<std::pair<Var, Value>> closed;
  for (std::size_t i = 0; i < staged.captured.size(); ++i)
    closed.emplace_back(first_captured[static_cast<std::ptrdiff_t>(i)], staged.captured[i]);
  for (const Constant& c : program.constants) {
    if (c.value->type().rank() > 0) closed.emplace_back(c.var, c.value);
  }
  if (closed.empty()) return {staged.program, {}};
  // Variables are numbered as they are first used.
  std::sort(closed.begin(), closed.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  ClosedBody body;
  for (const auto& [var, value] : closed) body.values.push_back(value);
  body.program = *program.derived<ProgramPtr>(concat("closed_body", staged.captured.size()), [&] {
    const MutableProgram copy = copy_of(program);
    copy->inputs.clear();
    for (const auto& [var, value] : closed) copy->inputs.push_back(var);
    copy->inputs.insert(copy->inputs.end(), program.inputs.begin(), first_captured);
    std::erase_if(copy->constants, [](const Constant& c) { return c.value->type().rank() > 0; });
    return std::make_shared<ProgramPtr>(copy);
  });
  return body;
}

namespace {

// The value of each device, for a value that Python needs one of.
std::string describe_slices(const Tracer& tracer) {
  const Tracer::Slices slices = tracer.slices();
  if (slices.stacked->is_tracer() || tracer.underlying()) return "";
  const Ref text = call_python("_base.printing", "device_groups", axis_text(slices.axis),
                               checked(wrap(slices.stacked)));
  return str(text.get());
}

}  // namespace

std::string describe_tracer(const Tracer& tracer) {
  if (tracer.slices().stacked) return describe_slices(tracer);
  for (const NamedTrace* named : core_ops().active) {
    if (named->trace().generation() != tracer.generation()) continue;
    const auto* staged = dynamic_cast<const JitTracer*>(&tracer);
    return staged ? named->describe(*staged) : "";
  }
  return "";
}

std::string describe_leak(const Tracer& tracer) {
  for (const Ended& ended : core_ops().ended) {
    if (ended.generation != tracer.generation()) continue;
    std::string text = describe_code(ended.name, ended.code) + " traced for " + ended.api;
    const auto* staged = dynamic_cast<const JitTracer*>(&tracer);
    if (!staged || !staged->location()) return text;
    return concat(text, ".\nThe leaked intermediate value was created on line ",
                  to_string(*staged->location()));
  }
  return "";
}

}  // namespace shardax::callables
