// execute/run.cpp - running a plan while other threads and signals get their turn.
#include "execute/run.h"

#include <atomic>
#include <chrono>

#include "base/errors.h"
#include "execute/execute.h"
#include "runtime/flush_denormals.h"
#include "runtime/interpreter_lock.h"

namespace shardax {
namespace {

std::atomic<bool> execution_refused = false;

CompileListener compile_listener = nullptr;

}  // namespace

void refuse_execution(bool refused) { execution_refused = refused; }

void check_execution() {
  if (!execution_refused.load(std::memory_order_relaxed)) return;
  fail(ErrorKind::runtime_error,
       "a program or op was to run, but the 'no_execution' option is set: leave the block of "
       "jax.no_execution first.");
}

void set_compile_listener(CompileListener listener) { compile_listener = listener; }

PlanPtr compile_told(const ProgramPtr& program, const CompileOptions& options) {
  // Constants are folded as the program computes.
  const runtime::FlushDenormals flush(runtime::flushes_denormals());
  const auto start = std::chrono::steady_clock::now();
  PlanPtr plan = compile(program, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (compile_listener) compile_listener(program->name, seconds.count());
  return plan;
}

// A callback, or another thread while the lock is released, may delete the arrays; their memory
// stays until the end.
Values run_plan(const Plan& plan, const Values& arrays) {
  std::vector<Shared<Buffer>> memory;
  memory.reserve(arrays.size());
  for (const Value& array : arrays) memory.push_back(as_array(array).buffer());
  for (std::size_t i : plan.overwritten) as_array(arrays[i]).mark_deleted();
  const runtime::LockReleased released(plan.cost);
  const runtime::FlushDenormals flush(runtime::flushes_denormals());
  return plan.run(arrays, memory);
}

void check_alive(const Array& array) {
  if (array.deleted()) {
    fail(ErrorKind::runtime_error, "Array has been deleted with shape=", to_string(array.type()),
         ".");
  }
}

}  // namespace shardax
