// runtime/interpreter_lock.h - the lock of the interpreter that calls the core, if one does.
#pragma once

#include <optional>

#include "runtime/interrupt.h"

namespace shardax::runtime {

// The functions that an interpreter installs.
struct LockHooks {
  void* (*release)() = nullptr;  // the state for `acquire`, or null if the lock is not held
  void (*acquire)(void* state) = nullptr;
  bool (*gets_signals)() = nullptr;              // does this thread handle them?
  void (*check_signals)(void* state) = nullptr;  // while released; throws what a handler raises
  double handover_ns = 0;                        // work that takes less is not worth a release
};
void set_lock_hooks(const LockHooks& hooks);

// While one lives, the lock is released where that is `wanted` and the thread holds it; the
// caller's signals can then end the work.
class LockReleased {
 public:
  explicit LockReleased(bool wanted = true);
  // For work of that length.
  explicit LockReleased(double work_ns);
  ~LockReleased();
  LockReleased(const LockReleased&) = delete;
  LockReleased& operator=(const LockReleased&) = delete;

 private:
  void* state_;
  std::optional<Interruptible> signals_;
};

}  // namespace shardax::runtime
