// runtime/interrupt.cpp - the clock behind Interruptible.
#include "runtime/interrupt.h"

namespace shardax::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// A chunk takes up to 20 ms: with this, work ends well within 100 ms.
constexpr std::chrono::milliseconds period{40};

constinit thread_local Interruptible* current = nullptr;

}  // namespace

Interruptible::Interruptible(void (*check)(void*), void* context)
    : check_(check), context_(context), next_(Clock::now() + period), outer_(current) {
  current = this;
}

Interruptible::~Interruptible() { current = outer_; }

void poll_clock() {
  Interruptible* active = current;
  if (!active) return;
  const Clock::time_point now = Clock::now();
  if (now < active->next_) return;
  active->next_ = now + period;
  active->check_(active->context_);
}

}  // namespace shardax::runtime
