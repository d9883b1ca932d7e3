// analysis/partition.h - what a program is where each device of a mesh has a memory of its own.
//
// Here all devices share one memory and a program computes with whole arrays, however they are
// split. Machines without a common memory run one program per device, on parts: records say what an
// op is there (ops/parts.h), and what a device lacks comes in messages. That program is made for
// those who want to see it; it gives what the program itself gives.
//
//   x: f32[8,4] split ('x', None), w: f32[4,6] whole      dot_general             no message
//   x: f32[8,4] split (None, 'x'), w: f32[4,6] ('x', None) dot_general, psum       an all-reduce
//   x: f32[8,4] split ('x', None), w: f32[4,6] ('x', None) all_gather, dot_general a gathered
//   weight
#pragma once

#include "analysis/shardings.h"

namespace shardax {

// A program of the same arguments and results: one shard_map over the mesh that splits arguments,
// where `in` says how they are split, and results are split as `propagate` says. Null where no
// argument is split.
ProgramPtr partitioned(const ProgramPtr& program, const Shardings& in);

}  // namespace shardax
