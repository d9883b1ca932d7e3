// runtime/cores.h - numbers of cores that this process may use.
#pragma once

namespace shardax::runtime {

// At least 1: the cores of the affinity mask, or all where the system, as macOS, has none.
int cores_of_affinity();

// At least 1: the cores of the affinity mask, or the CPU time that the control groups (version 1 or
// 2) of this process and their parents grant, rounded up, where that is less. Reads files.
int usable_cores();

}  // namespace shardax::runtime
