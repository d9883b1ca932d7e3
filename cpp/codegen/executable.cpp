// codegen/executable.cpp - executable pages.
#include "codegen/executable.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>
#include <string_view>

#include "base/errors.h"
#include "base/index.h"
#include "base/settings.h"
#include "base/target.h"

namespace shardax::codegen {

namespace {
// A line of the file in which perf looks for names: where code starts, its bytes, its name.
void tell_perf(const void* pages, std::size_t bytes, std::string_view name) {
  static const bool asked = setting("SHARDAX_PERF_MAP") == "1";
  if (!asked) return;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static std::FILE* const file = std::fopen(concat("/tmp/perf-", getpid(), ".map").c_str(), "a");
  if (!file) return;
  const auto start = reinterpret_cast<std::uintptr_t>(pages);
  std::fprintf(file, "%zx %zx loop: %.*s\n", index(start), bytes, static_cast<int>(name.size()),
               name.data());
  std::fflush(file);
}
}  // namespace

std::shared_ptr<const Native> Native::place(std::span<const std::uint8_t> code,
                                            std::string_view name, int multiple) {
  if (code.empty()) return nullptr;
  static const auto page = index(sysconf(_SC_PAGESIZE));
  const std::size_t mapped = (code.size() + page - 1) / page * page;
  void* pages = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  std::memcpy(pages, code.data(), code.size());
  // Processors that fetch instructions past the caches of data are told.
  auto* const first = static_cast<char*>(pages);
  __builtin___clear_cache(first, first + code.size());
  if (mprotect(pages, mapped, PROT_READ | PROT_EXEC) != 0) {
    munmap(pages, mapped);
    return nullptr;
  }
  tell_perf(pages, code.size(), name);
  return std::shared_ptr<const Native>(new Native(pages, mapped, multiple));
}

Native::~Native() { munmap(pages_, mapped_); }

namespace {
std::string_view asked() { return setting("SHARDAX_CODEGEN"); }
}  // namespace

Wanted wanted() {
  const bool named = asked() == "neon" || asked() == "avx2";
  return named || (runs(instructions()) && asked() != "0") ? Wanted::all : Wanted::none;
}

std::int64_t least_streamed_bytes() {
  if (instructions() == Instructions::neon) return std::numeric_limits<std::int64_t>::max();
  return asked() == "stream" ? 1 : std::int64_t{32} << 20;
}

Instructions instructions() {
  static const bool neon = SHARDAX_AARCH64 || asked() == "neon";
  if (neon) return Instructions::neon;
  static const bool wide = SHARDAX_CPU_SUPPORTS("avx512f") && SHARDAX_CPU_SUPPORTS("avx512bw") &&
                           SHARDAX_CPU_SUPPORTS("avx512dq") && SHARDAX_CPU_SUPPORTS("avx512vl") &&
                           SHARDAX_CPU_SUPPORTS("bmi2");
  return wide && asked() != "avx2" ? Instructions::avx512 : Instructions::avx2;
}

bool runs(Instructions instructions) {
  static const bool avx2 = has_avx2_and_fma();
  return instructions == Instructions::neon ? SHARDAX_AARCH64 == 1 : avx2;
}

std::shared_ptr<const Native> compile(const VectorProgram& program,
                                      std::span<const OperandForm> operands, std::string_view name,
                                      bool streams, std::string* listing) {
  const MachineCode code = tile_code(program, operands, instructions(), streams, listing);
  return runs(instructions()) ? Native::place(code.bytes, name, code.multiple) : nullptr;
}

}  // namespace shardax::codegen
