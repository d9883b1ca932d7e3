// bindings/api.cpp - the functions of _core.api, whose options Python has checked.
#include "bindings/api.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "callables/auto_jit.h"
#include "callables/checks.h"
#include "callables/collectives.h"
#include "callables/control_flow_cache.h"
#include "callables/explain.h"
#include "callables/host_function.h"
#include "callables/object.h"
#include "callables/program/object.h"
#include "callables/program/text.h"
#include "callables/staging/compile_log.h"
#include "callables/staging/context.h"
#include "callables/staging/locate.h"
#include "callables/staging/python_trace.h"
#include "callables/staging/stages.h"
#include "callables/staging/staging.h"
#include "callables/staging/trace_state.h"
#include "callables/transforms/axes.h"
#include "callables/transforms/grad.h"
#include "callables/transforms/jit.h"
#include "callables/transforms/linear.h"
#include "callables/transforms/pmap.h"
#include "callables/transforms/references.h"
#include "callables/transforms/replicas.h"
#include "callables/transforms/shard_map.h"
#include "callables/transforms/vmap.h"
#include "runtime/allocator.h"
#include "transform/jvp.h"

namespace py = pybind11;

namespace shardax::objects {
namespace {

using callables::to_object;
py::object to_object(PyObject* object) { return to_object(Ref::checked(object)); }
Ref to_ref(const py::object& object) { return Ref::borrow(object.ptr()); }

std::vector<Ref> interned(const std::vector<std::string>& names) {
  std::vector<Ref> out;
  for (const std::string& name : names)
    out.push_back(Ref::checked(PyUnicode_InternFromString(name.c_str())));
  return out;
}

// None: unnamed.
std::string axis_text_or_empty(const py::object& name) {
  return name.is_none() ? std::string() : callables::axis_name_text(name.ptr());
}

void init_transformed(py::module_& m) {
  m.def(
      "jit",
      [](const py::object& fun, std::vector<int> static_argnums,
         const std::vector<std::string>& static_argnames, std::vector<int> donate_argnums,
         const std::vector<std::string>& donate_argnames, bool inlined,
         const py::object& in_shardings, const py::object& out_shardings) {
        callables::JitOptions options;
        options.inlined = inlined;
        if (!in_shardings.is_none() || !out_shardings.is_none()) {
          options.in_shardings = to_ref(in_shardings);
          options.out_shardings = to_ref(out_shardings);
        }
        options.statics.positions = std::move(static_argnums);
        options.statics.names = interned(static_argnames);
        options.donated_positions = std::move(donate_argnums);
        options.donated_names = interned(donate_argnames);
        return to_object(callables::make_jit(fun.ptr(), std::move(options)));
      },
      py::arg("fun"), py::arg("static_argnums") = std::vector<int>(),
      py::arg("static_argnames") = std::vector<std::string>(),
      py::arg("donate_argnums") = std::vector<int>(),
      py::arg("donate_argnames") = std::vector<std::string>(), py::arg("inline") = false,
      py::arg("in_shardings") = py::none(), py::arg("out_shardings") = py::none());

  m.def(
      "in_one_program",
      [](const py::object& fun, std::vector<int> static_argnums,
         const std::vector<std::string>& static_argnames, bool at_once) {
        return to_object(callables::make_auto_jit(
            fun.ptr(), {std::move(static_argnums), interned(static_argnames)}, at_once));
      },
      "fun, which runs as one program where it is called on arrays.");

  m.def(
      "control_flow_cache",
      [](const py::object& fun, const std::string& name, std::vector<int> function_argnums,
         const std::vector<std::string>& function_argnames, std::vector<int> static_argnums,
         const std::vector<std::string>& static_argnames) {
        return to_object(callables::make_control_flow_cache(
            fun.ptr(), name.c_str(),
            {{std::move(function_argnums), interned(function_argnames)},
             {std::move(static_argnums), interned(static_argnames)}}));
      },
      "Control flow, which is a program from its second call with the same functions on.");

  m.def("pmap", [](const py::object& fun, const py::object& axis_name, const py::object& in_axes,
                   const py::object& out_axes, std::vector<int> static_argnums,
                   std::vector<int> donate_argnums, std::int64_t axis_size,
                   std::vector<int> devices, bool debug) {
    callables::PmapOptions options;
    options.axis_name = axis_text_or_empty(axis_name);
    options.in_axes = to_ref(in_axes);
    options.out_axes = to_ref(out_axes);
    options.statics.positions = std::move(static_argnums);
    options.statics.positional_only = true;
    options.donated = std::move(donate_argnums);
    options.axis_size = axis_size;
    options.devices = std::move(devices);
    options.debug = debug;
    return to_object(callables::make_pmap(fun.ptr(), std::move(options)));
  });

  m.def("shard_map", [](const py::object& fun, const py::object& plan) {
    return to_object(callables::make_shard_map(fun.ptr(), plan.ptr()));
  });

  m.def("vmap", [](const py::object& fun, const py::object& in_axes, const py::object& out_axes,
                   const py::object& axis_name, std::int64_t axis_size, const py::object& doc,
                   std::vector<std::string> split) {
    return to_object(
        callables::make_vmap(fun.ptr(),
                             {to_ref(in_axes), to_ref(out_axes), axis_text_or_empty(axis_name),
                              axis_size, std::move(split)},
                             doc.ptr()));
  });

  m.def("grad", [](const py::object& fun, std::vector<int> argnums, bool several, bool value,
                   bool has_aux, bool holomorphic, bool allow_int, const py::object& doc) {
    return to_object(callables::make_grad(
        fun.ptr(), {std::move(argnums), several, value, has_aux, holomorphic, allow_int},
        doc.ptr()));
  });
}

// The items of a tuple as the C API takes them.
PyObject* const* items(const py::tuple& tuple) { return &PyTuple_GET_ITEM(tuple.ptr(), 0); }

void init_linear(py::module_& m) {
  m.def("vjp", [](const py::object& fun, const py::tuple& primals, bool has_aux) {
    return to_object(callables::vjp(fun.ptr(), items(primals), primals.size(), has_aux));
  });
  m.def("jvp", [](const py::object& fun, const py::object& primals, const py::object& tangents,
                  bool has_aux) {
    return to_object(callables::jvp_of(fun.ptr(), primals.ptr(), tangents.ptr(), has_aux));
  });
  m.def("linearize", [](const py::object& fun, const py::tuple& primals, bool has_aux) {
    return to_object(callables::linearize_of(fun.ptr(), items(primals), primals.size(), has_aux));
  });
  m.def("linear_transpose", [](const py::object& fun, const py::tuple& primals) {
    return to_object(callables::linear_transpose(fun.ptr(), items(primals), primals.size()));
  });
}

void init_collectives(py::module_& m) {
  using Object = const py::object&;
  m.def("reduce_devices", [](const std::string& name, Object x, Object axes, Object groups) {
    return to_object(callables::reduce_over(name, x.ptr(), axes.ptr(), groups.ptr()));
  });
  m.def("pmean", [](Object x, Object axes, Object groups) {
    return to_object(callables::pmean(x.ptr(), axes.ptr(), groups.ptr()));
  });
  m.def("pbroadcast", [](Object x, Object axes, std::int64_t source) {
    return to_object(callables::pbroadcast(x.ptr(), axes.ptr(), source));
  });
  m.def("all_gather", [](Object x, Object axes, Object groups, std::int64_t axis, bool tiled,
                         const std::string& to) {
    return to_object(callables::all_gather(x.ptr(), axes.ptr(), groups.ptr(), axis, tiled, to));
  });
  m.def("psum_scatter", [](Object x, Object axes, Object groups, std::int64_t dim, bool tiled) {
    return to_object(callables::psum_scatter(x.ptr(), axes.ptr(), groups.ptr(), dim, tiled));
  });
  m.def("ppermute", [](Object x, Object axes, Object perm) {
    return to_object(callables::ppermute(x.ptr(), axes.ptr(), perm.ptr()));
  });
  m.def("all_to_all", [](Object x, Object axes, Object groups, std::int64_t split,
                         std::int64_t concat_at, bool tiled) {
    return to_object(
        callables::all_to_all(x.ptr(), axes.ptr(), groups.ptr(), split, concat_at, tiled));
  });
  m.def("pvary",
        [](Object x, Object axes) { return to_object(callables::pvary(x.ptr(), axes.ptr())); });
  m.def("pcast", [](Object x, Object axes, const std::string& to) {
    return to_object(callables::pcast(x.ptr(), axes.ptr(), to));
  });
  m.def("first_term", [](Object x, Object axes) {
    return to_object(callables::first_term(x.ptr(), axes.ptr()));
  });
  m.def("value_of_reduced", [](Object x, Object axes) {
    return to_object(callables::value_of_reduced(x.ptr(), axes.ptr()));
  });
  m.def("axis_index", [](Object axes) { return to_object(callables::axis_index(axes.ptr())); });
  m.def("follows_varying", callables::follows_varying,
        "Whether an axis is in scope over which it is checked what varies.");
  m.def("axis_size", [](Object axes) { return callables::axis_size_of(axes.ptr()); });
}

void init_context(py::module_& m) {
  m.def("set_package_directory", callables::set_package_directory,
        "Frames of files under it are not the user's.");
  m.def(
      "set_mesh_word",
      [](std::uint64_t word, const py::object& description) {
        callables::set_mesh_word(word, description.ptr());
      },
      "This thread's current mesh, as a number that is part of the signatures of programs.");
  m.def(
      "clear_caches",
      [] {
        callables::clear_shared_objects();
        runtime::trim();
      },
      "Forgets the staged programs of all functions and gives cached memory back.");
}

}  // namespace

void init_api(py::module_& module) {
  py::module_ m =
      module.def_submodule("api", "Transformations of functions, staging and collectives.");
  init_transformed(m);
  init_linear(m);
  init_collectives(m);
  init_context(m);
  callables::init_program_objects(m);
  callables::init_program_parts(m);
  callables::init_program_edits(m);
  callables::init_program_text(m);
  callables::init_references(m);
  callables::init_staging(m);
  callables::init_staged_regions(m);
  callables::init_stages(m);
  callables::init_explain(m);
  callables::init_replicas(m);
  callables::init_host_functions(m);
  callables::init_checks(m);
  callables::init_compile_log(m);
  callables::init_trace_state(m);
  callables::init_python_traces(m);
  callables::install_locator();
  set_tracer_describer(&callables::describe_tracer);
  set_leak_describer(&callables::describe_leak);
  set_array_text([](const Value& array) {
    return as_array(array).deleted() ? to_string(array->type()) : pytree::str(wrapped(array).get());
  });
}

}  // namespace shardax::objects
