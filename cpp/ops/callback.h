// ops/callback.h - queries of host functions while a program calls them.
#pragma once

#include <string>

#include "ir/program.h"

namespace shardax {

// The slice of a mapped program for which this thread runs a callback: "device 3", "device 3, batch
// element 1"; "" outside of mapped axes.
const std::string& callback_slice();

// While it lives, callbacks on this thread are made for this slice of the enclosing one.
class CallbackSlice {
 public:
  explicit CallbackSlice(std::string text);
  ~CallbackSlice();
  CallbackSlice(const CallbackSlice&) = delete;
  CallbackSlice& operator=(const CallbackSlice&) = delete;

 private:
  std::string outer_;
};

// Does the program, or one in it, call a function of the host for its effects on the world?
// Batching cannot run such a program for some elements only.
bool does_io(const Program& program);

}  // namespace shardax
