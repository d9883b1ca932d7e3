// base/target_names.h - names of the compiler and the processor's architecture, for reports.
#pragma once

#include "base/target.h"

#if defined(__clang__)
#define SHARDAX_COMPILER "clang " __clang_version__
#else
#define SHARDAX_COMPILER "GCC " __VERSION__
#endif

#if SHARDAX_X86_64
#define SHARDAX_ARCHITECTURE "x86-64"
#elif SHARDAX_AARCH64
#define SHARDAX_ARCHITECTURE "AArch64"
#else
#error "shardax compiles for x86-64 and AArch64"
#endif
