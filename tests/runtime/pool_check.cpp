// tests/runtime/pool_check.cpp - parallel loops under many callers, exceptions, interrupts, fork.
//
// Built and run by test_pool_check.py. Prints each check that fails; the exit status says whether
// any does. With -fsanitize=thread, and a oneTBB that was compiled with it, races of the pool show.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/interrupt.h"
#include "runtime/pool.h"

using namespace shardax;
using namespace shardax::runtime;

namespace {

using ParallelFor = void (*)(std::int64_t, FunctionRef<void(std::int64_t)>);
constexpr ParallelFor kinds[] = {parallel_for, parallel_for_even};

std::atomic<int> failures{0};

void check(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::printf("%s\n", what);
}

// Each chunk runs once, and what it has written is there when the loop returns.
bool every_chunk_once(ParallelFor run, std::int64_t chunks) {
  std::vector<int> counts(static_cast<std::size_t>(chunks));
  run(chunks, [&](std::int64_t i) { ++counts[static_cast<std::size_t>(i)]; });
  for (const int count : counts) {
    if (count != 1) return false;
  }
  return true;
}

void chunks_run_once() {
  for (const int threads : {1, 2, 3, 8}) {
    set_thread_count(threads);
    for (const std::int64_t chunks : {0, 1, 2, 3, 7, 8, 64, 65, 129, 1000, 5000}) {
      for (const ParallelFor run : kinds)
        check(every_chunk_once(run, chunks), "a chunk ran not once");
    }
  }
}

void loops_inside_run_inline() {
  for (const ParallelFor run : kinds) {
    std::atomic<int> strangers{0};
    run(16, [&](std::int64_t) {
      const auto here = std::this_thread::get_id();
      parallel_for(8, [&](std::int64_t) { strangers += std::this_thread::get_id() != here; });
    });
    check(strangers == 0, "a loop inside of a chunk left its thread");
  }
}

void exceptions_reach_the_caller() {
  for (const ParallelFor run : kinds) {
    std::atomic<int> ran{0};
    bool caught = false;
    try {
      run(100'000, [&](std::int64_t i) {
        ++ran;
        if (i % 10 == 3) throw std::range_error("3");
      });
    } catch (const std::range_error& e) {
      caught = e.what()[0] == '3';
    }
    check(caught, "an exception was lost");
    check(ran < 100'000, "chunks ran on after an exception");
    check(every_chunk_once(run, 100), "a loop after an exception");
  }
}

void interrupts_end_the_loop() {
  struct Interrupt {};
  for (const ParallelFor run : kinds) {
    bool caught = false;
    const Interruptible asked([](void*) { throw Interrupt(); }, nullptr);
    try {
      run(1'000'000,
          [](std::int64_t) { std::this_thread::sleep_for(std::chrono::microseconds(50)); });
    } catch (const Interrupt&) {
      caught = true;
    }
    check(caught, "an interrupt was lost");
  }
}

// Callers wait for their own chunks only: none runs a chunk of another.
void callers_run_their_own() {
  constexpr int callers = 40, rounds = 60;
  std::mutex mutex;
  std::set<std::thread::id> all;
  std::vector<std::set<std::thread::id>> ran(callers);
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int c = 0; c < callers; ++c) {
    threads.emplace_back([&, c] {
      {
        const std::lock_guard lock(mutex);
        all.insert(std::this_thread::get_id());
      }
      for (++ready; ready < callers;) std::this_thread::yield();
      std::set<std::thread::id>& mine = ran[static_cast<std::size_t>(c)];
      for (int r = 0; r < rounds; ++r) {
        std::vector<std::thread::id> who(17);
        kinds[r % 2](17, [&](std::int64_t i) {
          who[static_cast<std::size_t>(i)] = std::this_thread::get_id();
        });
        mine.insert(who.begin(), who.end());
      }
      mine.erase(std::this_thread::get_id());
    });
  }
  for (int count = 1; count < 200; ++count) {  // the count changes meanwhile
    set_thread_count(1 + count % 5);
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& others : ran) {
    for (const auto id : others) check(!all.contains(id), "a caller ran another's chunk");
  }
}

void a_forked_child_computes() {
  set_thread_count(3);
  check(every_chunk_once(parallel_for, 1000), "a loop before fork");
  const pid_t child = fork();
  if (child == 0) _exit(every_chunk_once(parallel_for, 1000) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a forked child did not compute");
}

}  // namespace

int main() {
  chunks_run_once();
  loops_inside_run_inline();
  exceptions_reach_the_caller();
  interrupts_end_the_loop();
  callers_run_their_own();
  a_forked_child_computes();
  if (failures == 0) std::printf("all hold\n");
  return failures == 0 ? 0 : 1;
}
