// callables/compile_log.h - what config.jax_log_compiles tells: which function is traced for which
// types.
#pragma once

#include <chrono>
#include <string>

#include "callables/python.h"

namespace shardax::callables {

// Made before a function is traced for a new signature.
class CompileLog {
 public:
  CompileLog();
  // Logs, where the user asks for it, what was traced and how long that took, but for programs
  // that become part of another one. `api` is "jit" or "pmap".
  void traced(const std::string& api, const std::string& name, const Types& types) const;

 private:
  bool wanted_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace shardax::callables
