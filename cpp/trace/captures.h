// trace/captures.h - detection of closed-over arrays in staged functions.
#pragma once

namespace shardax {

// While it lives, it says so on this thread. Casts of a captured array are equations too, so that
// it is listed at its first use. Casts of other numbers are computed at once.
class CapturesArrays {
 public:
  explicit CapturesArrays(bool captures);
  ~CapturesArrays();
  CapturesArrays(const CapturesArrays&) = delete;
  CapturesArrays& operator=(const CapturesArrays&) = delete;

 private:
  bool outer_;
};

bool captures_arrays();

}  // namespace shardax
