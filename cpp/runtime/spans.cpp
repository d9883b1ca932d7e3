// runtime/spans.cpp - the list of recorded times.
#include "runtime/spans.h"

#include <pthread.h>

#include <bit>
#include <mutex>
#include <new>
#include <utility>

namespace shardax::runtime {
namespace {

std::mutex mutex;

Recording& recording() {
  static auto* kept = new Recording;  // outlives static destruction
  return *kept;
}

// A fork does not catch the list locked by a thread that the child does not have.
[[maybe_unused]] const int spans_fork_handlers =
    pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });

std::int64_t nanoseconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
}

}  // namespace

void start_recording() {
  const std::lock_guard lock(mutex);
  recording() = {};
  recording_spans = true;
}

Recording stop_recording() {
  const std::lock_guard lock(mutex);
  recording_spans = false;
  return std::exchange(recording(), {});
}

void add_span(SpanText text, std::chrono::steady_clock::time_point start) noexcept {
  const auto end = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex);
  if (!recording_spans) return;  // ended meanwhile
  Recording& kept = recording();
  try {
    if (kept.spans.size() < most_spans) {
      kept.spans.push_back({std::move(text), nanoseconds(start.time_since_epoch()),
                            nanoseconds(end - start),
                            std::bit_cast<std::uint64_t>(pthread_self())});
      return;
    }
  } catch (const std::bad_alloc&) {
  }
  ++kept.dropped;
}

}  // namespace shardax::runtime
