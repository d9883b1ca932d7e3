// execute/process_programs.h - calls that involve devices of several processes.
//
// A program of whole arrays runs as the program of one process (analysis/partition.h): on this
// process's slabs, with messages for other data. Each process makes the same call.
#pragma once

#include "array/process_mesh.h"
#include "trace/trace.h"

namespace shardax {

// Does a sharding within, or a mesh that it maps over, have devices of other processes?
bool spans_processes(const Program& program);
// Does an array?
bool any_spans_processes(const Values& arrays);

// The program that this process runs for them, and its slabs of the arrays.
std::pair<ProgramPtr, Values> program_on_slabs(const ProgramPtr& program, const Values& in);

// The results, of which those that are split between processes are slabs of this one.
Values run_on_processes(const ProgramPtr& program, const Values& in);

// An array with that sharding, of which every process has the whole: where processes are to have
// different parts, each keeps its slab alone.
ArrayPtr split_between_processes(const Array& whole, const ShardingPtr& sharding);
// The array of this type whose part in this process is `slab`. If processes have the same parts,
// these are all of it.
ArrayPtr of_slab(const ArrayPtr& slab, Type whole, const ShardingPtr& sharding);

}  // namespace shardax
