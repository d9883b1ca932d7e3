// base/stack.cpp - the end of a thread's stack.
#include "base/stack.h"

#include <pthread.h>

#include <algorithm>

#include "base/errors.h"
#include "base/target.h"

namespace shardax {
namespace {

// The stack that a level may use before the next one asks: kernels, Python's own frames, the error
// itself. Sanitizers make frames several times as large.
#if SHARDAX_ADDRESS_SANITIZER || SHARDAX_THREAD_SANITIZER
constexpr std::size_t reserve = std::size_t{2} << 20;
#else
constexpr std::size_t reserve = std::size_t{256} << 10;
#endif

struct Stack {
  std::uintptr_t lowest;
  std::size_t size;
};

// The stack of this thread; all of memory if the system does not tell.
#if defined(__APPLE__)
Stack find_stack() {
  const pthread_t self = pthread_self();
  const std::size_t size = pthread_get_stacksize_np(self);
  return {reinterpret_cast<std::uintptr_t>(pthread_get_stackaddr_np(self)) - size, size};
}
#else
Stack find_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* lowest = nullptr;
  std::size_t size = 0;
  const int failed = pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  if (failed) return {};
  return {reinterpret_cast<std::uintptr_t>(lowest), size};
}
#endif

// Small stacks are allowed to be used up to a quarter of their size.
std::uintptr_t find_limit() {
  const Stack stack = find_stack();
  return stack.lowest + std::min(reserve, stack.size / 4);
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
