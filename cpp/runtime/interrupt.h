// runtime/interrupt.h - how the thread that called for long work can end it.
#pragma once

#include <chrono>
#include <cstdint>

namespace shardax::runtime {

// While one lives, the thread that made it calls `check(context)` every 40 ms: between the chunks
// of its loops and the steps of its plans. What `check` throws ends the work, and reaches whoever
// called for it. Other threads, workers included, are not asked.
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

// Reads the clock and calls `check` where it is time to. Throws what that throws.
void poll_clock();

// The same for places that come by often: reads the clock at one call of 16. Costs a nanosecond.
inline constinit thread_local int calls_until_poll = 0;
inline void poll() {
  if (--calls_until_poll >= 0) return;
  calls_until_poll = 15;
  poll_clock();
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
