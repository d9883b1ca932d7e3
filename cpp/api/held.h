// api/held.h - Python objects that the core owns and may drop without the interpreter's lock.
#pragma once

#include "api/python.h"

namespace shardax::api {

// The interpreter's lock, for code that may run without it.
class Locked {
 public:
  Locked() : state_(PyGILState_Ensure()) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

// An owned object that is dropped under the lock, or left alone when the interpreter has gone.
class Held {
 public:
  explicit Held(PyObject* object) : ref_(Ref::borrow(object)) {}
  ~Held() {
    if (!Py_IsInitialized()) {
      ref_.release();
      return;
    }
    const Locked locked;
    ref_.reset();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  PyObject* get() const { return ref_.get(); }

 private:
  Ref ref_;
};

}  // namespace shardax::api
