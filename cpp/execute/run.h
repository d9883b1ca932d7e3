// execute/run.h - compiling a plan and running it on arrays: listeners, lock, checks.
#pragma once

#include "compile/pipeline.h"
#include "compile/plan.h"

namespace shardax {

// Throws RuntimeError where execution is refused (refuse_execution), or the array is deleted.
void check_execution();
void check_alive(const Array& array);

// The program's plan, of which the listener is told (set_compile_listener).
PlanPtr compile_told(const ProgramPtr& program, const CompileOptions& options);

// The plan's results. Donated arrays that it writes to are deleted first. The interpreter's lock is
// released around long work (runtime/interpreter_lock.h).
Values run_plan(const Plan& plan, const Values& arrays);

}  // namespace shardax
