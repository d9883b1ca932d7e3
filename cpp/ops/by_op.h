// ops/by_op.h - a scope in which a function of blocks runs op by op.
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
