// callables/staging/compile_log.h - events for jax_log_compiles and jax.monitoring.
#pragma once

#include <chrono>
#include <string>

#include "callables/python.h"

namespace pybind11 {
class module_;
}

namespace shardax::callables {

// Made before a function is traced for a new signature.
class CompileLog {
 public:
  CompileLog();
  // Tells listeners the traced function and the time of tracing, but for programs that become part
  // of another one. `api` is "jit" or "pmap".
  void traced(const std::string& api, const std::string& name, const Types& types) const;

 private:
  bool wanted_;
  std::chrono::steady_clock::time_point start_;
};

void init_compile_log(pybind11::module_& module);

}  // namespace shardax::callables
