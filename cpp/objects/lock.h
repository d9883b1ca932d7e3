// objects/lock.h - the interpreter's lock, for code that may run without it.
#pragma once

#include <Python.h>

#include "base/thread_end.h"

namespace shardax::objects {

class Locked {
 public:
  Locked() : state_(or_sleep([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace shardax::objects
