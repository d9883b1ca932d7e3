// objects/lock.h - the interpreter's lock, for code that may run without it.
#pragma once

#include <Python.h>

#include "base/thread_end.h"
#include "pytree/core_lock.h"

namespace shardax::objects {

class Locked {
 public:
  Locked() = default;
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  class Interpreter {
   public:
    Interpreter() : state_(or_sleep([] { return PyGILState_Ensure(); })) {}
    ~Interpreter() { PyGILState_Release(state_); }
    Interpreter(const Interpreter&) = delete;
    Interpreter& operator=(const Interpreter&) = delete;

   private:
    PyGILState_STATE state_;
  };

  Interpreter interpreter_;
  CoreLock core_;
};

}  // namespace shardax::objects
