// ir/sharding_given.cpp - the scopes of this thread.
#include "ir/sharding_given.h"

namespace shardax {
namespace {
thread_local int scopes = 0;
}

ShardingGiven::ShardingGiven() { ++scopes; }
ShardingGiven::~ShardingGiven() { --scopes; }
bool sharding_given() { return scopes > 0; }

}  // namespace shardax
