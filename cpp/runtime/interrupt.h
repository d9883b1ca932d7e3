// runtime/interrupt.h - interrupts of long work by the thread that called for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace shardax::runtime {

// While one lives, the thread that made it calls `check(context)` every 40 ms: between the chunks
// of its loops and the steps of its plans. An exception of `check` ends the work, and reaches its
// caller. Other threads are not asked; workers leave their chunks when a loop ends.
class Interruptible {
 public:
  Interruptible(void (*check)(void*), void* context);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  friend void poll_clock();
  void (*check_)(void*);
  void* context_;
  std::chrono::steady_clock::time_point next_;
  Interruptible* outer_;
};

// Says of the chunk that this thread runs that its loop has ended (runtime/pool.h): another chunk
// has thrown. Null outside of loops.
inline constinit thread_local const std::atomic<bool>* loop_ended = nullptr;
// The exception that then ends the chunk; it reaches nobody.
struct LoopEnded {};

// Reads the clock and calls `check` where it is time to. Throws the exception of `check`, or
// LoopEnded.
void poll_clock();

// The same for places that come by often: reads the clock at one call of 16. Costs a nanosecond.
inline constinit thread_local int calls_until_poll = 0;
inline void poll() {
  if (--calls_until_poll >= 0) return;
  calls_until_poll = 15;
  poll_clock();
}

// The same for work that needs the interpreter's lock, and holds it: tracing, rules, passes. Calls
// the function of `set_caller_check`, which checks if this thread gets signals, and throws the
// exception that ends the work.
void set_caller_check(void (*check)());
// Is this the process's first thread or, in a child made by fork, the one that called it? Python
// handles signals there.
bool is_main_thread();
void poll_caller_clock();
inline constinit thread_local int calls_until_caller_poll = 0;
inline void poll_caller() {
  if (--calls_until_caller_poll >= 0) return;
  calls_until_caller_poll = 15;
  poll_caller_clock();
}

// body(from, to) over stretches of [0, n) that are short enough to poll between them.
template <class F>
void in_stretches(std::int64_t n, std::int64_t stretch, F&& body) {
  for (std::int64_t from = 0; from < n; from += stretch) {
    if (n > stretch) poll_clock();
    body(from, n - from < stretch ? n : from + stretch);
  }
}

}  // namespace shardax::runtime
