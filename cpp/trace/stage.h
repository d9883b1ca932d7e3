// trace/stage.h - staging: running a function on tracers to record a Program.
#pragma once

#include <functional>
#include <unordered_map>

#include "trace/trace.h"

namespace shardax {

class StagingTrace;

class JitTracer final : public Tracer {
 public:
  JitTracer(const StagingTrace& trace, Type type, Var var, LocationPtr location = nullptr);
  Var var() const { return var_; }
  // The user's line that made it; null for inputs.
  const LocationPtr& location() const { return location_; }
  std::string text() const override;
  std::string_view class_name() const override {
    return linear_ ? "JaxprTracer" : "DynamicJaxprTracer";
  }

 private:
  Var var_;
  LocationPtr location_;
  bool linear_;  // of a trace that records the linear part of a function
};

// Are both the same value: one object, or arrays of one type over the same memory? Programs keep
// views of the arrays that they close over.
bool same_value(const Value& a, const Value& b);

// Records the ops that are bound to it. With `everything`, it also records ops on plain arrays (as
// jit does). Without, it records only ops that touch its own tracers (as the linear part of
// linearize does).
class StagingTrace final : public Trace {
 public:
  explicit StagingTrace(bool everything);
  Value input(Type type);
  Values inputs(const Types& types);
  Values process(const Op& op, const Params& params, const Values& in) override;
  // The variable of `value` here: its own, a constant's, or that of a captured outer tracer.
  Var lift(const Value& value);

  struct Result {
    ProgramPtr program;  // inputs: those asked for, then one per captured value
    Values captured;     // tracers of outer traces that the function closed over
  };
  // Ends recording. Plain arrays that the function closed over become constants. With
  // `arrays_captured` they are captured like tracers, in the order of their first use. Exceptions
  // are scalars that nobody else holds: numbers of its text, and its own results.
  Result finish(const Values& outputs, bool arrays_captured = false);
  void name(std::string text) { program_->name = std::move(text); }
  // The equations recorded so far.
  const Program& program() const { return *program_; }
  // The position of a tracer of this trace among the inputs, or -1.
  int input_position(Var var) const;

 private:
  Values record(const Op& op, const Params& params, const Values& in);

  MutableProgram program_;
  NamesPtr names_;  // those around it
  std::unordered_map<const ValueBase*, Var> lifted_;
  std::vector<std::pair<Var, Value>> captured_;
};

// Stages `f` at the given input types. The result's captured values are empty unless `f` closes
// over tracers of outer traces.
StagingTrace::Result stage(const Types& types, const std::function<Values(const Values&)>& f,
                           const std::string& name);
// The same for transformations of closed programs, which capture nothing.
ProgramPtr stage_closed(const Types& types, const std::function<Values(const Values&)>& f,
                        const std::string& name);

}  // namespace shardax
