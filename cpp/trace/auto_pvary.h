// trace/auto_pvary.h - whether operands that differ in what varies over checked axes are made alike.
#pragma once

namespace shardax {

// True until it is set otherwise: `bind` casts them (`pvary`). False: it raises a ValueError.
void cast_operands(bool casts);

}  // namespace shardax
