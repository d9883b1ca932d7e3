// compile/remat/remat_into_consumers.h - cheap values recomputed in the loops that read them.
//
//   loop 1: d = sub x m; e = mul d d; f = reduce_sum e         stores d
//   loop 2: y = mul d s; ...                                   reads d, s
// becomes
//   loop 1: d = sub x m; e = mul d d; f = reduce_sum e         stores nothing
//   loop 2: d' = sub x m; y = mul d' s; ...                    reads x, m (small), s
// This moves less memory and keeps less, above all from a forward pass for a backward pass. Values
// are recomputed if all loops that use them can do so from values in memory.
#pragma once

#include "compile/fusion/fuse.h"

namespace shardax {

struct FusedProgram {
  ProgramPtr program;  // its equations stand in the order of the units
  std::vector<FusionGroup> units;
};

// `overwritten`: inputs whose memory results may take over; to read them longer can cost a copy.
FusedProgram remat_into_consumers(const ProgramPtr& program, std::vector<FusionGroup> units,
                                  const std::vector<bool>& overwritten);

}  // namespace shardax
