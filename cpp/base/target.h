// base/target.h - differences between compilers and processors: dispatch, vectors, loop hints.
//
// Other files use the names below. GCC from 11 on and clang from 14 on compile them, for x86-64 and
// AArch64. Differences between systems are in runtime/ and base/stack.cpp.
#pragma once

#include <cstddef>

#if defined(__x86_64__)
#define SHARDAX_X86_64 1
#else
#define SHARDAX_X86_64 0
#endif
#if defined(__aarch64__)
#define SHARDAX_AARCH64 1
#else
#define SHARDAX_AARCH64 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define SHARDAX_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define SHARDAX_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define SHARDAX_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define SHARDAX_THREAD_SANITIZER __has_feature(thread_sanitizer)
#endif

#define SHARDAX_PRAGMA(text) _Pragma(#text)

// Before a loop: its iterations do not depend on each other through memory.
#if defined(__clang__)
#define SHARDAX_IVDEP SHARDAX_PRAGMA(clang loop vectorize(assume_safety))
#else
#define SHARDAX_IVDEP SHARDAX_PRAGMA(GCC ivdep)
#endif

// On a function: its short loops of stores do not become calls of memset.
#if defined(__clang__)
#define SHARDAX_NO_MEMSET __attribute__((no_builtin("memset")))
#else
#define SHARDAX_NO_MEMSET __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

// Functions between these are compiled for processors that have the features, "avx2,fma" say.
// Intrinsics, and any header of a library, are included before.
#if defined(__clang__)
#define SHARDAX_BEGIN_TARGET(features) \
  SHARDAX_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define SHARDAX_END_TARGET SHARDAX_PRAGMA(clang attribute pop)
#else
#define SHARDAX_BEGIN_TARGET(features) \
  SHARDAX_PRAGMA(GCC push_options) SHARDAX_PRAGMA(GCC target(features))
#define SHARDAX_END_TARGET SHARDAX_PRAGMA(GCC pop_options)
#endif

// A type of 16 bits whose conversions round as IEEE 754 asks, in one instruction where the machine
// has it. If it is not defined, array/half.h converts bits.
#if defined(__clang__) ? __clang_major__ >= 15 || SHARDAX_AARCH64 \
                       : __GNUC__ >= 13 || (__GNUC__ >= 12 && SHARDAX_X86_64)
#define SHARDAX_FLOAT16 _Float16
#elif SHARDAX_AARCH64
#define SHARDAX_FLOAT16 __fp16
#endif

// Has this processor, with its system, a feature of x86-64? The feature is a literal, such as
// "avx2".
#if SHARDAX_X86_64
#define SHARDAX_CPU_SUPPORTS(feature) (__builtin_cpu_supports(feature) != 0)
#else
#define SHARDAX_CPU_SUPPORTS(feature) false
#endif

