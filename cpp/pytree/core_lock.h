// pytree/core_lock.h - the core's lock, a stand-in for the interpreter's where Python has none.
//
// The core's tables, caches and objects serve one thread at a time: the one with the interpreter's
// lock. Under free-threaded Python, a lock of the core takes its place. Every function that Python
// calls holds a CoreLock, most of them by `guarded`. Traversals of the garbage collector run while
// no other thread does.
//
// The lock is a critical section of CPython, and behaves as the interpreter's lock does. A thread
// that blocks, or leaves the interpreter to execute a program, gives it up and takes it again when
// it goes on. So no deadlock with other locks arises, and a fork finds it free. CoreUnlocked gives
// it up while a user's function runs. With the interpreter's lock, all of it is empty.
#pragma once

#include <Python.h>

#include <cstdint>

#include "base/thread_end.h"

namespace shardax {

#ifdef Py_GIL_DISABLED

class CoreLock {
 public:
  // While Python ends, no other thread runs in it, and one that has stopped may have the lock.
  CoreLock() : entered_(!held() && !Py_IsFinalizing()) {
    if (entered_) or_sleep([&] { PyCriticalSection_Begin(&section_, object); });
  }
  ~CoreLock() {
    if (entered_) PyCriticalSection_End(&section_);
  }
  CoreLock(const CoreLock&) = delete;
  CoreLock& operator=(const CoreLock&) = delete;

  // Before any other use; false with Python's error set.
  static bool init() {
    if (!object) object = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
    return object != nullptr;
  }

 private:
  friend class CoreUnlocked;

  // This thread's innermost critical section, if it is the core's and not suspended. CPython ends
  // sections of its own before it returns to the core, so that no other hides the core's there.
  static PyCriticalSection* held() {
    constexpr std::uintptr_t tags = 3;  // suspended; of two objects
    const std::uintptr_t innermost = PyThreadState_GetUnchecked()->critical_section;
    if (innermost == 0 || (innermost & tags) != 0) return nullptr;
    auto* section = reinterpret_cast<PyCriticalSection*>(innermost);
    return section->_cs_mutex == &object->ob_mutex ? section : nullptr;
  }

  inline static PyObject* object = nullptr;  // nobody else locks it

  mutable PyCriticalSection section_;
  const bool entered_;
};

class CoreUnlocked {
 public:
  CoreUnlocked() : section_(CoreLock::held()) {
    if (section_) PyCriticalSection_End(section_);
  }
  ~CoreUnlocked() {
    if (section_) or_sleep([&] { PyCriticalSection_Begin(section_, CoreLock::object); });
  }
  CoreUnlocked(const CoreUnlocked&) = delete;
  CoreUnlocked& operator=(const CoreUnlocked&) = delete;

 private:
  PyCriticalSection* const section_;
};

// The lock of an object, while its borrowed parts are looked at. Within it, nothing of the core is
// called.
class ObjectLock {
 public:
  explicit ObjectLock(PyObject* locked) { PyCriticalSection_Begin(&section_, locked); }
  ~ObjectLock() { PyCriticalSection_End(&section_); }
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

 private:
  mutable PyCriticalSection section_;
};

#else

struct CoreLock {
  CoreLock() {}
  ~CoreLock() {}
  static bool init() { return true; }
};
struct CoreUnlocked {
  CoreUnlocked() {}
  ~CoreUnlocked() {}
};
struct ObjectLock {
  explicit ObjectLock(PyObject*) {}
  ~ObjectLock() {}
};

#endif

// The result of `make`, called at first use under the core's lock and kept in `known` for good.
// Another thread may get in meanwhile: the first to end wins. In a static variable's initializer,
// that thread would wait for ever, as it waits with the lock.
template <class T, class Make>
T* made_once(T*& known, const Make& make) {
  if (!known) {
    T* made = make();
    if (!known) known = made;
  }
  return known;
}

}  // namespace shardax
