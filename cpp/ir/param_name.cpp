// ir/param_name.cpp - the names of params of ops that users define.
#include "ir/param_name.h"

#include <mutex>
#include <unordered_set>

namespace shardax {

ParamName ParamName::from_outside(const std::string& text) {
  static auto* mutex = new std::mutex;  // threads may compute while the process ends
  static auto* names = new std::unordered_set<std::string>;
  const std::lock_guard lock(*mutex);
  return {*names->insert(text).first, nullptr};
}

}  // namespace shardax