namespace shardax {

// Are there AVX2, fused multiply-add, and conversions of float16? clang 14 has no name for the
// last, which every processor with AVX2 has.
inline bool has_avx2_and_fma() {
#if defined(__clang__) && __clang_major__ < 15
  return SHARDAX_CPU_SUPPORTS("avx2") && SHARDAX_CPU_SUPPORTS("fma");
#else
  return SHARDAX_CPU_SUPPORTS("avx2") && SHARDAX_CPU_SUPPORTS("fma") &&
         SHARDAX_CPU_SUPPORTS("f16c");
#endif
}

// Has Intel made this processor?
inline bool is_intel() {
#if SHARDAX_X86_64
  return __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

// Do two instructions on vectors of half the width take as long as one of the whole? Zen 4 computes
// AVX-512 by halves.
inline bool has_fast_halves() {
#if SHARDAX_X86_64
  return __builtin_cpu_is("amdfam19h") != 0 && SHARDAX_CPU_SUPPORTS("avx512f");
#else
  return false;
#endif
}

// Levels of x86-64's psABI: v3 has AVX2 and fused multiply-add, v4 AVX-512 of the first servers.
// Other processors are the baseline of theirs, AArch64's with NEON.
enum class Level { baseline, v3, v4 };

inline Level find_level() {
#if SHARDAX_X86_64
  // Static objects may ask before the compiler's own initialisation.
  __builtin_cpu_init();
#endif
#if __GNUC__ >= 12 && !defined(__clang__)
  const bool v3 = SHARDAX_CPU_SUPPORTS("x86-64-v3"), v4 = SHARDAX_CPU_SUPPORTS("x86-64-v4");
#else
  // These compilers do not know the levels' names. No processor has these without lzcnt and movbe.
  const bool v3 = SHARDAX_CPU_SUPPORTS("avx2") && SHARDAX_CPU_SUPPORTS("fma") &&
                  SHARDAX_CPU_SUPPORTS("bmi") && SHARDAX_CPU_SUPPORTS("bmi2");
  const bool v4 = SHARDAX_CPU_SUPPORTS("avx512f") && SHARDAX_CPU_SUPPORTS("avx512bw") &&
                  SHARDAX_CPU_SUPPORTS("avx512cd") && SHARDAX_CPU_SUPPORTS("avx512dq") &&
                  SHARDAX_CPU_SUPPORTS("avx512vl");
#endif
  return !v3 ? Level::baseline : v4 ? Level::v4 : Level::v3;
}

// The baseline until static objects are initialised.
inline const Level processor_level = find_level();

// Calls f, which is inlined into code for one level. The copy lies in registers: no store of f's
// can change it. Threaded jumps would turn two bounds of one value into masks, three times the
// vector instructions.
#if defined(__clang__)
#define SHARDAX_FLATTEN(...) __attribute__((flatten, noinline, ##__VA_ARGS__))
#else
#define SHARDAX_FLATTEN(...) \
  __attribute__((flatten, noinline, optimize("no-thread-jumps"), ##__VA_ARGS__))
#endif
template <class F>
SHARDAX_FLATTEN()
auto at_baseline(const F& f) {
  F own = f;
  return own();
}
#if SHARDAX_X86_64
template <class F>
SHARDAX_FLATTEN(target("arch=x86-64-v3"))
auto at_v3(const F& f) {
  F own = f;
  return own();
}
template <class F>
SHARDAX_FLATTEN(target("arch=x86-64-v4"))
auto at_v4(const F& f) {
  F own = f;
  return own();
}
#else
template <class F>
auto at_v3(const F& f) {
  return at_baseline(f);
}
template <class F>
auto at_v4(const F& f) {
  return at_baseline(f);
}
#endif

// Calls f as it is compiled for this processor. f is a lambda without parameters that captures
// numbers and pointers by copy; all that it calls is inlined. Floating contraction is off, so each
// level gives the same bits.
template <class F>
[[gnu::always_inline]] inline auto dispatch(const F& f) {
#if SHARDAX_X86_64
  if (processor_level == Level::v4) return at_v4(f);
  if (processor_level == Level::v3) return at_v3(f);
#endif
  return at_baseline(f);
}
// The same for code in vectors of 256 bits, on any processor.
template <class F>
[[gnu::always_inline]] inline auto dispatch_256(const F& f) {
#if SHARDAX_X86_64
  if (processor_level != Level::baseline) return at_v3(f);
#endif
  return at_baseline(f);
}

// Lane l of `out` is lane order[l] of a and b side by side. Vectors are passed by reference, since
// their place in registers depends on the level.
template <class V, class Order>
[[gnu::always_inline]] inline void shuffle(V& out, const V& a, const V& b, const Order& order) {
#if defined(__clang__)
  constexpr int n = static_cast<int>(sizeof(V) / sizeof(a[0]));
  V result = a;
#pragma GCC unroll 64
  for (int l = 0; l < n; ++l) {
    const auto from = static_cast<int>(order[l]) & (2 * n - 1);
    result[l] = from < n ? a[from] : b[from - n];
  }
  out = result;
#else
  out = __builtin_shuffle(a, b, order);
#endif
}
// Lane l becomes lane order[l].
template <class V, class Order>
[[gnu::always_inline]] inline void permute(V& x, const Order& order) {
#if defined(__clang__)
  shuffle(x, x, x, order);
#else
  x = __builtin_shuffle(x, order);
#endif
}
// The same for numbers of lanes that are known: `out` may have fewer lanes, or more.
template <int... order, class W, class V>
[[gnu::always_inline]] inline void shuffle(W& out, const V& a, const V& b) {
#if defined(__clang__) || __GNUC__ >= 12
  out = __builtin_shufflevector(a, b, order...);
#else
  constexpr int n = static_cast<int>(sizeof(V) / sizeof(a[0]));
  out = W{(order < n ? a[order % n] : b[order % n])...};
#endif
}

}  // namespace shardax
