// callables/compile_log.cpp - one line per program, through Python's logging.
#include "callables/compile_log.h"

#include "callables/program_object.h"
#include "objects/config.h"
#include "trace/trace.h"

namespace shardax::callables {

CompileLog::CompileLog()
    : wanted_(!staging_in_progress() && objects::flag("jax_log_compiles")),
      start_(std::chrono::steady_clock::now()) {}

void CompileLog::traced(const std::string& api, const std::string& name, const Types& types) const {
  if (!wanted_) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
  call_python("_base.logging", "log_compile", api, name, wrap_types(types),
              std::to_string(seconds.count()));
}

}  // namespace shardax::callables
