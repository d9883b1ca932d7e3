// ir/text/param_names.cpp - the table of names.
#include "ir/text/param_names.h"

#include <mutex>
#include <unordered_set>

namespace shardax {

std::string_view param_name(const std::string& text) {
  static auto* mutex = new std::mutex;  // threads may compute while the process ends
  static auto* names = new std::unordered_set<std::string>;
  const std::lock_guard lock(*mutex);
  return *names->insert(text).first;
}

}  // namespace shardax
