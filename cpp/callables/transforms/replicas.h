// callables/transforms/replicas.h - warnings and watches for replicas that differ.
#pragma once

#include "callables/function.h"
#include "trace/trace.h"

namespace pybind11 {
class module_;
}

namespace shardax::callables {

// Warns (shardax.debug.VaryingResultWarning) where a result of the mapped op is returned once
// although devices differ in it. Gives which results devices may differ in, with other arguments.
std::vector<bool> warn_of_dropped(const Op& op, const Params& params, const Values& in,
                                  const TreeDefPtr& tree);

// Are calls of mapped functions watched? Then they are reported before and after they run.
bool watching_replicas();
void report_call(PyObject* function, const CallArguments& arguments);
void report_result(PyObject* function, PyObject* result);

// run(), which gives a new reference, with these reports.
template <class Run>
PyObject* watched(PyObject* function, const CallArguments& arguments, Run&& run) {
  if (!watching_replicas()) return run();
  report_call(function, arguments);
  Ref result = Ref::steal(run());
  report_result(function, result.get());
  return result.release();
}

void init_replicas(pybind11::module_& module);

}  // namespace shardax::callables
