// runtime/progress.h - long work under way, for a thread that shows it: tracing, compilations,
// loops.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/function_ref.h"

namespace shardax::runtime {

enum class TaskKind : std::uint8_t { tracing, compilation, loop };

// A function's name, or an op's and the user's line: "file.py:12 (f)", or "".
struct TaskText {
  std::string name;
  std::string place = {};
};

// Stands for turns that are not counted, and for lengths that are not known.
constexpr std::int64_t no_count = -1;

struct TaskFacts {
  std::uint64_t id;  // of no other task of the process
  TaskKind kind;
  TaskText text;
  double seconds;  // since its beginning
  std::int64_t done, length;
  bool inner;            // a task of the same thread is around it
  std::uint64_t thread;  // as Python's threading.get_ident tells it
};

// From now on tasks that begin are listed, or no longer. Those that have begun stay listed until
// they end.
void watch_tasks(bool wanted);
// The tasks of all threads, by the order in which they began.
std::vector<TaskFacts> tasks_under_way();

inline constinit std::atomic<bool> tasks_watched = false;

// Work from its construction to its destruction. Costs one load of an atomic where nobody watches.
// Of tasks within each other two levels are listed, and no compilation within another one. Chunks
// of parallel loops list nothing: the loop itself is a task.
class Task {
 public:
  // Other threads ask for `text` while the task lives.
  Task(TaskKind kind, FunctionRef<TaskText()> text, std::int64_t length = no_count,
       bool counts = false)
      : text_(text), length_(length), done_(counts ? 0 : no_count), kind_(kind) {
    if (tasks_watched.load(std::memory_order_relaxed)) begin();
  }
  ~Task() {
    if (listed_) end();
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Counts turns that are done; any thread may.
  void add(std::int64_t turns) {
    if (listed_) done_.fetch_add(turns, std::memory_order_relaxed);
  }

 private:
  friend std::vector<TaskFacts> tasks_under_way();
  friend void forget_other_threads();
  void begin();
  void end() noexcept;
  void unlink() noexcept;

  FunctionRef<TaskText()> text_;
  std::int64_t length_;
  std::atomic<std::int64_t> done_;
  std::chrono::steady_clock::time_point start_;
  std::uint64_t id_ = 0, thread_ = 0;
  Task* outer_ = nullptr;                       // of this thread
  Task *before_ = nullptr, *behind_ = nullptr;  // in the list
  TaskKind kind_;
  bool listed_ = false;
};

}  // namespace shardax::runtime
