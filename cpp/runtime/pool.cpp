// runtime/pool.cpp - parallel loops on oneTBB, of which no other file knows.
//
// A caller takes an arena for the time of its loop. While it waits for its last chunk, it thus runs
// no chunk of another caller, whose interrupts are not its own. oneTBB shares its workers among the
// arenas; they stay awake for a millisecond after a loop.
#include "runtime/pool.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>

#include "base/errors.h"
#include "base/index.h"
#include "base/thread_end.h"
#include "runtime/cores.h"
#include "runtime/interrupt.h"
#include "runtime/spans.h"
#include "runtime/startable.h"

#ifdef SHARDAX_ANNOTATE_LOOPS
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
#endif

namespace shardax::runtime {
namespace {

// For ThreadSanitizer, which does not see into oneTBB: the start of a loop happens before its
// chunks, and these before its end. Nothing orders two chunks.
#ifdef SHARDAX_ANNOTATE_LOOPS
void happens_before(void* loop) { __tsan_release(loop); }
void happens_after(void* loop) { __tsan_acquire(loop); }
#else
void happens_before(void*) {}
void happens_after(void*) {}
#endif

constinit std::atomic<int> wanted{0};  // 0: not known yet
constinit thread_local bool inside_loop = false;

// A child has no workers, but oneTBB's locks and counts as they were: it runs inline.
constinit std::atomic<bool> started{false};
constinit std::atomic<bool> inherited{false};
[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, [] { inherited.store(started.load()); });

// Has this thread been made ready for chunks? Callers are.
constinit thread_local bool is_ready = false;

// With its first chunk a worker leaves signals to Python's threads. The C++ library's memory for
// the exceptions of a thread is made at its first use, which ends the process where there is none
// left.
void make_worker_ready() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  [[maybe_unused]] volatile const int asked = std::uncaught_exceptions();
  is_ready = true;
}

void run_chunk(FunctionRef<void(std::int64_t)> body, std::int64_t chunk, std::int64_t chunks) {
  const auto text = [&]() -> SpanText {
    return {concat("chunk ", chunk + 1, " of ", chunks), "chunk"};
  };
  const Span span(text);
  body(chunk);
}

// One parallel loop, and the first exception of its chunks.
class Loop {
 public:
  Loop(std::int64_t chunks, FunctionRef<void(std::int64_t)> body) : chunks_(chunks), body_(body) {}

  void run(std::int64_t first, std::int64_t last) {
    if (!is_ready) make_worker_ready();
    happens_after(start());
    const Mark mark(*this);
    try {
      for (std::int64_t i = first; i < last && !ended_.load(std::memory_order_relaxed); ++i) {
        poll_clock();
        run_chunk(body_, i, chunks_);
      }
    } catch (const ForcedUnwind&) {
      sleep_until_exit();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
      ended_.store(true);
    }
    happens_before(end());
  }

  // The addresses in the annotations.
  void* start() { return &ended_; }
  void* end() { return &first_; }

  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  // While a thread runs chunks.
  class Mark {
   public:
    explicit Mark(const Loop& loop) : outer_(inside_loop), outer_ended_(loop_ended) {
      inside_loop = true;
      loop_ended = &loop.ended_;
    }
    ~Mark() {
      inside_loop = outer_;
      loop_ended = outer_ended_;
    }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    bool outer_;
    const std::atomic<bool>* outer_ended_;
  };

  const std::int64_t chunks_;
  const FunctionRef<void(std::int64_t)> body_;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::exception_ptr first_;
};

// The workers of the process. oneTBB starts them when a loop first needs them.
class Workers {
 public:
  // At most `wanted`, as far as the system lets threads start: oneTBB ends the process where a
  // worker cannot start another.
  int ensure(int wanted) {
    if (asked_.load(std::memory_order_acquire) < wanted) start(wanted);
    return std::min(wanted, count_.load(std::memory_order_relaxed));
  }

 private:
  void start(int wanted) {
    using tbb::global_control;
    const std::lock_guard lock(mutex_);
    if (asked_.load() >= wanted) return;
    const auto stack = global_control::active_value(global_control::thread_stack_size);
    const int count = startable_threads(wanted, stack);
    allow(count + 1);
    count_.store(count);
    asked_.store(wanted, std::memory_order_release);
  }

  // More threads than cores, where they are asked for. oneTBB takes the least of all that is set.
  void allow(int threads) {
    using tbb::global_control;
    constexpr auto parameter = global_control::max_allowed_parallelism;
    const auto count = index(threads);
    if (global_control::active_value(parameter) >= count) return;
    limit_.reset();
    limit_ = std::make_unique<global_control>(parameter, count);
  }

