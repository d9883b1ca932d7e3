// objects/processes.h - the processes of one program as Python sees them.
#pragma once

#include <Python.h>

namespace shardax::objects {

// Adds join_processes, process_index, process_count, gather_bytes and barrier to the module.
void init_processes(PyObject* module);

}  // namespace shardax::objects
