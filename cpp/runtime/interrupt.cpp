// runtime/interrupt.cpp - the clock behind Interruptible.
#include "runtime/interrupt.h"

#include <unistd.h>

#include <cstdint>
#if defined(__APPLE__)
#include <pthread.h>
#else
#include <sys/syscall.h>
#endif

#include "base/target.h"
#if SHARDAX_X86_64
#include <x86intrin.h>
#endif

namespace shardax::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// A chunk takes up to 20 ms: with this, work ends well within 100 ms.
constexpr std::chrono::milliseconds period{40};

constinit thread_local Interruptible* current = nullptr;

// Has it been so short since this last said no that the clock need not be read? Reading the clock
// takes as long as a small step, reading the processor's counter a third of it.
bool read_just_now() {
#if SHARDAX_X86_64
  constexpr std::uint64_t cycles = std::uint64_t{1} << 18;  // 0.1 ms
  constinit thread_local std::uint64_t last = 0;
  const std::uint64_t now = __rdtsc();
  if (now - last < cycles) return true;
  last = now;
#endif
  return false;
}

void (*caller_check)() = nullptr;
constinit thread_local Clock::time_point next_caller_check = Clock::time_point::min();

}  // namespace

Interruptible::Interruptible(void (*check)(void*), void* context)
    : check_(check), context_(context), next_(Clock::now() + period), outer_(current) {
  current = this;
}

Interruptible::~Interruptible() { current = outer_; }

void poll_clock() {
  if (loop_ended && loop_ended->load(std::memory_order_relaxed)) throw LoopEnded();
  Interruptible* active = current;
  if (!active || read_just_now()) return;
  const Clock::time_point now = Clock::now();
  if (now < active->next_) return;
  active->next_ = now + period;
  active->check_(active->context_);
}

void set_caller_check(void (*check)()) { caller_check = check; }

bool is_main_thread() {
#if defined(__APPLE__)
  return pthread_main_np() != 0;
#else
  return syscall(SYS_gettid) == getpid();  // gettid() is younger than glibc 2.28
#endif
}

void poll_caller_clock() {
  const Clock::time_point now = Clock::now();
  if (now < next_caller_check) return;
  next_caller_check = now + period;
  if (caller_check) caller_check();
}

}  // namespace shardax::runtime
