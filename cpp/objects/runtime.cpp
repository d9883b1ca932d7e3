// objects/runtime.cpp - functions of Python that ask and set the runtime.
#include "objects/runtime.h"

#include "base/settings.h"
#include "base/target_names.h"
#include "codegen/executable.h"
#include "kernels/gemm/amx.h"
#include "kernels/gemm/kernels.h"
#include "objects/errors.h"
#include "runtime/allocator.h"
#include "runtime/cores.h"
#include "runtime/pool.h"
#include "runtime/progress.h"
#include "runtime/spans.h"

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

PyObject* start_recording(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    runtime::start_recording();
    Py_RETURN_NONE;
  });
}

// ([(name, start, duration, thread), ...], how many were dropped), in nanoseconds.
PyObject* stop_recording(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    const runtime::Recording recorded = runtime::stop_recording();
    const Ref list = Ref::checked(PyList_New(0));
    for (const runtime::RecordedSpan& span : recorded.spans) {
      const Ref item = Ref::checked(Py_BuildValue(
          "(sLLKss)", span.text.name.c_str(), static_cast<long long>(span.start_ns),
          static_cast<long long>(span.duration_ns), static_cast<unsigned long long>(span.thread),
          span.text.kind, span.text.place.c_str()));
      pytree::check(PyList_Append(list.get(), item.get()));
    }
    return Py_BuildValue("(On)", list.get(), static_cast<Py_ssize_t>(recorded.dropped));
  });
}

PyObject* watch_tasks(PyObject*, PyObject* wanted) {
  return guarded([&]() -> PyObject* {
    runtime::watch_tasks(pytree::check(PyObject_IsTrue(wanted)) != 0);
    Py_RETURN_NONE;
  });
}

const char* kind_name(runtime::TaskKind kind) {
  switch (kind) {
    case runtime::TaskKind::tracing: return "tracing";
    case runtime::TaskKind::compilation: return "compilation";
    case runtime::TaskKind::loop: return "loop";
  }
  return "";
}

// A list of dicts; -1 stands for turns and lengths that are not known.
PyObject* tasks_under_way(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    const std::vector<runtime::TaskFacts> tasks = runtime::tasks_under_way();
    Ref list = Ref::checked(PyList_New(0));
    for (const runtime::TaskFacts& t : tasks) {
      const Ref item = Ref::checked(Py_BuildValue(
          "{sK ss ss ss sd sL sL sO sK}", "id", static_cast<unsigned long long>(t.id), "kind",
          kind_name(t.kind), "name", t.text.name.c_str(), "line", t.text.place.c_str(), "seconds",
          t.seconds, "done", static_cast<long long>(t.done), "length",
          static_cast<long long>(t.length), "inner", t.inner ? Py_True : Py_False, "thread",
          static_cast<unsigned long long>(t.thread)));
      pytree::check(PyList_Append(list.get(), item.get()));
    }
    return list.release();
  });
}

PyObject* usable_cores(PyObject*, PyObject*) {
  return guarded([] { return PyLong_FromLong(runtime::usable_cores()); });
}

const char* level_name() {
  switch (processor_level) {
    case Level::v4: return "x86-64-v4 (AVX-512)";
    case Level::v3: return "x86-64-v3 (AVX2)";
    case Level::baseline: return SHARDAX_AARCH64 ? "NEON" : "baseline";
  }
  return "";
}
const char* products_name() {
  if (kernels::has_tiles()) return "AMX for narrow numbers, AVX-512 for others";
  switch (kernels::best_isa()) {
    case kernels::Isa::avx512_intel:
    case kernels::Isa::avx512: return "AVX-512";
    case kernels::Isa::avx2: return "AVX2";
    case kernels::Isa::baseline: return SHARDAX_AARCH64 ? "NEON" : "baseline";
  }
  return "";
}
const char* loops_name() {
  const codegen::Instructions instructions = codegen::instructions();
  if (codegen::wanted() == codegen::Wanted::none || !codegen::runs(instructions))
    return "none: tile kernels";
  switch (instructions) {
    case codegen::Instructions::avx512: return "AVX-512";
    case codegen::Instructions::avx2: return "AVX2";
    case codegen::Instructions::neon: return "NEON";
  }
  return "";
}

PyObject* target_info(PyObject*, PyObject*) {
  return guarded([] {
    return Py_BuildValue("{ssssssssss}", "compiler", SHARDAX_COMPILER, "architecture",
                         SHARDAX_ARCHITECTURE, "kernels", level_name(), "products", products_name(),
                         "loops", loops_name());
  });
}

PyObject* setting_text(PyObject*, PyObject* name) {
  return guarded([&] {
    const char* const text = PyUnicode_AsUTF8(name);
    if (!text) throw PythonError();
    const std::string_view value = setting(text);
    return PyUnicode_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size()));
  });
}

PyObject* check_all_settings(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    check_settings();
    Py_RETURN_NONE;
  });
}

PyMethodDef runtime_functions[] = {
    {"thread_count", thread_count, METH_NOARGS, "How many threads compute."},
    {"set_thread_count", set_thread_count, METH_O, "Sets how many threads compute."},
    {"usable_cores", usable_cores, METH_NOARGS, "How many cores this process may use."},
    {"target_info", target_info, METH_NOARGS, "Compiler, processor, instructions that are used."},
    {"setting", setting_text, METH_O, "The word of an environment variable, checked; or \"\"."},
    {"check_settings", check_all_settings, METH_NOARGS, "Refuses words that a variable has not."},
    {"memory_in_use", memory_in_use, METH_NOARGS, "Bytes of all buffers that are alive."},
    {"start_recording", start_recording, METH_NOARGS, "Records times of programs and steps."},
    {"stop_recording", stop_recording, METH_NOARGS, "Ends that; gives what was recorded."},
    {"watch_tasks", watch_tasks, METH_O, "Lists tracing, compilations and loops from now on."},
    {"tasks_under_way", tasks_under_way, METH_NOARGS, "Those that are under way."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_runtime(PyObject* module) {
  pytree::check(PyModule_AddFunctions(module, runtime_functions));
}

}  // namespace shardax::objects