  std::atomic<int> asked_{0};  // the most that a loop has wanted
  std::atomic<int> count_{0};  // threads that can be had
  std::mutex mutex_;
  std::unique_ptr<tbb::global_control> limit_;
};

// An arena for one caller at a time.
class alignas(64) CallerArena {
 public:
  bool claim() {
    return !claimed_.load(std::memory_order_relaxed) &&
           !claimed_.exchange(true, std::memory_order_acquire);
  }
  void release() { claimed_.store(false, std::memory_order_release); }

  // For the caller and threads - 1 workers.
  tbb::task_arena& of(int threads) {
    if (threads_ != threads) {
      if (threads_ != 0) arena_.terminate();
      threads_ = 0;
      arena_.initialize(threads, 1);
      threads_ = threads;
    }
    return arena_;
  }

 private:
  std::atomic<bool> claimed_{false};
  int threads_ = 0;  // 0: no arena yet
  tbb::task_arena arena_;
};

struct Pool {
  Workers workers;
  std::array<CallerArena, 32> arenas;
};

// Never destroyed: workers outlive the objects that end with the process.
Pool& pool() {
  static Pool& only = *new Pool;
  return only;
}

// The first free arena, so that a single caller always has the same; null where all are taken.
struct Release {
  void operator()(CallerArena* arena) const { arena->release(); }
};
std::unique_ptr<CallerArena, Release> claim_arena() {
  auto& arenas = pool().arenas;
  const auto free = std::find_if(arenas.begin(), arenas.end(), [](auto& a) { return a.claim(); });
  return std::unique_ptr<CallerArena, Release>(free == arenas.end() ? nullptr : &*free);
}

// A stretch for each thread. A caller asks for interrupts only while it works on its own, and then
// waits for the others. Long loops are therefore not cut in this way; their caches would not
// profit.
constexpr std::int64_t most_even_chunks = 64;  // of a thread

// Runs the loop on this thread and workers, or says that there is none to be had.
bool run_on_workers(std::int64_t chunks, Loop& loop, bool even) {
  started.store(true, std::memory_order_relaxed);
  const int threads = pool().workers.ensure(thread_count() - 1) + 1;
  const auto arena = threads > 1 ? claim_arena() : nullptr;
  if (!arena) return false;
  is_ready = true;
  happens_before(loop.start());
  // Isolated: the caller's own context, should it have one, is not asked for its cancellation. All
  // threads compute as this one does outside of the arena (runtime/flush_denormals.h).
  tbb::task_group_context context(tbb::task_group_context::isolated);
  context.capture_fp_settings();
  arena->of(threads).execute([&] {
    using Range = tbb::blocked_range<std::int64_t>;
    const auto body = [&](const Range& r) { loop.run(r.begin(), r.end()); };
    if (even && chunks <= most_even_chunks * threads) {
      tbb::parallel_for(Range(0, chunks), body, tbb::static_partitioner(), context);
    } else {
      tbb::parallel_for(Range(0, chunks), body, tbb::simple_partitioner(), context);
    }
  });
  happens_after(loop.end());
  return true;
}

void run_loop(std::int64_t chunks, const FunctionRef<void(std::int64_t)>& body, bool even) {
  if (chunks > 1 && !inside_loop && !inherited.load(std::memory_order_relaxed) &&
      thread_count() > 1) {
    Loop loop(chunks, body);
    if (run_on_workers(chunks, loop, even)) return loop.rethrow();
  }
  for (std::int64_t i = 0; i < chunks; ++i) {
    chunks > 1 ? poll_clock() : poll();
    chunks > 1 && !inside_loop ? run_chunk(body, i, chunks) : body(i);
  }
}

int initial_thread_count() {
  const char* const text = std::getenv("SHARDAX_NUM_THREADS");
  if (!text || !*text) return usable_cores();
  int given = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, given);
  if (error != std::errc() || stop != end || given < 1 || given > most_threads) {
    value_error("shardax: the environment's SHARDAX_NUM_THREADS is '", text,
                "'; expected a number of threads from 1 to ", most_threads,
                ". Unset it for one thread a core.");
  }
  return given;
}

}  // namespace

int thread_count() {
  int count = wanted.load(std::memory_order_relaxed);
  if (count == 0) {
    int expected = 0;
    count = initial_thread_count();
    if (!wanted.compare_exchange_strong(expected, count)) count = expected;
  }
  return count;
}

void set_thread_count(int count) { wanted.store(std::clamp(count, 1, most_threads)); }

void parallel_for(std::int64_t chunks, FunctionRef<void(std::int64_t)> body) {
  run_loop(chunks, body, false);
}

void parallel_for_even(std::int64_t chunks, FunctionRef<void(std::int64_t)> body) {
  run_loop(chunks, body, true);
}

}  // namespace shardax::runtime
