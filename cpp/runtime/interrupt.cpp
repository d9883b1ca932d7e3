// runtime/interrupt.cpp - the clock behind Interruptible.
#include "runtime/interrupt.h"

namespace shardax::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// A chunk takes up to 20 ms: with this, work ends well within 100 ms.
constexpr std::chrono::milliseconds period{40};

constinit thread_local Interruptible* current = nullptr;

void (*caller_check)() = nullptr;
thread_local Clock::time_point next_caller_check = Clock::time_point::min();

}  // namespace

Interruptible::Interruptible(void (*check)(void*), void* context)
    : check_(check), context_(context), next_(Clock::now() + period), outer_(current) {
  current = this;
}

Interruptible::~Interruptible() { current = outer_; }

void poll_clock() {
  if (loop_ended && loop_ended->load(std::memory_order_relaxed)) throw LoopEnded();
  Interruptible* active = current;
  if (!active) return;
  const Clock::time_point now = Clock::now();
  if (now < active->next_) return;
  active->next_ = now + period;
  active->check_(active->context_);
}

void set_caller_check(void (*check)()) { caller_check = check; }

void poll_caller_clock() {
  const Clock::time_point now = Clock::now();
  if (now < next_caller_check) return;
  next_caller_check = now + period;
  if (caller_check) caller_check();
}

}  // namespace shardax::runtime
