// callables/gil_safe_ref.h - Python references that may be dropped without the interpreter's lock.
#pragma once

#include "callables/python.h"
#include "objects/lock.h"

namespace shardax::callables {

using objects::Locked;

// An owned object that is dropped under the lock, or left alone when the interpreter has gone.
class GilSafeRef {
 public:
  explicit GilSafeRef(PyObject* object) : ref_(Ref::borrow(object)) {}
  ~GilSafeRef() {
    if (!Py_IsInitialized()) {
      ref_.release();
      return;
    }
    const Locked locked;
    ref_.reset();
  }
  GilSafeRef(const GilSafeRef&) = delete;
  GilSafeRef& operator=(const GilSafeRef&) = delete;
  PyObject* get() const { return ref_.get(); }

 private:
  Ref ref_;
};

}  // namespace shardax::callables
