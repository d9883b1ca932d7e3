// analysis/partition.h - SPMD partitioning: the program of one device of a mesh.
//
// Here all devices share one memory and a program computes with whole arrays, however they are
// split. Machines without a common memory run one program per device, on parts. Records give the op
// on parts (ops/sharding_rules/spmd_partition_rules.h), and messages bring a device the data that
// it lacks. The program of parts is for inspection; it computes the same results as the original.
//
//   x: f32[8,4] split     w: f32[4,6] split    on parts                   messages
//   ('x', None)           no                   dot_general                none
//   (None, 'x')           ('x', None)          dot_general, psum          an all-reduce
//   ('x', None)           ('x', None)          all_gather, dot_general    a gathered weight
#pragma once

#include "analysis/shardings.h"

namespace shardax {

// A program of the same arguments and results: one shard_map over the mesh that splits arguments.
// `in` gives the splits of arguments, `propagate` those of results. Null where no argument is
// split, or devices have programs of their own already.
ProgramPtr partitioned(const ProgramPtr& program, const Shardings& in);
// The same, where a sum is taken apart (ops/collectives/partial_sums.h); `known` says of which
// arguments, which stand for sums, the stacked terms are given.
ProgramPtr partitioned_sums(const ProgramPtr& program, const Shardings& in,
                            const std::vector<bool>& known);
// The program of one process of a mesh whose devices are processes: it takes and gives slabs, and
// names the axes of `mesh`. Effects happen in each process.
ProgramPtr program_of_process(const ProgramPtr& program, const Shardings& in, const Shardings& out,
                              const ShardingPtr& mesh);
// Does a result depend on what each device has of a sum?
bool asks_for_terms(const Op& op);
bool asks_for_terms(const Program& program);

// The terms of results that are sums over axes of the mesh, stacked, with a dimension for each of
// these axes. Arguments are those of the program; where `known` says so, the stacked terms of one.
// `out` says how results are split. Null if devices cannot be told apart, as in ops that map over
// them themselves.
ProgramPtr terms_of_results(const Program& program, const Shardings& in,
                            const std::vector<bool>& known, const Shardings& out);

}  // namespace shardax
