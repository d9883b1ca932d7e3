// callables/traced.h - staging a user's Python function, with what errors need to know about it.
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
  NamedTrace(std::string api, PyObject* fun, const CallForm& form);
  ~NamedTrace();
  NamedTrace(const NamedTrace&) = delete;
  NamedTrace& operator=(const NamedTrace&) = delete;

  StagingTrace& trace() { return trace_; }
  const StagingTrace& trace() const { return trace_; }
  // "\nThe error occurred while tracing the function f at file.py:12 for jit. This concrete value
  // was not available in Python because it depends on the value of the argument x."
  std::string describe(const JitTracer& tracer) const;
  // "f at file.py:12 for jit"
  std::string described() const;

 private:
  StagingTrace trace_;
  std::string api_;
  std::string name_;
  PyObject* fun_;
  const CallForm& form_;
  Ref code_;
};

struct Staged {
  ProgramPtr program;  // inputs: the leaves, then the captured values
  Values captured;     // tracers of outer traces
  TreeDefPtr out_tree;
};

// Stages fun at these types of the leaves. The user's exceptions pass unchanged.
Staged stage_call(const std::string& api, PyObject* fun, const CallForm& form, const Types& types,
                  bool arrays_captured = false);

// The program with its constants as last inputs; their values are appended to `values`.
ProgramPtr hoist_constants(const Program& program, Values& values);

// A body for an op that carries programs: what the function closes over, tracers and arrays, comes
// first among the inputs, in the order of its first use. Scalars stay constants.
struct ClosedBody {
  ProgramPtr program;
  Values values;
};
ClosedBody closed_body(const Staged& staged);

// Why a tracer's value is unknown, for errors about using it as a Python value; "" where nothing
// is known.
std::string describe_tracer(const Tracer& tracer);
// The function that was being traced when a tracer that has leaked was made; "" if forgotten.
std::string describe_leak(const Tracer& tracer);

}  // namespace shardax::callables
