// runtime/team.cpp - callers sit in seats, workers come as guests, and each has a share of a loop.
//
// No lock is taken but to start a worker. A caller writes its loop into a seat that is its own,
// opens the seat and announces it; workers that see the announcement enter, work, and leave. The
// caller closes the seat when it finds no chunk left and waits until the last guest is gone, so
// nobody looks at a loop that has ended.
#include "runtime/team.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/cores.h"
#include "runtime/sleep.h"

namespace shardax::runtime {
namespace {

constexpr std::size_t cache_line = 64;

// How long a thread waits awake: a worker for the next loop, a caller for its last guest. A
// sleeping worker arrives 30 to 100 us after its call, one in 100 some milliseconds later: one in
// five if it may be put on the caller's core, where Linux often puts it.
constexpr std::chrono::microseconds worker_patience{500};
constexpr std::chrono::microseconds caller_patience{100};
constexpr std::chrono::microseconds no_patience{0};

// A loop of fewer chunks, each shorter than this, is over before a sleeping worker comes.
constexpr std::int64_t worth_a_call = 4;
constexpr std::chrono::microseconds long_chunk{10};

// The chunks that a thread has before it, as [first, end) in one word: the thread takes the first,
// others take half of them from the end.
class alignas(cache_line) Share {
 public:
  // While nobody else takes: before the loop is announced, or when the share is empty.
  void set(std::uint32_t first, std::uint32_t end) { span_.store(packed(first, end)); }

  std::optional<std::uint32_t> take_first() {
    std::uint64_t span = span_.load(std::memory_order_relaxed);
    while (first_of(span) < end_of(span)) {
      const std::uint32_t first = first_of(span);
      if (span_.compare_exchange_weak(span, packed(first + 1, end_of(span)))) return first;
    }
    return std::nullopt;
  }

  // Into this share, which is empty; whether there was anything.
  bool take_half_of(Share& other) {
    std::uint64_t span = other.span_.load(std::memory_order_relaxed);
    while (first_of(span) < end_of(span)) {
      const std::uint32_t first = first_of(span), end = end_of(span);
      const std::uint32_t middle = first + (end - first) / 2;
      if (other.span_.compare_exchange_weak(span, packed(first, middle))) {
        set(middle, end);
        return true;
      }
    }
    return false;
  }

 private:
  static std::uint64_t packed(std::uint32_t first, std::uint32_t end) {
    return std::uint64_t{end} << 32 | first;
  }
  static std::uint32_t first_of(std::uint64_t span) { return static_cast<std::uint32_t>(span); }
  static std::uint32_t end_of(std::uint64_t span) { return static_cast<std::uint32_t>(span >> 32); }

  std::atomic<std::uint64_t> span_{0};
};

// A caller's place in the team, and its loop.
class alignas(cache_line) Seat {
 public:
  bool claim() {
    return !claimed_.load(std::memory_order_relaxed) &&
           !claimed_.exchange(true, std::memory_order_acquire);
  }

  // The caller's loop, of fewer than 2^32 chunks, open to workers 1 to threads - 1.
  void open(int threads, std::int64_t chunks, const FunctionRef<void(std::int64_t)>& body) {
    body_ = &body;
    threads_ = threads;
    if (shares_.size() < static_cast<std::size_t>(threads)) {
      shares_ = std::vector<Share>(static_cast<std::size_t>(threads));
    }
    const std::int64_t parts = std::min<std::int64_t>(threads, chunks);
    for (std::int64_t k = 0; k < threads; ++k) {
      const std::int64_t first = k < parts ? chunks * k / parts : 0;
      const std::int64_t end = k < parts ? chunks * (k + 1) / parts : 0;
      shares_[static_cast<std::size_t>(k)].set(static_cast<std::uint32_t>(first),
                                               static_cast<std::uint32_t>(end));
    }
    guests_.store(is_open, std::memory_order_release);
  }

  // Runs the first chunk of thread `me`.
  void work_once(int me) {
    if (const auto chunk = shares_[static_cast<std::size_t>(me)].take_first()) (*body_)(*chunk);
  }

  // Runs chunks as thread `me` until none is left to take; whether there were any.
  bool work(int me) {
    bool any = false;
    Share& own = shares_[static_cast<std::size_t>(me)];
    do {
      while (const std::optional<std::uint32_t> chunk = own.take_first()) {
        (*body_)(*chunk);
        any = true;
      }
    } while (refill(me));
    return any;
  }

  // As worker `me`; whether there was anything to do.
  bool visit(int me) {
    std::uint32_t guests = guests_.load(std::memory_order_relaxed);
    do {
      if (!(guests & is_open)) return false;
    } while (!guests_.compare_exchange_weak(guests, guests + 1, std::memory_order_acquire,
                                            std::memory_order_relaxed));
    const bool any = me < threads_ && work(me);
    if (guests_.fetch_sub(1, std::memory_order_release) == (1 | is_awaited)) wake(guests_);
    return any;
  }

  // Lets nobody in any more, and returns when all are out.
  void close(std::chrono::nanoseconds patience) {
    std::uint32_t guests = guests_.fetch_and(~is_open) & ~is_open;
    const auto empty = [&] { return (guests = guests_.load(std::memory_order_acquire)) == 0; };
    if (!wait_awake(empty, patience)) {
      guests = guests_.fetch_or(is_awaited) | is_awaited;
      while (guests != is_awaited) {
        sleep_while(guests_, guests);
        guests = guests_.load(std::memory_order_acquire);
      }
    }
    claimed_.store(false, std::memory_order_release);
  }

