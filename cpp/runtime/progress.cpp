// runtime/progress.cpp - the list of tasks under way.
#include "runtime/progress.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <mutex>

#include "runtime/interrupt.h"

namespace shardax::runtime {
namespace {

struct List {
  std::mutex mutex;
  Task* first = nullptr;
  Task* last = nullptr;
  std::uint64_t begun = 0;
};
List& list() {
  static List& kept = *new List;  // threads may compute while the process ends
  return kept;
}

constinit thread_local Task* innermost = nullptr;

std::uint64_t this_thread() { return std::bit_cast<std::uint64_t>(pthread_self()); }

bool compiles(TaskKind kind) { return kind != TaskKind::loop; }

}  // namespace

void Task::unlink() noexcept {
  (before_ ? before_->behind_ : list().first) = behind_;
  (behind_ ? behind_->before_ : list().last) = before_;
}

void Task::begin() {
  if (loop_ended) return;
  if (innermost && (innermost->outer_ || (compiles(kind_) && compiles(innermost->kind_)))) return;
  start_ = std::chrono::steady_clock::now();
  thread_ = this_thread();
  outer_ = innermost;
  innermost = this;
  listed_ = true;
  const std::lock_guard lock(list().mutex);
  id_ = ++list().begun;
  before_ = list().last;
  (before_ ? before_->behind_ : list().first) = this;
  list().last = this;
}

void Task::end() noexcept {
  innermost = outer_;
  const std::lock_guard lock(list().mutex);
  unlink();
}

void watch_tasks(bool wanted) { tasks_watched = wanted; }

std::vector<TaskFacts> tasks_under_way() {
  const auto now = std::chrono::steady_clock::now();
  std::vector<TaskFacts> all;
  const std::lock_guard lock(list().mutex);
  for (const Task* t = list().first; t; t = t->behind_) {
    const std::chrono::duration<double> passed = now - t->start_;
    const std::int64_t done = t->done_.load(std::memory_order_relaxed);
    all.push_back({t->id_, t->kind_, t->text_(), std::max(passed.count(), 0.0),
                   t->length_ < 0 ? done : std::min(done, t->length_), t->length_,
                   t->outer_ != nullptr, t->thread_});
  }
  return all;
}

// Threads that a child made by fork does not have do not end their tasks.
void forget_other_threads() {
  for (Task *t = list().first, *next; t; t = next) {
    next = t->behind_;
    if (t->thread_ != this_thread()) t->unlink();
  }
}

namespace {

// A fork does not catch the list locked by a thread that the child does not have.
[[maybe_unused]] const int fork_handlers =
    pthread_atfork([] { list().mutex.lock(); }, [] { list().mutex.unlock(); },
                   [] {
                     forget_other_threads();
                     list().mutex.unlock();
                   });

}  // namespace
}  // namespace shardax::runtime
