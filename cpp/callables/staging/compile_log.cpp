// callables/staging/compile_log.cpp - through Python's logging, and to listeners.
#include "callables/staging/compile_log.h"

#include <pybind11/pybind11.h>

#include <atomic>

#include "callables/program/object.h"
#include "execute/execute.h"
#include "objects/config.h"
#include "trace/trace.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

std::atomic<bool> listened = false;

bool anybody_asks() {
  return listened.load(std::memory_order_relaxed) || objects::flag("jax_log_compiles");
}

void tell_compiled(const std::string& name, double seconds) {
  if (!anybody_asks()) return;
  call_python("_base.logging", "log_compiled", name, py::float_(seconds).ptr());
}

}  // namespace

CompileLog::CompileLog()
    : wanted_(!staging_in_progress() && anybody_asks()), start_(std::chrono::steady_clock::now()) {}

void CompileLog::traced(const std::string& api, const std::string& name, const Types& types) const {
  if (!wanted_) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
  call_python("_base.logging", "log_traced", api, name, wrap_types(types),
              py::float_(seconds.count()).ptr());
}

void init_compile_log(py::module_& module) {
  set_compile_listener(tell_compiled);
  module.def(
      "listen_to_compiles", [](bool wanted) { listened = wanted; },
      "Whether `_base.logging` is told of what is traced and compiled, whatever jax_log_compiles "
      "says.");
}

}  // namespace shardax::callables
