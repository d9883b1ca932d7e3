// ops/collectives/sum_groups.h - sums over devices whose bits depend on no number of processes.
//
// The setting jax_sum_groups = G shares the N devices of an axis out into gcd(G, N) groups of
// neighbours. Each group is summed by itself, and then the groups, pair by pair. P processes of
// which P divides G have whole groups each: their sums have the same bits for any such P.
#pragma once

#include "ir/op.h"

namespace shardax::ops {

std::int64_t sum_groups();  // 0: sums are made in any order, with one message of one device's size
void set_sum_groups(std::int64_t groups);

// The params of a sum over devices as the setting asks: with a param "sum_groups" where it is set.
Params in_sum_groups(Params params);
bool has_sum_groups(const Params& params);

// Batching a sum that has the param, over one of its axes. A part left over other axes is a sum.
Batched sum_by_groups(const BatchArgs& a);

}  // namespace shardax::ops
