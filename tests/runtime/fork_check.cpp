// tests/runtime/fork_check.cpp - a fork catches no mutex of threads that run without Python.
//
// Built and run by test_fork_check.py. Prints each check that fails; the exit status says whether
// any does.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <thread>
#include <vector>

#include "array/exported_buffers.h"
#include "runtime/spans.h"

using namespace shardax;

namespace {

// Does `work` end in children that are made while three threads are within it?
template <class Work>
bool ends_in_children(const Work& work) {
  std::atomic<bool> stopped{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stopped) work();
    });
  }
  bool ends = true;
  for (int i = 0; i < 100 && ends; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      work();
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    ends = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  stopped = true;
  for (std::thread& thread : threads) thread.join();
  return ends;
}

void record_span() { runtime::add_span({"op", "op"}, std::chrono::steady_clock::now()); }

void lend() {
  thread_local std::byte buffer{};
  export_buffer(&buffer);
  (void)is_exported(&buffer);
  release_buffer(&buffer);
}

int failures = 0;
void check(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::printf("%s\n", what);
}

}  // namespace

int main() {
  runtime::start_recording();
  check(ends_in_children(record_span), "a child waits for the list of spans");
  (void)runtime::stop_recording();
  check(ends_in_children(lend), "a child waits for the counts of exports");
  if (failures == 0) std::printf("all hold\n");
  return failures == 0 ? 0 : 1;
}
