// lapack/library.cpp - OpenBLAS: loading, and rules for its callers.
#include "lapack/library.h"

#include <dlfcn.h>
#include <pthread.h>
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include "base/errors.h"
#include "runtime/cores.h"
#include "runtime/interrupt.h"

namespace shardax::lapack {
namespace {

using namespace std::chrono_literals;

// On a single processor two of OpenBLAS's threads would wait for each other in turns: a svd of
// 256 x 256 takes 1 s there instead of 9 ms.
const int threads_of_large_calls = runtime::cores_of_affinity() == 1 ? 1 : 2;

Finder find_library = nullptr;
std::atomic<void*> library = nullptr;
void (*set_threads)(int) = nullptr;

// The calls under way: any number of small calls, or one large one.
struct Turns {
  std::mutex mutex;
  std::condition_variable changed;
  int small = 0;
  int waiting = 0;  // large calls; new small ones wait for them
  bool large = false;
  int abandoned = 0;  // calls whose callers may have left
};
// Never destroyed: calls may end after the first static objects are gone. A forked child starts
// anew: nobody else is there.
alignas(Turns) std::byte turns_memory[sizeof(Turns)];
Turns& turns() { return *std::launder(reinterpret_cast<Turns*>(turns_memory)); }
void renew_turns() { new (turns_memory) Turns; }

// Waits for `ready`, and polls meanwhile where `poll` says so.
template <class F>
void wait(std::unique_lock<std::mutex>& lock, bool poll, const F& ready) {
  while (!turns().changed.wait_for(lock, 20ms, ready)) {
    if (!poll) continue;
    lock.unlock();
    runtime::poll_clock();
    lock.lock();
  }
}

class Large {
 public:
  explicit Large(bool poll) {
    std::unique_lock lock(turns().mutex);
    ++turns().waiting;
    try {
      wait(lock, poll, [] { return !turns().large && turns().small == 0; });
    } catch (...) {
      lock.lock();
      --turns().waiting;
      throw;
    }
    --turns().waiting;
    turns().large = true;
    set_threads(threads_of_large_calls);
  }
  ~Large() {
    {
      const std::lock_guard lock(turns().mutex);
      set_threads(1);
      turns().large = false;
    }
    turns().changed.notify_all();
  }
  Large(const Large&) = delete;
  Large& operator=(const Large&) = delete;
};

// Nobody computes while the process forks. A child made while OpenBLAS holds locks, or its threads
// have work, would wait for them for ever, and so would the parent.
void before_fork() {
  std::unique_lock lock(turns().mutex);
  ++turns().waiting;
  turns().changed.wait(lock, [] { return !turns().large && turns().small == 0; });
  --turns().waiting;
  lock.release();
}
void after_fork() {
  turns().mutex.unlock();
  turns().changed.notify_all();
}

void wait_for_abandoned() {
  std::unique_lock lock(turns().mutex);
  turns().changed.wait(lock, [] { return turns().abandoned == 0; });
}

// A variable of the environment, which the library reads when it is loaded.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Setting() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// The kernels that OpenBLAS has to take, where its own choice computes wrong numbers. Its products
// of float32 by SME (0.3.34) assume vectors of 512 bits. Two of them at once disturb each other
// under QEMU. A processor with SME gets kernels without it on Linux.
const char* kernels_to_take() {
#if defined(__aarch64__) && defined(__linux__)
  constexpr int get_sme_vector_length = 64;     // PR_SME_GET_VL, which fails without SME
  constexpr unsigned long has_sve = 1ul << 22;  // HWCAP_SVE
  if (prctl(get_sme_vector_length) >= 0) {
    return (getauxval(AT_HWCAP) & has_sve) != 0 ? "ARMV8SVE" : "ARMV8";
  }
#endif
  return nullptr;
}

}  // namespace

void set_finder(Finder finder) { find_library = finder; }

void load() {
  if (library) return;
  const std::string path = find_library();
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (library) return;
  // The number of threads that OpenBLAS starts, and the cycles, 2^23, for which they wait for more
  // work before they sleep. Its default of 2^26 would take a core from our threads for 25 ms after
  // each call.
  const Setting threads("OPENBLAS_NUM_THREADS", std::to_string(threads_of_large_calls));
  const Setting patience("OPENBLAS_THREAD_TIMEOUT", "23");
  std::optional<Setting> kernels;
  const char* name = kernels_to_take();
  if (name && !std::getenv("OPENBLAS_CORETYPE")) kernels.emplace("OPENBLAS_CORETYPE", name);
  void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) fail(ErrorKind::runtime_error, "shardax: cannot load LAPACK; ", dlerror());
  set_threads = reinterpret_cast<void (*)(int)>(dlsym(opened, "scipy_openblas_set_num_threads"));
  if (!set_threads) fail(ErrorKind::runtime_error, "shardax: ", path, " is not OpenBLAS.");
  set_threads(1);
  renew_turns();
  pthread_atfork(before_fork, after_fork, renew_turns);
  std::atexit(wait_for_abandoned);  // before the library takes its memory away
  library = opened;
}

void* address(const std::string& name) {
  if (void* found = dlsym(library, ("scipy_" + name).c_str())) return found;
  throw InternalError("lapack: the library has no routine " + name);
}

Small::Small() {
  std::unique_lock lock(turns().mutex);
  wait(lock, true, [] { return !turns().large && turns().waiting == 0; });
  ++turns().small;
}

Small::~Small() {
  {
    const std::lock_guard lock(turns().mutex);
    --turns().small;
  }
  turns().changed.notify_all();
}

void run_large(double flops, std::function<void()> work) {
  if (flops < large_flops) {
    const Large turn(true);
    return work();
  }
  struct Call {
    std::function<void()> work;
    bool done = false;
    std::exception_ptr error;
  };
  const auto call = std::make_shared<Call>(Call{std::move(work), false, nullptr});
  std::thread([call] {
    try {
      const Large turn(false);
      call->work();
    } catch (...) {
      call->error = std::current_exception();
    }
    call->work = nullptr;
    const std::lock_guard lock(turns().mutex);
    call->done = true;
    --turns().abandoned;
    turns().changed.notify_all();
  }).detach();
  std::unique_lock lock(turns().mutex);
  ++turns().abandoned;
  wait(lock, true, [&] { return call->done; });
  if (call->error) std::rethrow_exception(call->error);
}

}  // namespace shardax::lapack
