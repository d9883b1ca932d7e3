// objects/runtime.cpp - thread_count, set_thread_count, memory_in_use.
#include "objects/runtime.h"

#include "objects/errors.h"
#include "runtime/allocator.h"
#include "runtime/pool.h"

namespace shardax::objects {
namespace {

PyObject* thread_count(PyObject*, PyObject*) {
  return guarded([] { return PyLong_FromLong(runtime::thread_count()); });
}

PyObject* set_thread_count(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    const long count = PyLong_AsLong(object);
    if (count == -1 && PyErr_Occurred()) throw PythonError();
    constexpr long most = runtime::most_threads;
    if (count < 1 || count > most) {
      fail(ErrorKind::value_error, "set_thread_count: ", count,
           " threads; expected a number from 1 to ", most, ".");
    }
    runtime::set_thread_count(static_cast<int>(count));
    Py_RETURN_NONE;
  });
}

PyObject* memory_in_use(PyObject*, PyObject*) {
  return PyLong_FromSize_t(runtime::allocator_stats().in_use);
}

PyMethodDef runtime_functions[] = {
    {"thread_count", thread_count, METH_NOARGS, "How many threads compute."},
    {"set_thread_count", set_thread_count, METH_O, "Sets how many threads compute."},
    {"memory_in_use", memory_in_use, METH_NOARGS, "Bytes of all buffers that are alive."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_runtime(PyObject* module) {
  pytree::check(PyModule_AddFunctions(module, runtime_functions));
}

}  // namespace shardax::objects
