// base/per_thread.cpp - a list for each thread, destroyed by a pthread key.
#include "base/per_thread.h"

#include <pthread.h>

#include <new>
#include <utility>

namespace shardax {
namespace {

constinit thread_local ThreadOwned* youngest = nullptr;

}  // namespace

// Destructors may make further objects.
void destroy_owned(void*) {
  while (youngest) {
    const std::unique_ptr<ThreadOwned> object(std::exchange(youngest, youngest->before_));
  }
}

void own_until_thread_ends(std::unique_ptr<ThreadOwned> object) {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    if (pthread_key_create(&made, destroy_owned) != 0) throw std::bad_alloc();
    return made;
  }();
  if (!pthread_getspecific(key) && pthread_setspecific(key, &key) != 0) throw std::bad_alloc();
  object->before_ = youngest;
  youngest = object.release();
}

}  // namespace shardax
