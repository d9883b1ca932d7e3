// trace/auto_pvary.h - automatic pvary of operands that differ over checked axes.
#pragma once

namespace shardax {

// True until it is set otherwise: `bind` casts them (`pvary`). False: it raises a ValueError.
void cast_operands(bool casts);

}  // namespace shardax
