// runtime/sleep.cpp - Linux's futexes, and how much of its core a thread has had.
#include "runtime/sleep.h"

#include <sched.h>
#include <time.h>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#endif

namespace shardax::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using Duration = std::chrono::nanoseconds;

Duration processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + Duration{time.tv_nsec};
}

// What a thread had of its core in the last window.
class CoreTime {
 public:
  bool shared() {
    const Clock::time_point now = Clock::now();
    if (now < next_) return shared_;
    const Duration used = processor_time();
    // Having given way a thread has had little of its core: it first tries again.
    shared_ = !shared_ && (used - used_) * 5 < (now - start_ - slept_) * 4;
    start_ = now;
    next_ = now + (shared_ ? until_tried_again : window);
    used_ = used;
    slept_ = {};
    return shared_;
  }

  void add_sleep(Duration time) { slept_ += time; }

 private:
  // Ten slices of another process, so that one alone is not taken for many.
  static constexpr std::chrono::milliseconds window{50};
  static constexpr std::chrono::milliseconds until_tried_again{500};

  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + window;
  Duration used_ = processor_time();
  Duration slept_{};
  bool shared_ = false;
};

thread_local CoreTime core_time;

}  // namespace

bool shares_its_core() { return core_time.shared(); }

void give_way() { sched_yield(); }

#ifdef __linux__

int current_core() { return sched_getcpu(); }

void keep_off_core(int core) {
  static constinit thread_local int kept_off = -1;
  cpu_set_t cores;
  if (core == kept_off || sched_getaffinity(0, sizeof cores, &cores) != 0) return;
  if (kept_off >= 0) CPU_SET(kept_off, &cores);
  const bool there = core >= 0 && core < CPU_SETSIZE && CPU_ISSET(core, &cores);
  if (there && CPU_COUNT(&cores) > 1) {
    CPU_CLR(core, &cores);
  } else {
    core = -1;
  }
  if (sched_setaffinity(0, sizeof cores, &cores) == 0) kept_off = core;
}

#else

int current_core() { return -1; }
void keep_off_core(int) {}

#endif

void sleep_while(Word& word, std::uint32_t value) {
  const Clock::time_point before = Clock::now();
#ifdef __linux__
  static_assert(sizeof(Word) == 4 && Word::is_always_lock_free);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
#else
  word.wait(value);
#endif
  core_time.add_sleep(Clock::now() - before);
}

void wake(Word& word) {
#ifdef __linux__
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
#else
  word.notify_all();
#endif
}

}  // namespace shardax::runtime
