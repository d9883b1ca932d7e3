// objects/processes.cpp - functions of Python that join processes and exchange bytes with them.
#include "objects/processes.h"

#include "base/hash.h"
#include "base/index.h"
#include "objects/errors.h"
#include "runtime/interpreter_lock.h"
#include "runtime/mpi.h"
#include "runtime/node_window.h"
#include "runtime/processes.h"

namespace shardax::objects {
namespace {

// An entry of the dict that Python hands to join_processes.
std::uintptr_t library_entry(PyObject* library, const char* name) {
  PyObject* value = PyDict_GetItemString(library, name);
  if (!value) fail(ErrorKind::key_error, "join_processes: the library has no ", name, ".");
  const std::uintptr_t number = PyLong_AsUnsignedLongLongMask(value);
  if (PyErr_Occurred()) throw PythonError();
  return number;
}

std::vector<std::byte*> library_segments(PyObject* library, int count) {
  PyObject* list = PyDict_GetItemString(library, "segments");
  if (!list || !PyList_Check(list) || PyList_GET_SIZE(list) != count) {
    fail(ErrorKind::value_error, "join_processes: segments should be a list of ", count,
         " addresses.");
  }
  std::vector<std::byte*> segments;
  for (Py_ssize_t i = 0; i < count; ++i) {
    segments.push_back(static_cast<std::byte*>(PyLong_AsVoidPtr(PyList_GET_ITEM(list, i))));
    if (PyErr_Occurred()) throw PythonError();
  }
  return segments;
}

template <class F>
void set_library_function(F*& function, PyObject* library, const char* name) {
  function = reinterpret_cast<F*>(library_entry(library, name));
}

PyObject* join_all(PyObject*, PyObject* library) {
  return guarded([&]() -> PyObject* {
    if (!PyDict_Check(library)) fail(ErrorKind::type_error, "join_processes: expected a dict.");
    runtime::MpiLibrary mpi;
    mpi.rank = static_cast<int>(library_entry(library, "rank"));
    mpi.size = static_cast<int>(library_entry(library, "size"));
    mpi.yields = library_entry(library, "yields") != 0;
    mpi.any_tag = static_cast<int>(library_entry(library, "MPI_ANY_TAG"));
    mpi.most_tag = static_cast<int>(library_entry(library, "MPI_TAG_UB"));
    mpi.tag_at = library_entry(library, "tag_at");
    mpi.communicator = library_entry(library, "communicator");
    mpi.later = library_entry(library, "later");
    mpi.texts = library_entry(library, "texts");
    mpi.byte = library_entry(library, "MPI_BYTE");
    mpi.segments = library_segments(library, mpi.size);
    set_library_function(mpi.isend, library, "MPI_Isend");
    set_library_function(mpi.irecv, library, "MPI_Irecv");
    set_library_function(mpi.test, library, "MPI_Test");
    set_library_function(mpi.cancel, library, "MPI_Cancel");
    set_library_function(mpi.abort, library, "MPI_Abort");
    set_library_function(mpi.error_string, library, "MPI_Error_string");
    runtime::join_processes(mpi);
    Py_RETURN_NONE;
  });
}

PyObject* own_index(PyObject*, PyObject*) { return PyLong_FromLong(runtime::process_index()); }
PyObject* how_many(PyObject*, PyObject*) { return PyLong_FromLong(runtime::process_count()); }

runtime::MessageLabel label_of(const char* text) {
  const std::size_t hash = hash_bytes(text);
  return {static_cast<std::uint32_t>(hash ^ hash >> 32), text};
}

PyObject* gather_all(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    Py_buffer own;
    const char* text;
    if (!PyArg_ParseTuple(args, "y*s", &own, &text)) throw PythonError();
    std::vector<std::vector<std::byte>> all;
    try {
      const runtime::LockReleased released;
      all = runtime::gather_bytes({static_cast<const std::byte*>(own.buf), index(own.len)},
                                  label_of(text));
    } catch (...) {
      PyBuffer_Release(&own);
      throw;
    }
    PyBuffer_Release(&own);
    Ref list = Ref::checked(PyList_New(0));
    for (const std::vector<std::byte>& bytes : all) {
      const Ref item = Ref::checked(PyBytes_FromStringAndSize(
          reinterpret_cast<const char*>(bytes.data()), static_cast<Py_ssize_t>(bytes.size())));
      pytree::check(PyList_Append(list.get(), item.get()));
    }
    return list.release();
  });
}

PyObject* wait_for_all(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    const char* text;
    if (!PyArg_ParseTuple(args, "s", &text)) throw PythonError();
    const runtime::LockReleased released;
    runtime::barrier(label_of(text));
    Py_RETURN_NONE;
  });
}

PyObject* window_bytes(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    int processes;
    if (!PyArg_ParseTuple(args, "i", &processes)) throw PythonError();
    return PyLong_FromSize_t(runtime::segment_bytes(processes));
  });
}

PyObject* any_message_failed(PyObject*, PyObject*) {
  return PyBool_FromLong(runtime::messages_failed());
}

PyObject* end_all(PyObject*, PyObject* args) {
  int code;
  if (!PyArg_ParseTuple(args, "i", &code)) return nullptr;
  runtime::abort_processes(code);
}

PyMethodDef process_functions[] = {
    {"join_processes", join_all, METH_O,
     "Joins the processes of an MPI library: a dict of its functions, handles and constants."},
    {"process_index", own_index, METH_NOARGS, "The number of this process."},
    {"process_count", how_many, METH_NOARGS, "How many processes there are."},
    {"gather_bytes", gather_all, METH_VARARGS,
     "The bytes that each process hands over, of any length; a text says which step this is."},
    {"barrier", wait_for_all, METH_VARARGS,
     "Waits until all processes are here; a text says which step this is."},
    {"segment_bytes", window_bytes, METH_VARARGS,
     "Bytes of a process's segment of the shared window, for a number of processes."},
    {"messages_failed", any_message_failed, METH_NOARGS, "Whether a message has failed."},
    {"abort_processes", end_all, METH_VARARGS, "Ends all processes, with an exit code."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_processes(PyObject* module) {
  pytree::check(PyModule_AddFunctions(module, process_functions));
}

}  // namespace shardax::objects
