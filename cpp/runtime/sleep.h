// runtime/sleep.h - waiting for a word of memory to change: first awake, then asleep.
//
// A thread that has its core for itself waits without a system call. One that shares it yields: who
// waits awake beside a process of its own priority uses up the slice that it will miss. Yielding
// always would be wrong too: beside a busy process of any priority, be it the lowest, who yields
// is not run again before that process has had a slice of milliseconds. Measured on 2 cores, steps
// of 6 ms that consist of 60 loops (tests/bench/training.py, VAE): beside one process of priority
// 15 6.0 ms, 10.5 if waiting threads yield; beside one of priority 0 11.5 ms, 14.6 if they do not.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace shardax::runtime {

using Word = std::atomic<std::uint32_t>;

// Sleeps while `word` is `value`, until a wake; may return before.
void sleep_while(Word& word, std::uint32_t value);

// Wakes whoever sleeps at `word`, which has been changed before.
void wake(Word& word);

// The core that this thread runs on; -1 where that is not known.
int current_core();

// Keeps this thread off that core (-1: off none), if it may run on another, and off no other. Linux
// often puts a thread that is woken on the core of the one that wakes it, though that goes on
// working.
void keep_off_core(int core);

// Whether, of late, other processes have had this thread's core for a fifth of the time or more.
bool shares_its_core();

// Lets others run who wait for this core.
void give_way();

// Leaves a core's other half, and power, to others for some cycles.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

// Asks ready() over and over, for `time` and a little more; whether it said yes.
template <class F>
bool wait_awake(F&& ready, std::chrono::nanoseconds time) {
  using Clock = std::chrono::steady_clock;
  constexpr int asked_between_looks_at_the_clock = 32;
  const bool shared = shares_its_core();
  const Clock::time_point end = Clock::now() + time;
  do {
    for (int i = 0; i < asked_between_looks_at_the_clock; ++i) {
      if (ready()) return true;
      shared ? give_way() : relax();
    }
  } while (Clock::now() < end);
  return false;
}

}  // namespace shardax::runtime
