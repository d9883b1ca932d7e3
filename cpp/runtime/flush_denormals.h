// runtime/flush_denormals.h - arithmetic that takes denormal numbers for zero.
//
// Some processors take a hundred cycles for an instruction with a denormal operand or result; with
// this mode they take one. It is a state of each thread: a loop of the pool gives it to its workers
// (runtime/pool.cpp). Conversions and moves of bits are as ever.
#pragma once

#include <cstdint>

namespace shardax::runtime {

// Do programs that run from here on flush?
void flush_denormals(bool wanted);
bool flushes_denormals();

// While one lives, arithmetic on this thread flushes denormal operands and results to zero, or does
// not.
class FlushDenormals {
 public:
  explicit FlushDenormals(bool wanted);
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  std::uint64_t before_;
  bool changed_;
};

}  // namespace shardax::runtime
