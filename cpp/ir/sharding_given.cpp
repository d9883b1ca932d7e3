// ir/sharding_given.cpp - the scopes of this thread.
#include "ir/sharding_given.h"

#include <utility>

#include "base/per_thread.h"

namespace shardax {
namespace {
using Scopes = std::vector<std::vector<std::string>>;
Scopes& scopes() { return per_thread<Scopes, Scopes>(); }
}  // namespace

ShardingGiven::ShardingGiven(std::vector<std::string> unreduced) {
  scopes().push_back(std::move(unreduced));
}
ShardingGiven::~ShardingGiven() { scopes().pop_back(); }

bool sharding_given() { return !scopes().empty(); }

const std::vector<std::string>& sums_asked() {
  static const std::vector<std::string> none;
  return scopes().empty() ? none : scopes().back();
}

}  // namespace shardax
