// runtime/flush_denormals.cpp - the control register of a thread's arithmetic.
#include "runtime/flush_denormals.h"

#include <atomic>

#include "base/float_control.h"

namespace shardax::runtime {
namespace {

std::atomic<bool> wanted_by_user{false};

}  // namespace

void flush_denormals(bool wanted) { wanted_by_user.store(wanted, std::memory_order_relaxed); }
bool flushes_denormals() { return wanted_by_user.load(std::memory_order_relaxed); }

FlushDenormals::FlushDenormals(bool wanted) : before_(read_float_control()) {
  const std::uint64_t after = wanted ? before_ | flush_bits : before_ & ~flush_bits;
  changed_ = after != before_;
  if (changed_) write_float_control(after);
}

FlushDenormals::~FlushDenormals() {
  if (changed_) write_float_control(before_);
}

}  // namespace shardax::runtime
