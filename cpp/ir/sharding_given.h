// ir/sharding_given.h - a scope in which shardings over explicit axes are given.
#pragma once

#include <string>
#include <vector>

namespace shardax {

// While it lives, results whose sharding operands leave open are not split, without an error. The
// user gives the sharding, or gave it when the running program was staged.
class ShardingGiven {
 public:
  ShardingGiven() : ShardingGiven(std::vector<std::string>()) {}
  // The user wants sums over those axes left to do.
  explicit ShardingGiven(std::vector<std::string> unreduced);
  ~ShardingGiven();
  ShardingGiven(const ShardingGiven&) = delete;
  ShardingGiven& operator=(const ShardingGiven&) = delete;
};
bool sharding_given();
// The axes of the innermost scope.
const std::vector<std::string>& sums_asked();

}  // namespace shardax
