// callables/program_retention.h - programs that outlive the transformed function they belong to.
//
// Programs that hold functions of the host (custom rules, callbacks) may refer to the function that
// they were traced from. In a table of the core they would keep it alive. In an attribute of that
// function they are part of a cycle, which the garbage collector collects. So `jit(f)(x)`, written
// out for each call, traces `f` once whatever `f` consists of.
#pragma once

#include <Python.h>

#include <memory>

namespace shardax::callables {

class Transform;

// Moves `behaviour` to an attribute of `fun` if it leaves programs and `fun` is a Python function
// that others refer to.
void retain_programs(PyObject* fun, std::unique_ptr<Transform>& behaviour);

// A new function made from `fun` goes on with `programs`: who left them lets go of them.
void reuse_programs(PyObject* fun, const void* programs);

}  // namespace shardax::callables
