// bindings/module.cpp - the extension module shardax._core: a list of what it is made of.
#include <pybind11/pybind11.h>

#include "base/thread_end.h"
#include "bindings/api.h"
#include "bindings/locked_definitions.h"
#include "callables/python.h"
#include "execute/execute.h"
#include "ir/core_ops.h"
#include "lapack/library.h"
#include "objects/array/array_type.h"
#include "objects/array/arrays.h"
#include "objects/array/dlpack.h"
#include "objects/config.h"
#include "objects/dtypes.h"
#include "objects/errors.h"
#include "objects/functions/functions.h"
#include "objects/indexing/index.h"
#include "objects/lock.h"
#include "objects/processes.h"
#include "objects/runtime.h"
#include "objects/sharding_conversion.h"
#include "objects/transfers.h"
#include "pytree/core_lock.h"
#include "runtime/flush_denormals.h"
#include "runtime/interpreter_lock.h"
#include "runtime/interrupt.h"
#include "runtime/progress.h"

namespace shardax {
void init_pytree(pybind11::module_& m);

namespace {

// Long work runs without the interpreter's lock, so that other Python threads go on.
void* release_lock() { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; }
void acquire_lock(void* state) {
  if (state) or_sleep([&] { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); });
}

// Handing the interpreter's lock over costs about a microsecond. The core's alone costs a tenth of
// that, and threads compute at once.
#ifdef Py_GIL_DISABLED
constexpr double handover_ns = 500;
#else
constexpr double handover_ns = 50'000;
#endif

// Python that a callback or a handler runs looks for signals by itself, and holds the lock.
void check_signals(void* state) {
  if (PyGILState_Check()) return;
  acquire_lock(state);
  const runtime::FlushDenormals keep(false);
  const bool raised = PyErr_CheckSignals() != 0;
  PyEval_SaveThread();
  if (raised) throw objects::PythonError();
}

// An error that is being handled comes first. The thread that shows progress needs the lock.
void check_held_signals() {
  if (!PyGILState_Check() || PyErr_Occurred()) return;
  if (runtime::tasks_watched.load(std::memory_order_relaxed)) acquire_lock(PyEval_SaveThread());
  if (!runtime::is_main_thread()) return;
  if (PyErr_CheckSignals() != 0) throw objects::PythonError();
}

std::string lapack_library() {
  const objects::Locked lock;
  const callables::Ref path = callables::call_python("_base.lapack", "library");
  return callables::str(path.get());
}

}  // namespace
}  // namespace shardax

// It keeps free-threaded Python as it is: pytree/core_lock.h says why.
PYBIND11_MODULE(_core_of_main_interpreter, m, pybind11::mod_gil_not_used()) {
  using namespace shardax::objects;
  try {
    if (!shardax::CoreLock::init()) throw PythonError();
    const shardax::CoreLock lock;
    shardax::core_ops();  // throws where one has no record
    shardax::runtime::set_lock_hooks({shardax::release_lock, shardax::acquire_lock,
                                      shardax::runtime::is_main_thread, shardax::check_signals,
                                      shardax::handover_ns});
    shardax::runtime::set_caller_check(shardax::check_held_signals);
    shardax::lapack::set_finder(shardax::lapack_library);
    shardax::init_pytree(m);
    init_errors(m.ptr());
    init_config(m.ptr());
    init_transfers(m.ptr());
    init_dlpack(m.ptr());
    init_dtypes(m.ptr());
    init_array(m.ptr());
    init_arrays(m.ptr());
    init_labels(m.ptr());
    init_functions(m.ptr());
    init_index(m.ptr());
    init_runtime(m.ptr());
    init_processes(m.ptr());
    init_api(m);
    shardax::lock_definitions(m.ptr());
  } catch (const PythonError&) {
    throw pybind11::error_already_set();
  }
}

// pybind11's own initialisation waits for ever in a subinterpreter: it is not started there. The
// text is that of Python from 3.13 on, which refuses before; _base/load.py adds the remedy.
extern "C" PYBIND11_EXPORT PyObject* PyInit__core() {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError,
                    "module shardax._core does not support loading in subinterpreters");
    return nullptr;
  }
  return PyInit__core_of_main_interpreter();
}
