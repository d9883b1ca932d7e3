// pytree/core_lock.h - the core's lock, a stand-in for the interpreter's where Python has none.
//
// The core's tables, caches and objects serve one thread at a time: the one with the interpreter's
// lock. Under free-threaded Python, a lock of the core takes its place. Every function that Python
// calls holds a CoreLock, most of them by `guarded`. Traversals of the garbage collector run while
// no other thread does.
//
// The lock is a critical section of CPython, and behaves as the interpreter's lock does. A thread
// that blocks, or leaves the interpreter to execute a program, gives it up and takes it again when
// it goes on. So no deadlock with other locks arises. CoreUnlocked gives it up while a user's
// function runs. With the interpreter's lock, all of it is empty.
//
// An object whose last reference is gone may wait for the lock. Deallocation therefore takes it
// from the garbage collector first, which would else free it a second time.
#pragma once

#include <Python.h>
#include <pthread.h>

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
    if (object) return true;
    object = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
    if (object) pthread_atfork(nullptr, nullptr, after_fork);
    return object != nullptr;
  }

 private:
  friend class CoreUnlocked;

  // This thread's innermost critical section, if it is the core's and not suspended. CPython ends
  // sections of its own before it returns to the core, so that no other hides the core's there.
  static PyCriticalSection* held() {
    const std::uintptr_t innermost = PyThreadState_GetUnchecked()->critical_section;
    return is_own(innermost) ? reinterpret_cast<PyCriticalSection*>(innermost) : nullptr;
  }

  static constexpr std::uintptr_t tags = 3;  // of pointers to sections: suspended; of two objects

  static bool is_own(std::uintptr_t section) {
    return section != 0 && (section & tags) == 0 &&
           reinterpret_cast<PyCriticalSection*>(section)->_cs_mutex == &object->ob_mutex;
  }

  // In a forked child: a thread that is not there may have been handed the lock.
  static void after_fork() {
    PyThreadState* thread = PyThreadState_GetUnchecked();
    bool own = false;
    for (std::uintptr_t at = thread ? thread->critical_section : 0; at != 0;
         at = reinterpret_cast<PyCriticalSection*>(at & ~tags)->_cs_prev)
      own = own || is_own(at);
    object->ob_mutex._bits = own ? 1 : 0;
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
