// api/compile_log.cpp - one line per program, through Python's logging.
#include "api/compile_log.h"

#include "api/program_object.h"
#include "bindings/config.h"
#include "trace/trace.h"

namespace shardax::api {

CompileLog::CompileLog()
    : wanted_(!staging_in_progress() && bindings::flag("jax_log_compiles")),
      start_(std::chrono::steady_clock::now()) {}

void CompileLog::traced(const std::string& api, const std::string& name, const Types& types) const {
  if (!wanted_) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
  call_python("_base.logging", "log_compile", api, name, wrap_types(types),
              std::to_string(seconds.count()));
}

}  // namespace shardax::api
