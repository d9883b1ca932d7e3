// base/per_thread.h - an object for each thread, made at its first use there.
//
// C++ registers the destructor of a thread_local object at its first use, and ends the process
// where there is no memory for that. Here that is std::bad_alloc, and the next use tries again.
#pragma once

#include <memory>

namespace shardax {

class ThreadOwned {
 public:
  ThreadOwned() = default;
  virtual ~ThreadOwned() = default;
  ThreadOwned(const ThreadOwned&) = delete;
  ThreadOwned& operator=(const ThreadOwned&) = delete;

 private:
  friend void own_until_thread_ends(std::unique_ptr<ThreadOwned> object);
  friend void destroy_owned(void*);
  ThreadOwned* before_ = nullptr;
};

// The youngest is destroyed first. Those of the main thread are never destroyed, since they may
// refer to objects of an interpreter that has gone.
void own_until_thread_ends(std::unique_ptr<ThreadOwned> object);

// The calling thread's T of that tag, a type that names it: per_thread<std::string, struct Text>().
template <class T, class Tag>
T& per_thread() {
  static constinit thread_local T* current = nullptr;
  struct Owned final : ThreadOwned {
    T value{};
    ~Owned() override { current = nullptr; }
  };
  if (!current) {
    auto made = std::make_unique<Owned>();
    T* const value = &made->value;
    own_until_thread_ends(std::move(made));
    current = value;
  }
  return *current;
}

}  // namespace shardax
