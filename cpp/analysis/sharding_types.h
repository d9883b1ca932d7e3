// analysis/sharding_types.h - shardings as part of types, over meshes with explicit axes.
#pragma once

namespace shardax {

// While it lives, results whose sharding operands leave open are not split: the user says how.
class ShardingGiven {
 public:
  ShardingGiven();
  ~ShardingGiven();
  ShardingGiven(const ShardingGiven&) = delete;
  ShardingGiven& operator=(const ShardingGiven&) = delete;
};

}  // namespace shardax
