// explain/outcome.h - fates of a program's equations when it is compiled.
#pragma once

#include <optional>

#include "compile/pipeline.h"
#include "explain/sources.h"

namespace shardax {

// If several apply, the last.
enum class Fate : std::uint8_t {
  dead,        // nothing needs its results: not computed
  free,        // nothing is left to do: its result is a value that is there
  view,        // the same memory, seen in another way
  absorbed,    // part of what became of another equation
  arithmetic,  // elementwise, in a loop
  copy,        // moved from one place in memory to another
  kernel,      // a computation of its own
  reduction,   // a reduction in memory
  product,     // a matrix product or convolution
  loop,        // a loop or branch
};
std::string_view name(Fate fate);

struct Outcome {
  Fate fate = Fate::free;
  std::vector<int> steps;    // in which it is computed
  std::vector<int> related;  // sources that are fused with it; absorbed: that which does its work
};

// A message of a step to other processes.
struct ExplainedMessage {
  std::int64_t processes = 0;          // processes that take part
  std::int64_t bytes = 0;              // of each of them
  int meanwhile = 0;                   // number of steps that run before its result is needed
  double under_way = -1, waited = -1;  // seconds of the last call; negative: there was none
};

// A step of the plan, or of the plan of a loop's body, which follows its loop.
struct ExplainedStep {
  enum class Kind : std::uint8_t { loop, kernel, control, copy } kind;
  std::string text;                                  // the ops
  std::vector<int> sources;                          // the sources that it computes
  double flops = 0, transcendentals = 0, bytes = 0;  // of one run
  double times = 1;
  int depth = 0;
  std::optional<ExplainedMessage> message;
};

// Memory that the call needs beside its arguments.
struct ExplainedBuffer {
  bool result = false;       // else a temporary
  std::optional<Type> type;  // of what is written to it first; none: of copies that a step needs
  std::int64_t bytes = 0;
  int source = -1;
  int first = 0,
      last = 0;  // of the outermost steps, those that use it; results: how many there are
};

struct Outcomes {
  std::vector<Outcome> sources;
  std::vector<ExplainedStep> steps;
  std::vector<ExplainedBuffer> buffers;  // largest first
  std::int64_t constants = 0;            // bytes that the program closes over
  std::int64_t temporaries = 0;          // bytes at the same time
  std::int64_t results = 0;
};
Outcomes find_outcomes(const TaggedProgram& program, const CompileOptions& options);

}  // namespace shardax
