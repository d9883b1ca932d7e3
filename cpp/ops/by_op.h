// ops/by_op.h - whether a function of blocks runs op by op on this thread.
#pragma once

namespace shardax::ops {

bool runs_by_op();

// While it lives, one does: values that Python sees have types of their own.
class ByOpScope {
 public:
  ByOpScope();
  ~ByOpScope();
  ByOpScope(const ByOpScope&) = delete;
  ByOpScope& operator=(const ByOpScope&) = delete;

 private:
  bool outer_;
};

}  // namespace shardax::ops
