// base/float_control.h - the register that controls floating-point arithmetic of a thread.
#pragma once

#include <cstdint>

#include "base/target.h"

#if SHARDAX_X86_64
#include <xmmintrin.h>
#endif

namespace shardax {

#if SHARDAX_X86_64
// MXCSR: denormal results become zero, and denormal operands are taken for zero.
inline constexpr std::uint64_t flush_bits = 0x8040;
inline std::uint64_t read_float_control() { return _mm_getcsr(); }
inline void write_float_control(std::uint64_t bits) { _mm_setcsr(static_cast<unsigned>(bits)); }
#else
// FPCR: FZ does both.
inline constexpr std::uint64_t flush_bits = std::uint64_t{1} << 24;
inline std::uint64_t read_float_control() {
  std::uint64_t bits;
  asm volatile("mrs %0, fpcr" : "=r"(bits));
  return bits;
}
inline void write_float_control(std::uint64_t bits) { asm volatile("msr fpcr, %0" ::"r"(bits)); }
#endif

}  // namespace shardax
