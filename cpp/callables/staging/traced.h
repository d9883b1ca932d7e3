// callables/staging/traced.h - staging of Python functions, with context for error messages.
#pragma once

#include <string>
#include <vector>

#include "callables/call.h"
#include "trace/stage.h"

namespace shardax::callables {

// A staging trace that remembers which function it runs. `api` is "jit", "pmap", "scan", "cond",
// "while_cond" …, as errors say it. It does not own `fun` and `form`: they outlive it.
class NamedTrace {
 public:
  NamedTrace(std::string api, PyObject* fun, const CallForm& form, bool references = false);
  ~NamedTrace();
  NamedTrace(const NamedTrace&) = delete;
  NamedTrace& operator=(const NamedTrace&) = delete;

  StagingTrace& trace() { return trace_; }
  const StagingTrace& trace() const { return trace_; }
  // "\nThe error occurred while tracing the function f at file.py:12 for jit. This concrete value
  // was not available in Python because it depends on the value of the argument x."
  std::string describe(const JitTracer& tracer) const;
  // The innermost trace that plain arrays go to, if it takes values of mutable references as
  // further inputs; else null.
  static NamedTrace* taking_references();
  // The stand-ins for references that the function has met: a dict, filled by Python
  // (_transform/refs/__init__.py). Null: none.
  const Ref& met() const { return met_; }
  Ref& met() { return met_; }
  // The level of the caller's trace that records ops on plain arrays.
  int outer_dynamic() const { return outer_dynamic_; }
  // "f at file.py:12 for jit"
  std::string described() const;

 private:
  int outer_dynamic_;
  StagingTrace trace_;
  std::string api_;
  std::string name_;
  PyObject* fun_;
  const CallForm& form_;
  Ref code_;
  bool references_;
  Ref met_;
};

struct Staged {
  // inputs: the leaves, then what the references held, then the captured values; outputs: the
  // results, then what the references hold
  ProgramPtr program;
  Values captured;  // tracers of outer traces
  TreeDefPtr out_tree;
  Ref references = {};       // the MetReferences of _transform/refs/binding.py; null: none
  std::size_t held_in = 0;   // values of references among the inputs
  std::size_t held_out = 0;  // and among the outputs
};

// Stages fun at these types of the leaves. The user's exceptions pass unchanged. With `references`,
// the values of mutable references that the function closes over are further inputs and outputs.
Staged stage_call(const std::string& api, PyObject* fun, const CallForm& form, const Types& types,
                  bool arrays_captured = false, bool references = false);

// For jax_check_tracer_leaks: an Exception where watched tracers outlive the trace of that
// generation, of JAX's class `trace`.
void check_leaks(std::uint64_t generation, const char* trace, const std::string& described);

// The program with its constants as last inputs; their values are appended to `values`.
ProgramPtr hoist_constants(const Program& program, Values& values);

// A body for an op that carries programs. The tracers and arrays that the function closes over come
// first among the inputs, in the order of first use. Scalars stay constants. With
// `references_first`, their values follow at once, and are the first outputs.
struct ClosedBody {
  ProgramPtr program;
  Values values;
};
ClosedBody closed_body(const Staged& staged, bool references_first = false);

// Why a tracer's value is unknown, for errors about using it as a Python value; "" where nothing
// is known.
std::string describe_tracer(const Tracer& tracer);
// The function that was being traced when a tracer that has leaked was made; "" if forgotten.
std::string describe_leak(const Tracer& tracer);

}  // namespace shardax::callables
