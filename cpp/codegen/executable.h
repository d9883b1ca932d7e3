// codegen/executable.h - machine code in executable pages.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "codegen/tile_code.h"

namespace shardax::codegen {

// Executable pages with one tile's code; they are written before they become executable, never
// both, and given back at the end of its life.
class Native {
 public:
  // Null where there is no code, or the system refuses such pages. With SHARDAX_PERF_MAP=1 in the
  // environment, `perf` finds it as "loop: name" (in /tmp/perf-PID.map, which perf reads).
  static std::shared_ptr<const Native> place(std::span<const std::uint8_t> code,
                                             std::string_view name, int multiple = 1);
  ~Native();
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;

  TileCode code() const { return as<TileCode>(); }
  template <class Function>
  Function as() const {
    return reinterpret_cast<Function>(pages_);
  }
  // See MachineCode.
  int multiple() const { return multiple_; }

 private:
  Native(void* pages, std::size_t mapped, int multiple)
      : pages_(pages), mapped_(mapped), multiple_(multiple) {}
  void* pages_;
  std::size_t mapped_;
  int multiple_;
};

// Is machine code written for loops? It is unless SHARDAX_CODEGEN is 0. An x86-64 processor without
// AVX2, fused multiply-add or conversions of float16 has only code that SHARDAX_CODEGEN names.
enum class Wanted { none, all };
Wanted wanted();

// The instructions of loops: NEON on AArch64. On x86-64 they are those of AVX-512 if the processor
// has it, unless SHARDAX_CODEGEN is avx2. SHARDAX_CODEGEN=neon and avx2 have other processors write
// and list that code too.
Instructions instructions();
// Does this processor run them? Else the tile kernels do.
bool runs(Instructions instructions);

// Results of so many bytes are written past the caches, in which they would not stay. 64 M floats
// take 12.9 ms for x + 1 in place of 17.7; 4 M take the same time either way (Zen 4 with 32 MB).
// All where SHARDAX_CODEGEN is stream.
std::int64_t least_streamed_bytes();

// The code of a program; null where there is none, and the tile kernels run.
std::shared_ptr<const Native> compile(const VectorProgram& program,
                                      std::span<const OperandForm> operands, std::string_view name,
                                      bool streams = false, std::string* listing = nullptr);

}  // namespace shardax::codegen
