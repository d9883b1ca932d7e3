// execute/execute.h - running programs and single ops on arrays.
#pragma once

#include "trace/trace.h"

namespace shardax {

// A program ready to be called: compiled once for each layout (strides) of its inputs, and each
// set of inputs that are uniform. Keep one per call site; calls are cheap when layouts repeat.
class Callable {
 public:
  explicit Callable(ProgramPtr program);
  ~Callable();
  Callable(const Callable&) = delete;
  Callable& operator=(const Callable&) = delete;
  // Inputs must be arrays of the program's input types. Releases the interpreter's lock around
  // long work (see set_lock_hooks).
  // `donated`, where given, says which of them the caller gives away: the memory of those may be
  // written to, and they are deleted then.
  Values operator()(const Values& arrays, const std::vector<bool>* donated = nullptr);
  const ProgramPtr& program() const { return program_; }

 private:
  struct State;
  ProgramPtr program_;
  std::unique_ptr<State> state_;
};

// The op on values of these types as a program of one equation; jit's body is that program already.
ProgramPtr program_of(const Op& op, const Params& params, const Values& values);

// Computes one op on arrays: a one-op program, whose plan is cached by op, params and layout. Ops
// that carry programs keep their Callable in the program they carry.
Values evaluate_op(const Op& op, const Params& params, const Values& in);

// From now on programs and ops throw where they would run (true), or run (false).
void refuse_execution(bool refused);

// Called once for each compiled program, whatever the layouts of its inputs, with its name and the
// seconds of its compilation. Single ops do not count. Null: nobody is.
using CompileListener = void (*)(const std::string& name, double seconds);
void set_compile_listener(CompileListener listener);

}  // namespace shardax
