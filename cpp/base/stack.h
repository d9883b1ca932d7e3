// base/stack.h - recursion limits before the end of the stack.
//
// Programs nest as deeply as functions call each other, trees as deeply as users build them.
// Recursive walks over either ask at each level whether enough is left of this thread's stack.
#pragma once

#include <cstdint>

namespace shardax {

// The address that this thread's stack must stay above; found at its first question.
inline constinit thread_local std::uintptr_t stack_limit = UINTPTR_MAX;
// The same question once the address is known.
bool below_stack_limit();

// Costs a nanosecond.
inline bool stack_is_low() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here < stack_limit && below_stack_limit();
}

// The text of RecursionError; `walk` names the recursion that went too deep ("tracing").
const char* stack_advice();
[[noreturn]] void stack_is_used_up(const char* walk);

// Throws RecursionError where little is left.
inline void check_stack(const char* walk) {
  if (stack_is_low()) [[unlikely]]
    stack_is_used_up(walk);
}

}  // namespace shardax
