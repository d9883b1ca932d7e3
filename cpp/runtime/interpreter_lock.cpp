// runtime/interpreter_lock.cpp - releasing the interpreter's lock around long work.
#include "runtime/interpreter_lock.h"

namespace shardax::runtime {
namespace {

LockHooks hooks;

}  // namespace

void set_lock_hooks(const LockHooks& installed) { hooks = installed; }

LockReleased::LockReleased(bool wanted)
    : state_(wanted && hooks.release ? hooks.release() : nullptr) {
  if (state_ && hooks.gets_signals()) signals_.emplace(hooks.check_signals, state_);
}

LockReleased::LockReleased(double work_ns) : LockReleased(work_ns > hooks.handover_ns) {}

LockReleased::~LockReleased() {
  if (state_) hooks.acquire(state_);
}

}  // namespace shardax::runtime
