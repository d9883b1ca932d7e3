// trace/reentry.h - the user's functions in ops, and the tracers that they close over.
//
// A function with a derivative rule may close over a tracer of an enclosing batching, whether or
// not its arguments belong to it. So the op that calls it goes to that batching first. When the
// function is called, perhaps with further traces on the stack, a new trace takes its place.
#pragma once

namespace shardax {

// While it lives, ops that call functions go at least to the trace of this level (0: none).
class FunctionLevel {
 public:
  explicit FunctionLevel(int level);
  ~FunctionLevel();
  FunctionLevel(const FunctionLevel&) = delete;
  FunctionLevel& operator=(const FunctionLevel&) = delete;
  // The level before.
  int outer() const { return outer_; }

 private:
  int outer_;
};

// While it lives, ops on tracers of level `from` go to the trace of level `to`.
class TraceAlias {
 public:
  TraceAlias(int from, int to);
  ~TraceAlias();
  TraceAlias(const TraceAlias&) = delete;
  TraceAlias& operator=(const TraceAlias&) = delete;
};

}  // namespace shardax
