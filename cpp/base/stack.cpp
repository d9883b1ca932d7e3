// base/stack.cpp - the end of a thread's stack.
#include "base/stack.h"

#include <pthread.h>

#include <algorithm>

#include "base/errors.h"

namespace shardax {
namespace {

// What a level may use before the next one asks: kernels, Python's own frames, the error itself.
// Sanitizers make frames several times as large.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t reserve = std::size_t{2} << 20;
#else
constexpr std::size_t reserve = std::size_t{256} << 10;
#endif

std::uintptr_t find_limit() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  const int failed = pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  if (failed) return 0;
  // Small stacks are allowed to be used up to a quarter of their size.
  return reinterpret_cast<std::uintptr_t>(lowest) + std::min(reserve, size / 4);
}

}  // namespace

bool below_stack_limit() {
  if (stack_limit == UINTPTR_MAX) stack_limit = find_limit();
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < stack_limit;
}

const char* stack_advice() {
  return "the stack of this thread is nearly used up. Nest less deeply (a loop of lax.scan or "
         "lax.fori_loop in place of calls within calls, a list in place of a chain), or run in a "
         "thread that starts after threading.stack_size(2**29)";
}

void stack_is_used_up(const char* walk) {
  fail(ErrorKind::recursion_error, "maximum recursion depth exceeded in ", walk, ": ",
       stack_advice(), ".");
}

}  // namespace shardax
