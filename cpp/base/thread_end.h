// base/thread_end.h - threads that CPython ends while it shuts down.
//
// Before CPython 3.14, a thread that asks for the interpreter's lock at that time ends by unwinding
// its stack. The unwinding must not pass C++: destructors would drop Python objects without the
// lock, and `catch (...)` would abort the process. Such a thread sleeps instead until the process
// is gone, as it does from CPython 3.14 on.
#pragma once

#include <unistd.h>

#include <exception>
#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

namespace shardax {

#if defined(__GLIBCXX__)
using ForcedUnwind = abi::__forced_unwind;
#else
struct ForcedUnwind {};  // these libraries end threads without an exception that can be caught
#endif

[[noreturn]] inline void sleep_until_exit() {
  for (;;) pause();
}

// f(), which may take the lock or run Python code.
template <class F>
auto or_sleep(F&& f) {
  try {
    return f();
  } catch (const ForcedUnwind&) {
    sleep_until_exit();
  }
}

}  // namespace shardax