 private:
  // Beside the number of guests: more may come in; the caller sleeps until the last is out.
  static constexpr std::uint32_t is_open = 1u << 31;
  static constexpr std::uint32_t is_awaited = 1u << 30;

  bool refill(int me) {
    for (int k = 1; k < threads_; ++k) {
      Share& other = shares_[static_cast<std::size_t>((me + k) % threads_)];
      if (shares_[static_cast<std::size_t>(me)].take_half_of(other)) return true;
    }
    return false;
  }

  std::atomic<bool> claimed_{false};
  Word guests_{0};
  // Written by the caller while nobody else is inside.
  const FunctionRef<void(std::int64_t)>* body_ = nullptr;
  int threads_ = 0;
  std::vector<Share> shares_;  // of the caller, then of each worker
};

class Team {
 public:
  void run(int threads, std::int64_t chunks, const FunctionRef<void(std::int64_t)>& body) {
    Seat* const seat = find_seat();
    if (!seat) {
      for (std::int64_t i = 0; i < chunks; ++i) body(i);
      return;
    }
    const int helpers = std::min(threads - 1, start_workers(threads - 1));
    seat->open(helpers + 1, chunks, body);
    caller_core_.store(current_core(), std::memory_order_relaxed);
    announced_.fetch_add(1);
    const std::int64_t wanted = std::min<std::int64_t>(helpers, chunks - 1);
    if (chunks >= worth_a_call || !asleep(wanted)) {
      call(wanted);
    } else {
      const auto start = std::chrono::steady_clock::now();
      seat->work_once(0);
      if (std::chrono::steady_clock::now() - start >= long_chunk) call(wanted);
    }
    seat->work(0);
    seat->close(threads <= cores() ? caller_patience : no_patience);
  }

 private:
  static constexpr std::size_t most_callers = 16;

  // One after the other, so that a caller finds the first while another starts more.
  struct alignas(cache_line) Worker {
    Word asleep{0};
    std::unique_ptr<Worker> next;
  };

  // Where there are more threads than cores, one that waits awake keeps another from working.
  static int cores() {
    static const int count = usable_cores();
    return count;
  }

  Seat* find_seat() {
    const auto seat = std::find_if(seats_.begin(), seats_.end(), [](Seat& s) { return s.claim(); });
    return seat == seats_.end() ? nullptr : &*seat;
  }

  // Those there are, after those that are missing have been started as far as the system lets.
  int start_workers(int wanted) {
    int count = count_.load(std::memory_order_acquire);
    if (count >= wanted) return count;
    const std::lock_guard lock(starting_);
    // Signals are for the threads that Python knows.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (count = count_.load(); count < wanted; ++count) {
      auto worker = std::make_unique<Worker>();
      try {
        std::thread([this, self = worker.get(), me = count + 1] { serve(*self, me); }).detach();
      } catch (const std::system_error&) {
        break;
      }
      std::unique_ptr<Worker>& place = last_ ? last_->next : first_;
      place = std::move(worker);
      last_ = place.get();
      count_.store(count + 1, std::memory_order_release);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return count;
  }

  // f of each of the first workers until it says yes; whether one did.
  template <class F>
  bool any_of_first(std::int64_t workers, F&& f) {
    Worker* worker = nullptr;
    for (std::int64_t k = 0; k < workers; ++k) {
      worker = (worker ? worker->next : first_).get();
      if (f(*worker)) return true;
    }
    return false;
  }

  bool asleep(std::int64_t workers) {
    return any_of_first(workers, [](Worker& w) { return w.asleep.load() != 0; });
  }

  void call(std::int64_t workers) {
    any_of_first(workers, [](Worker& w) {
      if (w.asleep.load() && w.asleep.exchange(0)) wake(w.asleep);
      return false;
    });
  }

  [[noreturn]] void serve(Worker& self, int me) {
    const auto patience = me < cores() ? worker_patience : no_patience;
    for (;;) {
      const std::uint64_t number = announced_.load();
      bool any = false;
      for (std::size_t k = 0; k < most_callers; ++k) {
        any |= seats_[(static_cast<std::size_t>(me) + k) % most_callers].visit(me);
      }
      if (any) continue;
      // Awake it may run anywhere: the caller may have come to its core.
      keep_off_core(-1);
      const auto called = [&] { return announced_.load() != number; };
      if (wait_awake(called, patience)) continue;
      // The caller announces before it looks who sleeps, so one of the two sees the other.
      keep_off_core(caller_core_.load(std::memory_order_relaxed));
      self.asleep.store(1);
      while (!called() && self.asleep.load()) sleep_while(self.asleep, 1);
      self.asleep.store(0);
    }
  }

  std::array<Seat, most_callers> seats_;
  alignas(cache_line) std::atomic<std::uint64_t> announced_{0};  // loops so far
  std::atomic<int> caller_core_{-1};                             // of the last one
  alignas(cache_line) std::atomic<int> count_{0};                // of workers
  std::unique_ptr<Worker> first_;
  Worker* last_ = nullptr;
  std::mutex starting_;
};

}  // namespace

void run_on_team(int threads, std::int64_t chunks, FunctionRef<void(std::int64_t)> body) {
  // Never destroyed: workers outlive whatever ends with the process.
  static Team& team = *new Team;
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  for (std::int64_t from = 0; from < chunks; from += most) {
    team.run(threads, std::min(most, chunks - from), [&](std::int64_t i) { body(from + i); });
  }
}

}  // namespace shardax::runtime
