// base/ref_counted.cpp - the end of reference-counted objects.
#include "base/ref_counted.h"

#include <memory>
#include <vector>

namespace shardax {
namespace {

constexpr int most_nested = 40;

// Two words of the memory that every thread has from its start: no call to find them.
#define SHARDAX_STATIC_TLS [[gnu::tls_model("initial-exec")]]
SHARDAX_STATIC_TLS constinit thread_local int nested = 0;
SHARDAX_STATIC_TLS constinit thread_local std::vector<const RefCounted*>* waiting = nullptr;
#undef SHARDAX_STATIC_TLS

}  // namespace

void RefCounted::destroy() const {
  if (nested >= most_nested) {
    if (!waiting) waiting = new std::vector<const RefCounted*>;  // dropped by the outermost, below
    waiting->push_back(this);
    return;
  }
  ++nested;
  delete this;
  if (nested == 1) {
    while (waiting) {
      const std::unique_ptr<std::vector<const RefCounted*>> batch(std::exchange(waiting, nullptr));
      for (const RefCounted* object : *batch) delete object;
    }
  }
  --nested;
}

}  // namespace shardax
