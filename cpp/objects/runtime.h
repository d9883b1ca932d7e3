// objects/runtime.h - the worker threads and the allocator as Python sees them.
#pragma once

#include <Python.h>

namespace shardax::objects {

void init_runtime(PyObject* module);

}  // namespace shardax::objects
